// Sends messages, which `compare.py` has sent to the table of `pbm serve`, to that of a page, and compares the answers.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { createTable, searcher } from "./table.mjs";

const [folder, name] = process.argv.slice(2);
const { default: code } = await import(pathToFileURL(`${folder}/code.mjs`));
const letters = JSON.parse(readFileSync(`${folder}/letters.json`));
const wasm = readFileSync(`${folder}/${name}.wasm`), description = JSON.parse(readFileSync(`${folder}/${name}.json`));
Object.defineProperty(performance, "now", { value: () => 0 }); // no agent's time is ever over, however busy the machine is
const counts = { sequences: 0, messages: 0, answers: 0, different: 0 };
const fewSimulations = () => searcher("plain")(new Map([["simulations", "40"]]));

function plain(thing, left, where = "") {
  if (Array.isArray(thing)) return thing.map((each) => plain(each, left, where));
  if (thing === null || typeof thing !== "object") return thing;
  const out = left[thing.type ?? where] ?? [];
  return Object.fromEntries(Object.entries(thing).filter(([key]) => !out.includes(key)).map(([key, value]) => [key, plain(value, left, key)]));
}

/** The first place at which two texts differ. */
function difference(wanted, found) {
  let at = 0;
  while (at < wanted.length && wanted[at] === found?.[at]) at++;
  const part = (text) => (text ?? "nothing").slice(Math.max(0, at - 100), at + 100);
  return `\n  wanted: ${part(wanted)}\n  found:  ${part(found)}`;
}

async function repeat({ first, steps, left, seed }) {
  const waiting = [];
  let answers = [], number = 0, time = 0;
  const start = { ...first, options: Object.entries(first.board).map(([key, value]) => `${key}=${value}`), board: null };
  const table = await createTable({ games: [{ wasm, description }], code, letters, start, send: (message) => answers.push(message),
    agents: { champion: fewSimulations, greedy: fewSimulations, mcts: fewSimulations }, later: (work) => waiting.push(work), fresh: () => ++number,
    clock: () => (time += 1e9) });
  for (const [k, { message, loose, hashes, texts }] of steps.entries()) {
    answers = [];
    if (message === null) await waiting.shift()();
    else table.receive(message);
    const found = answers.map((each) => JSON.stringify(loose ? { type: each.type } : plain(each, left)));
    const same = found.length === hashes.length && found.every((text, at) => createHash("sha256").update(text).digest("hex") === hashes[at]);
    counts.messages++;
    counts.answers += hashes.length;
    if (same) continue;
    counts.different++;
    const at = Math.max(0, found.findIndex((text, place) => text !== texts[place]));
    if (counts.different <= 8) console.error(`different: ${name}, sequence ${seed}, message ${k} of ${steps.length}, ${JSON.stringify(message).slice(0, 200)}: answer ${at}`
      + difference(texts[at] ?? "nothing", found[at]));
    break; // what follows depends on it
  }
  counts.sequences++;
  table.close();
}

for await (const line of createInterface({ input: process.stdin })) await repeat(JSON.parse(line));
console.log(JSON.stringify(counts));
