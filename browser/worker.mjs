// Games in a Web Worker, so that a search does not stop the page.
//
//   const worker = new Worker("worker.mjs", { type: "module" });
//   const [game] = await loadInWorker(worker, wasm, description);
//   const found = await game.search(view, { simulations: 5000, seed: 1n });
//
// The games are those of `game.mjs`, but each method returns a promise. Arrays that a method changes in place are changed
// here too, when the promise is resolved.

import { loadGame } from "./game.mjs";

/** Answer messages `{id, board, method, args}` by `{id, result, args}` or `{id, error}`. */
export function serve(port) {
  let games = [];
  port.onmessage = async ({ data: { id, board, method, args } }) => {
    try {
      if (method === "load") games = await loadGame(...args);
      const result = method === "load" ? undefined : games[board][method](...args);
      port.postMessage({ id, result, args: method === "load" ? [] : args });
    } catch (error) {
      port.postMessage({ id, error: String(error) });
    }
  };
}

/** Return the games of a module that run behind a port: a worker, or one end of a `MessageChannel`. */
export async function loadInWorker(port, wasm, description) {
  const waiting = new Map();
  port.onmessage = ({ data: { id, result, args, error } }) => {
    const { resolve, reject, given } = waiting.get(id);
    waiting.delete(id);
    if (error !== undefined) return reject(new Error(error));
    args.forEach((array, k) => ArrayBuffer.isView(array) && given[k].set(array));
    return resolve(result);
  };
  const ask = (board, method, ...args) =>
    new Promise((resolve, reject) => {
      const id = waiting.size ? Math.max(...waiting.keys()) + 1 : 0;
      waiting.set(id, { resolve, reject, given: args });
      port.postMessage({ id, board, method, args });
    });
  await ask(0, "load", wasm, description);
  return description.boards.map((facts, board) => new Proxy(facts, {
    // not `then`: a game is no promise
    get: (_, name) => (name in facts || name === "then" ? facts[name] : (...args) => ask(board, name, ...args)),
  }));
}

if (typeof WorkerGlobalScope !== "undefined") serve(globalThis);
