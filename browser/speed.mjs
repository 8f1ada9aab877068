// Measures playouts, plies and simulations per second of the default board: `speed.py` starts it.

import { readFileSync } from "node:fs";
import { loadGame } from "./game.mjs";

const [folder, name, games, simulations, rounds] = process.argv.slice(2);
const [game] = await loadGame(readFileSync(`${folder}/${name}.wasm`), JSON.parse(readFileSync(`${folder}/${name}.json`)));
const seeds = BigUint64Array.from({ length: Number(games) }, (_, row) => BigInt(row));
const states = game.init(seeds.slice()), first = states.slice(0, game.itemsize);

function seconds(run) {
  const times = Array.from({ length: Number(rounds) }, () => {
    const start = performance.now();
    run();
    return (performance.now() - start) / 1000;
  });
  return Math.min(...times);
}

const masks = () => Array.from({ length: 20 }, () => game.mask(states));
console.log(JSON.stringify({
  playouts: seconds(() => game.playout(states.slice(), seeds.slice())),
  masks: seconds(masks),
  observations: seconds(() => game.observe(states)),
  simulations: seconds(() => game.search(first, { simulations: Number(simulations), seed: 1n })),
}));
