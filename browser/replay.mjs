// Plays games again that `check.py` sends, one batch a line, and counts what differs.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { loadGame } from "./game.mjs";

const [folder, name, board] = process.argv.slice(2);
const games = await loadGame(readFileSync(`${folder}/${name}.wasm`), JSON.parse(readFileSync(`${folder}/${name}.json`)));
const game = games[Number(board)];
const counts = { games: 0, plies: 0, searches: 0, different: 0 };

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

function replay({ games: size, seed, simulations, plies }) {
  const states = game.init(streams(size, seed));
  plies.forEach((ply, k) => {
    const read = [states, game.mask(states)];
    for (let player = 0; player < game.players; player++) {
      const views = game.view(states, player), seeds = streams(size, seed, k);
      read.push(views, game.mask(views), game.observe(views), game.determinize(views, seeds), seeds);
    }
    const ended = states.slice(), seeds = streams(size, seed, k);
    game.playout(ended, seeds);
    expect(digest([...read, ended, seeds]) === ply.hash, `ply ${k}`);
    for (const [kind, wanted] of Object.entries(ply.searches)) {
      const state = states.slice(ply.row * game.itemsize, (ply.row + 1) * game.itemsize);
      const view = game.view(state, game.read(state, "to_move"));
      const found = game.search(view, { kind, simulations, seed: streams(1, seed, k + 1)[0] });
      const same = found.visits.every((count, a) => count === wanted.visits[a]) && found.best === wanted.best;
      expect(same && found.value.every((each, p) => each === number(wanted.value[p])), `search ${kind} at ply ${k}`);
      counts.searches++;
    }
    counts.plies++;
    if (ply.actions) game.step(states, ply.actions);
  });
  counts.games += size;
}

for await (const line of createInterface({ input: process.stdin })) replay(JSON.parse(line));
console.log(JSON.stringify(counts));
