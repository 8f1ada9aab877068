// The rules of a game as WebAssembly, for pages, Web Workers and Node; knows no game. See `docs/guides/play.md`.
//
//   const [game] = await loadGame(wasm, description); // chameleon.wasm and chameleon.json; a game for each board
//   const states = game.init(BigUint64Array.of(7n));
//   game.step(states, [game.actions.indexOf("a1x")]);
//   const { best, visits } = game.search(game.view(states, 1), { simulations: 500, seed: 1n });
//
// States and views are records of bytes, one after the other (`Uint8Array`), equal to those of NumPy; so a batch of games
// can be sent to a worker, kept, and compared. Seeds are `BigUint64Array`, one for each game, and are advanced in place.

const PAGE = 65536, ALIGNMENT = 16, OK = 0, NONE = -2, STEP = 0x9e3779b97f4a7c15n;
const PIECE = 64, PIECE_MILLISECONDS = 12; // simulations, and time, after which other work may pass
const AN_EDGE = 2, NO_CHILD = -1, TERMINAL = -(2 ** 31), ILLEGAL = TERMINAL + 1, CHECK_INTERVAL = 32;
const READERS = { i1: "getInt8", b1: "getInt8", u1: "getUint8", i2: "getInt16", i4: "getInt32", f4: "getFloat32", i8: "getBigInt64" };

/** Return the games of a module, one for each board. */
export async function loadGame(wasm, description) {
  const data = await new Response(unpacked(description.data)).arrayBuffer();
  const kernels = new Kernels((await WebAssembly.instantiate(wasm, {})).instance.exports, description.arrays, new Uint8Array(data));
  const games = description.boards.map((board) => new Game(kernels, board, description.game));
  kernels.keep(Math.max(...games.map(({ champion }) => bytesOf(champion.memory ?? {}))));
  return games;
}

function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
}

const bytesOf = (arrays) => Object.values(arrays).reduce((sum, [itemsize, shape]) => {
  return Math.ceil(sum / ALIGNMENT) * ALIGNMENT + shape.reduce((a, b) => a * b, itemsize);
}, 0);

/** An array in the module's memory. */
class Block {
  constructor(at, shape, itemsize, layout) {
    Object.assign(this, { at, shape, itemsize, layout });
    this.size = shape.reduce((a, b) => a * b, 1);
  }

  /** The numbers with which a kernel is given this array. */
  flat() {
    const item = BigInt(this.itemsize);
    if (this.layout !== undefined) return [this.at, this.layout, BigInt(this.size), item];
    const strides = [];
    this.shape.reduceRight((step, length) => (strides.unshift(BigInt(step)), step * length), this.itemsize);
    return [0, 0, BigInt(this.size), item, this.at, ...this.shape.map(BigInt), ...strides];
  }
}

/** The kernels of a game, and memory in which the arrays of one call are put one after the other. */
class Kernels {
  constructor(exports, arrays, bytes) {
    this.exports = exports;
    this.top = exports.__heap_base.value;
    const start = this.put(bytes, [bytes.length], 1).at;
    this.result = this.put(new Uint8Array(128), [128], 1).at;
    this.constants = arrays.map((spec) => {
      const layout = spec.layout === undefined ? undefined : start + arrays[spec.layout].at;
      return new Block(start + spec.at, spec.shape, spec.itemsize, layout);
    });
  }

  /** Reserve zeros for an array. */
  zeros(shape, itemsize, layout) {
    const block = this.block(shape, itemsize, layout);
    const missing = this.top - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / PAGE));
    this.bytes(block).fill(0);
    return block;
  }

  block(shape, itemsize, layout) {
    const at = Math.ceil(this.top / ALIGNMENT) * ALIGNMENT, block = new Block(at, shape, itemsize, layout);
    this.top = at + block.size * itemsize;
    return block;
  }

  /** Reserve the place of `Memory`, for good. */
  keep(bytes) {
    const block = this.zeros([bytes], 1);
    this.place = { at: block.at, owner: null };
  }

  /** Copy an array into memory. */
  put(array, shape, itemsize, layout) {
    const block = this.zeros(shape, itemsize, layout);
    this.bytes(block).set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    return block;
  }

  bytes(block) {
    return new Uint8Array(this.exports.memory.buffer, block.at, block.size * block.itemsize);
  }

  /** Copy an array out of memory: into `target`, or a new array of this type. */
  take(block, target) {
    const bytes = this.bytes(block);
    if (typeof target === "function") return new target(bytes.slice().buffer);
    new Uint8Array(target.buffer, target.byteOffset, target.byteLength).set(bytes);
    return target;
  }

  /** Call kernels, `[name, arguments]` each, and return the integers that the last one returns. */
  call(calls, inputs) {
    for (const [name, args] of calls) {
      const flat = args.flatMap((each) => {
        const value = typeof each === "number" ? this.constants[each] : typeof each === "string" ? inputs[each] : scalar(each);
        return value instanceof Block ? value.flat() : [value];
      });
      const status = this.exports[name](this.result, this.result + 96, ...flat);
      if (status !== OK && status !== NONE) throw new Error(`${name} failed: status ${status}`);
    }
    return new BigInt64Array(this.exports.memory.buffer, this.result, 2);
  }

  /** Run a function, and free what it has reserved. */
  scope(run) {
    const top = this.top;
    try {
      return run();
    } finally {
      this.top = top;
    }
  }
}

const scalar = ([type, value]) => (type === "i64" ? BigInt(value) : Number(value));

/** One board of a game. Batches of B games have B * itemsize bytes. */
export class Game {
  constructor(kernels, board, name) {
    Object.assign(this, board, { kernels, name });
    this.layout = kernels.constants[this.hooks.blank].layout;
  }

  /** Return new games, one for each seed. */
  init(seeds) {
    const blank = this.kernels.bytes(this.kernels.constants[this.hooks.blank]);
    const states = new Uint8Array(seeds.length * this.itemsize);
    for (let row = 0; row < seeds.length; row++) states.set(blank, row * this.itemsize);
    return this.#run("init", { states: [states], seeds: [seeds, [seeds.length], 8] }, ["states", "seeds"]), states;
  }

  /** Play one action in each game, in place; throw RangeError, and change nothing, if one is illegal. */
  step(states, actions) {
    const chosen = BigInt64Array.from(actions, BigInt);
    if (chosen.length !== this.count(states)) throw new RangeError(`${chosen.length} actions: expected ${this.count(states)}`);
    const row = this.#run("step", { states: [states], actions: [chosen, [chosen.length], 8] }, ["states"]);
    if (row >= 0) throw Object.assign(new RangeError(`row ${row}: ${this.actions[actions[row]] ?? actions[row]} is illegal`), { row });
  }

  /** Return the legal actions of states or views, B * actions of 0 or 1. */
  mask(states) {
    const out = new Uint8Array(this.count(states) * this.actions.length);
    this.#run("mask", { states: [states], out: [out, [this.count(states), this.actions.length], 1] }, ["out"]);
    return out;
  }

  /** Return what a player, or the player of each row, can know of these states. */
  view(states, players) {
    const views = new Uint8Array(states.length), count = this.count(states);
    for (let row = 0; row < count; row++) views[row * this.itemsize + this.fields.viewer[0]] = players[row] ?? players;
    this.#run("view", { states: [states], views: [views] }, ["views"]);
    return views;
  }

  /** Return the observations of views, B * rows * columns * planes. */
  observe(views) {
    const shape = [this.count(views), ...this.observation], out = new Int8Array(shape.reduce((a, b) => a * b));
    this.#run("observe", { views: [views], out: [out, shape, 1] }, ["out"]);
    return out;
  }

  /** Play games to their ends at random, in place. */
  playout(states, seeds) {
    this.#run("playout", { states: [states], seeds: [seeds, [seeds.length], 8] }, ["states", "seeds"]);
  }

  /** Return full states that are consistent with views, each drawn uniformly. */
  determinize(views, seeds) {
    const worlds = views.slice(), good = new Uint8Array(this.count(views));
    if (this.hooks.world) {
      this.#run("world", { views: [worlds], seeds: [seeds, [seeds.length], 8], good: [good, [good.length], 1] }, ["views", "good"]);
      if (good.includes(0)) throw new Error("found no state that fits what a player knows");
      seeds.forEach((seed, row) => (seeds[row] = seed + STEP));
    }
    for (let row = 0; row < good.length; row++) worlds[row * this.itemsize + this.fields.viewer[0]] = -1;
    return worlds;
  }

  /** Change states in place by another kernel of the game, which sets up a board that was given, or removes a player. */
  change(kernel, states) {
    this.#run(`others.${kernel}`, { states: [states] }, ["states"]);
  }

  count(states) {
    return states.length / this.itemsize;
  }

  /** Return a field of a record, as a number or an array of numbers. */
  read(states, field, row = 0) {
    const [offset, kind, shape] = this.fields[field], width = Number(kind[1]);
    const length = shape.reduce((a, b) => a * b, 1), data = new DataView(states.buffer, states.byteOffset + row * this.itemsize + offset);
    const numbers = Array.from({ length }, (_, k) => Number(data[READERS[kind]](k * width, true)));
    return shape.length ? numbers : numbers[0];
  }

  /** Search a position, as the player to move sees it: `Search(simulations=...).run` in Python, for equal seeds. */
  search(view, options) {
    return this.kernels.scope(() => {
      const steps = this.#newSearch(view, options).steps();
      for (;;) {
        const { value, done } = steps.next();
        if (done) return value;
      }
    });
  }

  /**
   * Search as `search` does, but let other work pass every few milliseconds, and end early when `isOver()`. Other kernels
   * may be called meanwhile, but no second search of this module may begin.
   */
  async searchInPieces(view, options, isOver = () => false) {
    const { kernels } = this, { top } = kernels;
    try {
      const steps = this.#newSearch(view, { ...options, piece: PIECE }).steps();
      for (let since = performance.now(); ;) {
        const { value, done } = steps.next(isOver());
        if (done) return value;
        if (performance.now() - since < PIECE_MILLISECONDS) continue;
        await new Promise((resolve) => setTimeout(resolve));
        since = performance.now();
      }
    } finally {
      kernels.top = top;
    }
  }

  #newSearch(view, options) {
    const spec = this.searches[options.kind ?? "plain"];
    if (!spec) throw new Error(`${this.text} has no search ${options.kind}`);
    return new Search(this, spec, view, options);
  }

  #run(hook, inputs, out) {
    const calls = hook.split(".").reduce((found, name) => found[name], this.hooks);
    return Number(this.call(calls, inputs, out)[0]);
  }

  /**
   * Call kernels, and return the two integers that the last one may return. Inputs are numbers, arrays in the module's
   * memory, or arrays that are copied into it: `[array, shape, itemsize]` or `[records]`. Those of `out` are copied back.
   */
  call(calls, inputs, out = []) {
    return this.kernels.scope(() => {
      const blocks = {};
      for (const [name, given] of Object.entries(inputs))
        blocks[name] = !Array.isArray(given) ? given : given.length > 1 ? this.kernels.put(...given) : this.records(given[0]);
      const result = this.kernels.call(calls, blocks).slice();
      for (const name of out) this.kernels.take(blocks[name], inputs[name][0]);
      return result;
    });
  }

  /** Reserve zeros for arrays, `{name: [itemsize, shape]}`, until the end of a scope. */
  reserve(arrays) {
    const blocks = Object.entries(arrays).map(([name, [itemsize, shape]]) => {
      return [name, this.kernels.zeros(shape, itemsize, name === "world" ? this.layout : undefined)];
    });
    return Object.fromEntries(blocks);
  }

  /** Return arrays that an agent keeps from one call to the next. */
  memory(arrays) {
    const { kernels } = this, { top } = kernels;
    kernels.top = kernels.place.at;
    const blocks = Object.entries(arrays).map(([name, [itemsize, shape]]) => [name, kernels.block(shape, itemsize)]);
    kernels.top = top;
    return new Memory(kernels, Object.fromEntries(blocks));
  }

  /** Return an array in the module's memory, valid until more memory is needed. */
  array(block, type) {
    return new type(this.kernels.exports.memory.buffer, block.at, block.size);
  }

  records(states) {
    return this.kernels.put(states, [this.count(states)], this.itemsize, this.layout);
  }
}

/** Arrays of one agent. There is one place for them in the module's memory, which they leave when another needs it. */
class Memory {
  constructor(kernels, blocks) {
    Object.assign(this, { kernels, blocks, saved: null });
  }

  /** Return the blocks. */
  use() {
    const { kernels, blocks } = this, { place } = kernels;
    if (place.owner === this) return blocks;
    place.owner?.leave();
    for (const [name, block] of Object.entries(blocks)) {
      if (this.saved) kernels.bytes(block).set(this.saved[name]);
      else kernels.bytes(block).fill(0);
    }
    this.saved = null;
    place.owner = this;
    return blocks;
  }

  leave() {
    this.saved = Object.fromEntries(Object.entries(this.blocks).map(([name, block]) => [name, this.kernels.take(block, Uint8Array)]));
  }
}

/** The tree search of one position. */
class Search {
  constructor(game, spec, view, { simulations, seed, earlyStop = false, piece = Infinity }) {
    Object.assign(this, { game, spec, kernels: game.kernels, simulations, earlyStop, piece });
    const { kernels } = this, blocks = {};
    for (const [name, [itemsize, shape]] of Object.entries(spec.arrays)) {
      const lengths = shape.map(([fixed, each]) => fixed + each * simulations);
      blocks[name] = kernels.zeros(lengths, itemsize, name === "states" ? game.layout : undefined);
    }
    blocks.state_bytes.at = blocks.states.at;
    kernels.bytes(blocks.settings).set(kernels.bytes(kernels.constants[spec.settings]));
    const root = view.slice();
    root[game.fields.viewer[0]] = -1;
    blocks.views = game.records(view);
    blocks.roots = kernels.put(root, [1, root.length], 1);
    blocks.root_masks = kernels.put(game.mask(view), [1, game.actions.length], 1);
    blocks.trees = kernels.zeros([1], 8);
    blocks.calls = kernels.put(this.#table(), [spec.table.length, 2], 8);
    kernels.take(kernels.put(BigUint64Array.of(seed), [1], 8), kernels.bytes(blocks.seeds));
    kernels.call([spec.roots], blocks);
    if (spec.priors) {
      const out = new Block(blocks.priors.at, [1, game.actions.length], 4);
      kernels.call(spec.priors, { states: game.records(root), out });
    }
    this.blocks = blocks;
  }

  /** Return the kernels of a simulation as numbers of the module's table, with the hashes of their types. */
  #table() {
    const { __indirect_function_table: table, ...exports } = this.kernels.exports;
    this.kernels.numbers ??= new Map();
    const rows = this.spec.table.flatMap(([name, hash]) => {
      if (!this.kernels.numbers.has(name)) {
        this.kernels.numbers.set(name, table.grow(1, exports[name]));
      }
      return [BigInt(this.kernels.numbers.get(name)), BigInt(hash)];
    });
    return BigUint64Array.from(rows);
  }

  /** Make the simulations in pieces; it ends early if it is told so after one. */
  *steps() {
    let spent = 0;
    while (spent < this.simulations && !this.#root("proven")) {
      let waves = Math.min(this.simulations - spent, this.piece);
      if (this.earlyStop) waves = Math.min(waves, CHECK_INTERVAL - (spent % CHECK_INTERVAL));
      const [made, proven] = this.kernels.call([this.spec.waves], { ...this.blocks, waves: BigInt(waves) });
      if (proven < 0n) throw new Error("found no state that fits what a player knows");
      spent += Number(made);
      if (this.earlyStop && spent % CHECK_INTERVAL === 0 && this.#decided(this.simulations - spent)) break;
      if (yield) break;
    }
    return this.#result(spent);
  }

  #data(name) {
    const bytes = this.kernels.bytes(this.blocks[name]);
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #root(field) {
    const at = this.spec.node[field], data = this.#data("nodes");
    return at < this.spec.node.player ? data.getInt32(at, true) : data.getInt8(at);
  }

  /** Return visits, totals and children of the root's edges by action. */
  #edges() {
    const [size, total, visits, child] = this.spec.edge, places = this.#data("places"), edges = this.#data("edges");
    const wide = this.blocks.places.itemsize === 4, first = this.#root("first");
    return this.game.actions.map((_, a) => {
      const place = wide ? places.getUint32(4 * a, true) : places.getUint16(2 * a, true);
      const at = size * (place < AN_EDGE ? place : first + place - AN_EDGE);
      return [edges.getInt32(at + visits, true), edges.getFloat64(at + total, true), edges.getInt32(at + child, true)];
    });
  }

  #decided(left) {
    const visits = this.#edges().map(([count]) => count).sort((a, b) => b - a);
    return visits[0] - visits[1] > left;
  }

  #result(simulations) {
    const edges = this.#edges(), sums = this.#data("sums"), players = this.game.players, player = this.#root("player");
    const sum = (node, kind, who) => sums.getFloat64(8 * ((node * 2 + kind) * players + who), true);
    const visits = edges.map(([count]) => count);
    const proven = edges.map(([, , child]) => child === TERMINAL || (child < NO_CHILD && child > ILLEGAL));
    const values = edges.map(([count, total, child], a) =>
      proven[a] && child !== TERMINAL ? sum(~child, 1, player) : count ? total / count : NaN);
    const solved = Boolean(this.#root("proven")), all = Math.max(1, this.#root("visits"));
    const value = Array.from({ length: players }, (_, who) => (solved ? sum(0, 1, who) : sum(0, 0, who) / all));
    return { player, visits, values, provenActions: proven, value, proven: solved, best: best(visits, values, proven), simulations };
  }
}

/** Return the most visited action, or one that is proven to win or to be better than its mean. */
function best(visits, values, proven) {
  const actions = visits.map((_, a) => a), known = actions.map((a) => (proven[a] ? values[a] : -Infinity));
  const first = (scores) => scores.indexOf(Math.max(...scores));
  const open = actions.map((a) => (proven[a] ? 0 : visits[a]));
  if (Math.max(...open) === 0) return actions.sort((a, b) => known[b] - known[a] || visits[b] - visits[a] || a - b)[0];
  const chosen = first(open), certain = Math.max(...known);
  return certain > values[chosen] || certain === 1 ? known.indexOf(certain) : chosen;
}
