// The table of a page without a server, with the champion as its agent, in a Web Worker: page.mjs starts it.

import { makeChampion } from "./champion.mjs";
import code from "./code.mjs";
import { createTable } from "./table.mjs";

const { name } = globalThis; // of the worker: that of the game

// An error is one of the worker, which the page hears of.
addEventListener("unhandledrejection", ({ reason }) => setTimeout(() => {
  throw reason;
}));

async function load(file, read) {
  const answer = await fetch(new URL(file, import.meta.url));
  if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
  return answer[read]();
}

let patience = 10; // seconds that the page waits for an answer: solvers let no message pass

/** Return the function that makes champions: `champion:simulations=1000`. */
function champion(settings) {
  const simulations = Number(settings.get("simulations") ?? 1000);
  patience = Math.max(patience, 10 + simulations / 100);
  let player = null;
  async function act(game, view, rng, isOver) {
    if (player?.game !== game.core) {
      player = makeChampion(game.core, { simulations, search: (seen, options) => game.core.searchInPieces(seen, options, isOver) });
    }
    return player.act(view.bytes, { seeds: (count) => rng.seeds(count), below: (count) => Number((rng.raw() >> 32n) * BigInt(count) >> 32n) });
  }
  return { act };
}

const table = Promise.all([load(`${name}.wasm`, "arrayBuffer"), load(`${name}.json`, "json"), load("letters.json", "json")])
  .then(([wasm, description, letters]) => createTable({
    games: [{ wasm, description }], code, letters, send: postMessage.bind(globalThis), agents: { champion },
    start: { game: name, players: ["person", description.opponent] },
    fresh: () => crypto.getRandomValues(new Uint32Array(1))[0],
  }));
onmessage = async ({ data }) => (data.do === "alive" ? postMessage({ type: "alive", patience }) : (await table).receive(data));
postMessage({ type: "alive", patience });
