// What anywidget is in Jupyter, over a Web Worker in which the table and the agents are: no server plays.

import board from "./board.js";
import { pageTitle, takeHash } from "./dom.js";
import { startOfLink } from "./share.js";

const CRASHED = "The program behind the board has stopped, and the game is lost. A new game starts it again.";
const { game } = document.body.dataset;
const BEAT = 1000; // milliseconds between two questions to the worker
const listeners = new Set();
const dispatch = (message) => listeners.forEach((listener) => listener(message));
let worker = null, heart = null;

function begin() {
  worker = new Worker(new URL("play-worker.mjs", import.meta.url), { type: "module", name: game });
  let unanswered = 0, patience = Infinity; // until the worker has loaded what it needs to answer
  worker.addEventListener("message", ({ data }) => {
    unanswered = 0;
    if (data.type === "alive") ({ patience } = data);
    else dispatch(data);
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    stop(event.message);
  });
  worker.addEventListener("messageerror", () => stop("a message could not be read"));
  heart = setInterval(() => { // it counts its own beats: there are none while the page sleeps
    if (++unanswered > patience) stop("the worker does not answer");
    else worker.postMessage({ do: "alive" });
  }, BEAT);
}

function stop(reason) {
  console.warn(reason);
  clearInterval(heart);
  worker.terminate();
  dispatch({ type: "lost", text: CRASHED });
}

const model = {
  send: (message) => worker.postMessage(message),
  restart() {
    begin();
    dispatch({ type: "found" });
  },
  takeStart() {
    const hash = takeHash(), start = startOfLink(hash), players = new URLSearchParams(hash.slice(1)).getAll("player");
    if (hash === "#film") openFilm();
    return start && players.length ? { ...start, players } : start; // a position against the champion
  },
  title: pageTitle,
  on: (_, listener) => listeners.add(listener),
  off: (_, listener) => listeners.delete(listener),
};

// The game of a record, move by move: the one that the documentation shows as a film.
async function openFilm() {
  const answer = await fetch(new URL(`${game}-film.json`, import.meta.url));
  if (answer.ok) model.send({ do: "open", record: await answer.text() });
}

begin();
board.render({ model, el: document.getElementById("board") });

// Everything is kept for the time without a network, if the browser does that.
navigator.serviceWorker?.register("offline.js").then(async () => {
  const { active } = await navigator.serviceWorker.ready;
  active.postMessage({ game });
}).catch((error) => console.warn(error.message));
navigator.serviceWorker?.addEventListener("message", ({ data }) => {
  document.documentElement.dataset.offline = data.kept;
});
