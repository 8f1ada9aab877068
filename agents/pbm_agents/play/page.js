// What anywidget is in Jupyter, over a socket to `pbm serve`, which is opened again whenever it closes.

import board from "./board.js";
import { pageTitle, takeHash } from "./dom.js";
import { startOfLink } from "./share.js";

const LOST = "The connection to pbm serve is lost. The game goes on when the server is back.";
const EXPIRED = 4000; // the code with which the server closes boards that nobody touches
const FIRST_PAUSE = 250; // milliseconds until the first attempt to connect again; then twice as long each time
const LONGEST_PAUSE = 4000;
const listeners = new Set();
const dispatch = (message) => listeners.forEach((listener) => listener(message));
const waiting = []; // messages until the socket is open
let socket = null;
let pause = FIRST_PAUSE;

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/table`);
  socket.addEventListener("message", (event) => dispatch(JSON.parse(event.data)));
  socket.addEventListener("open", () => {
    if (pause === FIRST_PAUSE) for (const message of waiting.splice(0)) socket.send(message);
    else {
      waiting.length = 0;
      dispatch({ type: "found" });
    }
    pause = FIRST_PAUSE;
  });
  socket.addEventListener("close", (event) => {
    const expired = event.code === EXPIRED, text = event.reason && !expired ? `${event.reason}. This page tries again.` : event.reason;
    dispatch({ type: "lost", text: text || LOST, again: expired ? connect : null });
    if (!expired) setTimeout(connect, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  });
}

const model = {
  send(message) {
    const text = JSON.stringify(message);
    if (socket.readyState === WebSocket.OPEN) socket.send(text);
    else waiting.push(text);
  },
  address: () => new URLSearchParams(location.search).get("game"),
  keepAddress(address) {
    if (address !== model.address()) history.replaceState(null, "", `?game=${address}`);
  },
  takeStart: () => startOfLink(takeHash()),
  on: (_, listener) => listeners.add(listener),
  off: (_, listener) => listeners.delete(listener),
  title: pageTitle,
};

connect();
board.render({ model, el: document.getElementById("board") });
