// Plays games again that `check.py` sends, one batch a line, and counts what differs: directly, or behind a port as in a
// worker.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { makeChampion, Stream } from "./champion.mjs";
import { loadGame } from "./game.mjs";
import { loadInWorker, serve } from "./worker.mjs";

const [folder, name, board, worker] = process.argv.slice(2);
const files = [readFileSync(`${folder}/${name}.wasm`), JSON.parse(readFileSync(`${folder}/${name}.json`))];
const { port1, port2 } = new MessageChannel();
if (worker) serve(port2);
const games = worker ? await loadInWorker(port1, ...files) : await loadGame(...files);
const game = games[Number(board)], own = (worker ? await loadGame(...files) : games)[Number(board)];
const counts = { games: 0, positions: 0, searches: 0, choices: 0, different: 0 };

function streams(length, ...places) {
  const first = places.reduce((sum, place, k) => sum + BigInt(place) * 1000003n ** BigInt(k + 1), 0n);
  return BigUint64Array.from({ length }, (_, row) => first + BigInt(row));
}

function digest(arrays) {
  const found = createHash("sha256");
  for (const array of arrays) found.update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
  return found.digest("hex");
}

function expect(same, what) {
  if (!same && counts.different++ < 5) console.error(`different: ${game.text}, ${what}`);
}

/** Read a number that Python's `float.hex` wrote. */
function number(text) {
  const [, sign, whole, fraction, exponent] = text.match(/^(-?)0x(\d)\.([0-9a-f]*)p([+-]\d+)$/);
  return (sign ? -1 : 1) * (Number(whole) + Number(`0x${fraction || 0}`) / 16 ** fraction.length) * 2 ** Number(exponent);
}

async function replay({ games: size, seed, simulations, plies }) {
  const states = await game.init(streams(size, seed));
  for (const [k, ply] of plies.entries()) {
    const read = [states, await game.mask(states)];
    for (let player = 0; player < game.players; player++) {
      const views = await game.view(states, player), seeds = streams(size, seed, k);
      read.push(views, await game.mask(views), await game.observe(views), await game.determinize(views, seeds), seeds);
    }
    const ended = states.slice(), seeds = streams(size, seed, k);
    await game.playout(ended, seeds);
    expect(digest([...read, ended, seeds]) === ply.hash, `ply ${k}`);
    for (const [kind, wanted] of Object.entries(ply.searches)) {
      const state = states.slice(ply.row * game.itemsize, (ply.row + 1) * game.itemsize);
      const view = await game.view(state, await game.read(state, "to_move"));
      const found = await game.search(view, { kind, simulations, seed: streams(1, seed, k + 1)[0] });
      const same = found.visits.every((count, a) => count === wanted.visits[a]) && found.best === wanted.best;
      expect(same && found.value.every((each, p) => each === number(wanted.value[p])), `search ${kind} at ply ${k}`);
      counts.searches++;
    }
    counts.positions += size;
    if (ply.actions) await game.step(states, ply.actions);
  }
  counts.games += size;
}

/** Let the champion choose the moves that it chose in Python. */
async function choose({ choices, seed, simulations }) {
  const champion = makeChampion(own, { simulations }), rng = new Stream(BigInt(seed));
  for (const [k, { view, action }] of choices.entries()) {
    const chosen = await champion.act(new Uint8Array(Buffer.from(view, "base64")), rng);
    expect(chosen === action, `choice ${k} of seed ${seed}: ${own.actions[chosen]}, not ${own.actions[action]}`);
    counts.choices++;
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.choices) await choose(message);
  else await replay(message);
}
console.log(JSON.stringify(counts));
port1.close();
