// How the champions choose moves: what `pbm_agents.champions` does between its kernels, with equal moves for equal seeds.
//
//   const champion = makeChampion(game, { simulations: 1000 });
//   const action = await champion.act(game.view(state, player), new Stream(7n));
//
// A random generator has `seeds(count)`, which returns a `BigUint64Array`, and `below(count)`, a number from 0 up.

const STEP = 0x9e3779b97f4a7c15n, MIX_1 = 0xbf58476d1ce4e5b9n, MIX_2 = 0x94d049bb133111ebn;
const WORD = (1n << 64n) - 1n;

/** Random numbers of a seed, those of `core/randomness.py` (SplitMix64). */
export class Stream {
  constructor(seed) {
    this.state = BigInt.asUintN(64, seed);
  }

  next() {
    this.state = (this.state + STEP) & WORD;
    let mixed = this.state;
    mixed = ((mixed ^ (mixed >> 30n)) * MIX_1) & WORD;
    mixed = ((mixed ^ (mixed >> 27n)) * MIX_2) & WORD;
    return mixed ^ (mixed >> 31n);
  }

  seeds(count) {
    return BigUint64Array.from({ length: count }, () => this.next());
  }

  below(count) {
    return Number(((this.next() >> 32n) * BigInt(count)) >> 32n);
  }
}

/**
 * Return the champion of a game, with a budget in simulations for each move. Another function for `game.search` may
 * return a promise.
 */
export function makeChampion(game, { simulations = 1000, search = (...given) => game.search(...given) } = {}) {
  return new PLAYERS[game.champion.kind](game, simulations, search);
}

/** The tree search: of positions, or of information sets. */
class Searching {
  constructor(game, simulations, search) {
    Object.assign(this, { game, simulations, search, spec: game.champion });
  }

  async act(view, rng) {
    return (await this.analyse(view, rng)).best;
  }

  async analyse(view, rng, kind = this.spec.search) {
    return this.search(view, { kind, simulations: this.simulations, seed: rng.seeds(1)[0], earlyStop: true });
  }

  /** Return the legal actions but resigning. */
  legal(view) {
    const mask = this.game.mask(view), { actions, resign } = this.game;
    return actions.map((_, action) => action).filter((action) => mask[action] && action !== resign);
  }

  /** Return the position after an action in a position without hidden information. */
  after(view, action) {
    const state = view.slice();
    state[this.game.fields.viewer[0]] = -1;
    this.game.step(state, [action]);
    return state;
  }
}

/** The tree search, whose moves a solver checks late in the game (`VerifiedSearchAgent`). */
class Verified extends Searching {
  constructor(...given) {
    super(...given);
    this.nodes = Math.trunc(this.simulations * this.spec.nodes_of_a_simulation);
    this.memory = this.game.memory(this.spec.memory);
  }

  async act(view, rng) {
    const found = await this.analyse(view, rng);
    return this.#canHelp(view) ? this.#verified(view, found) : found.best;
  }

  #canHelp(view) {
    const { game, spec, nodes } = this;
    if (!nodes || (spec.needs_owner && game.read(view, spec.owner) < 0)) return false;
    const most = spec.empty + Math.log(nodes / spec.nodes_for_empty) / Math.log(spec.growth);
    return game.read(view, "stones").filter((stone) => stone === 0).length <= most;
  }

  #verified(view, { best, visits, proven }) {
    if (proven) return best;
    const order = new Set([best, ...descending(visits)]), legal = new Set(this.legal(view));
    let possible = [...order].filter((action) => legal.has(action)), left = this.nodes;
    for (const share of this.spec.shares) if (possible.length > 1) [possible, left] = this.#try(view, possible, share, left);
    return possible.length ? possible[0] : best;
  }

  /** Return only the first action that is proven to win, or all that are not proven to lose; and the nodes left. */
  #try(view, actions, share, left) {
    const unknown = [];
    for (const [k, action] of actions.entries()) {
      if (unknown.length === this.spec.most_unknown) {
        unknown.push(...actions.slice(k));
        break;
      }
      const [value, spent] = this.#solve(view, action, Math.trunc(share * left));
      left -= spent;
      if (value > 0) return [[action], left];
      if (value === 0) unknown.push(action);
    }
    return [unknown, left];
  }

  /** Return the value of an action, 0 if it is unknown, and the positions that were examined. */
  #solve(view, action, nodes) {
    const { game, spec } = this, mover = game.read(view, "to_move"), after = this.after(view, action);
    if (game.read(after, "done")) return [game.read(after, "returns")[mover], 0];
    const owner = game.read(after, spec.owner), next = game.read(after, "to_move");
    if (owner < 0 || nodes <= 0) return [0, 0];
    const sets = [1, 2].map((mark) => game.read(after, "stones")
      .reduce((set, stone, cell) => (stone === mark ? set | BigInt(spec.bits[cell]) : set), 0n));
    const blocks = this.memory.use(), counters = game.array(blocks.counters, BigInt64Array);
    [counters[spec.nodes], counters[spec.spent]] = [BigInt(nodes), 0n];
    const role = BigInt(owner !== next);
    const value = Number(game.call([spec.solve], { first: sets[0], second: sets[1], role, ...blocks })[0]);
    const spent = Number(game.array(blocks.counters, BigInt64Array)[spec.spent]);
    return [next === mover ? value : -value, Math.min(spent, nodes)];
  }
}

/** The exact solution of Trinim as soon as few enough pieces are left, and the tree search until then (`ExactAgent`). */
class Exact extends Searching {
  async act(view, rng) {
    return this.solves(view) ? this.#best(view, rng) : super.act(view, rng);
  }

  solves(view) {
    const out = this.game.read(view, "out").filter(Boolean).length;
    return this.game.read(view, "left") <= this.spec.most_pieces[this.game.players - out];
  }

  /** Return the value of each action, NaN if it is illegal. */
  values(view) {
    const { game } = this, values = game.actions.map(() => NaN), mover = game.read(view, "to_move");
    if (!this.solution?.covers(view)) this.solution = new Solution(game, this.spec, view);
    for (const action of this.legal(view)) {
      const after = this.after(view, action);
      values[action] = (game.read(after, "done") ? game.read(after, "returns") : this.solution.values(after))[mover];
    }
    return values;
  }

  #best(view, rng) {
    const best = nearTheBest(this.values(view), this.spec.equal);
    if (best.length === 1) return best[0];
    const replies = best.map((action) => this.#goodReplies(this.after(view, action)));
    const least = Math.min(...replies) + 1e-9, chosen = best.filter((_, k) => replies[k] <= least);
    return chosen[rng.below(chosen.length)];
  }

  #goodReplies(state) {
    if (this.game.read(state, "done")) return 0;
    const values = this.values(state);
    return nearTheBest(values, this.spec.equal).length / values.filter((value) => !Number.isNaN(value)).length;
  }
}

/** The values of all positions that can follow one of Trinim (`TrinimSolution`). */
class Solution {
  constructor(game, spec, state) {
    Object.assign(this, { game, spec, pieces: game.read(state, "pieces"), out: game.read(state, "out") });
    this.cells = this.pieces.flatMap((piece, cell) => (piece ? [cell] : []));
    this.total = this.#total(state);
    this.stillIn = this.out.flatMap((out, player) => (out ? [] : [player]));
    const places = new Map(this.cells.map((cell, k) => [cell, k])), count = this.cells.length, masks = 2 ** count;
    const following = this.cells.flatMap((cell) => spec.neighbours[cell].map((next) => BigInt(places.get(next) ?? -1)));
    const colours = BigInt64Array.from(this.cells, (cell) => BigInt(this.pieces[cell]));
    const three = this.stillIn.length === 3;
    this.table = three ? new Float32Array(masks * 3 * 64) : new Uint8Array(masks * 2);
    game.call([three ? spec.solve_three : spec.solve_two], {
      colours: [colours, [count], 8],
      following: [BigInt64Array.from(following), [count, 3], 8],
      total: BigInt(this.total),
      left: [new Uint8Array(masks), [masks], 1],
      table: three ? [this.table, [masks, 3, 64], 4] : [this.table, [masks, 2], 1],
    }, ["table"]);
  }

  covers(state) {
    const there = this.game.read(state, "pieces"), out = this.game.read(state, "out");
    return there.every((piece, cell) => !piece || piece === this.pieces[cell])
      && out.every((gone, player) => gone === this.out[player]) && this.#total(state) === this.total;
  }

  /** Return the expected returns of the players by seat. */
  values(state) {
    const { game, stillIn } = this, there = game.read(state, "pieces"), losing = 1 / (game.players - 1);
    const mask = this.cells.reduce((sum, cell, k) => sum + (there[cell] ? 2 ** k : 0), 0);
    const at = stillIn.indexOf(game.read(state, "to_move")), order = [...stillIn.slice(at), ...stillIn.slice(0, at)];
    const held = order.map((player) => parities(this.#held(state, player))), values = this.out.map(() => -losing);
    if (order.length === 3) {
      order.forEach((player, k) => (values[player] = this.table[(mask * 3 + k) * 64 + 8 * held[0] + held[1]]));
      return values;
    }
    const [won, lost] = [0, 1].map((k) => (this.table[2 * mask + k] >> held[0]) & 1);
    const draw = (losing * (game.players - order.length)) / order.length;
    order.forEach((player, k) => (values[player] = won || lost ? (Boolean(won) === (k === 0) ? 1 : -losing) : draw));
    return values;
  }

  #held(state, player) {
    return this.game.read(state, "held").slice(3 * player, 3 * player + 3);
  }

  #total(state) {
    const sums = [1, 2, 3].map((colour) => this.game.read(state, "pieces").filter((piece) => piece === colour).length);
    this.game.read(state, "out").forEach((out, player) => {
      if (!out) this.#held(state, player).forEach((count, colour) => (sums[colour] += count));
    });
    return parities(sums);
  }
}

const parities = (counts) => counts.reduce((sum, count, colour) => sum + ((count % 2) << colour), 0);

/** Alpha-beta search of sampled worlds of Curio (`LinesAgent`). */
class Lines extends Searching {
  constructor(...given) {
    super(...given);
    this.budget = this.simulations * this.spec.nodes_of_a_simulation;
  }

  async act(view, rng) {
    return this.#rankAll(view, rng, this.spec.narrow_margin, 0)[0][0];
  }

  /** Return the legal actions, the best first, with their mean values from -1 to 1, beyond that if certain. */
  rank(view, rng) {
    return this.#rankAll(view, rng, this.spec.margin, this.spec.margin);
  }

  #rankAll(view, rng, margin, known) {
    const { game, spec } = this, legal = this.legal(view);
    if (legal.length === 1) return [[legal[0], 0]];
    const batch = new Uint8Array(view.length * spec.worlds);
    for (let k = 0; k < spec.worlds; k++) batch.set(view, k * view.length);
    const drawn = game.determinize(batch, rng.seeds(spec.worlds));
    const worlds = Array.from({ length: spec.worlds }, (_, k) => drawn.slice(k * view.length, (k + 1) * view.length));
    const same = worlds.every((world) => String(game.read(world, "faces")) === String(game.read(worlds[0], "faces")));
    return game.kernels.scope(() => this.#rank(legal, same ? worlds.slice(0, 1) : worlds, same ? known : margin));
  }

  #rank(legal, worlds, margin) {
    const { game, spec } = this, memory = game.reserve(spec.memory), ends = legal.map((action) => game.action_cells[action]);
    this.spent = 0;
    game.array(memory.table, BigInt64Array).fill(-1n);
    let kept = legal.map((_, k) => k), table = worlds.map(() => legal.map(() => 0)), finished = false;
    const values = legal.map(() => 0);
    for (const depth of spec.depths) {
      for (const [k, world] of worlds.entries()) {
        const found = this.#searchWorld(memory, world, kept.map((each) => ends[each]), depth, margin), { length } = found;
        finished = length < kept.length;
        if (finished && worlds.length === 1 && length) {
          const most = Math.max(...found);
          table[0] = table[0].map((value, m) => (m < length ? found[m] : Math.min(value, most)));
        }
        if (finished) break;
        table[k] = found;
      }
      const means = kept.map((_, m) => table.reduce((sum, row) => sum + row[m], 0) / table.length);
      kept.forEach((each, m) => (values[each] = means[m]));
      let order = descending(means);
      if (depth > spec.depths[0]) order = order.filter((m) => means[m] >= means[order[0]] - spec.drop);
      [kept, table] = [order.map((m) => kept[m]), table.map((row) => order.map((m) => row[m]))];
      if (finished || kept.length === 1) break;
    }
    const rest = descending(values).filter((k) => !kept.includes(k));
    return [...kept, ...rest].map((k) => [legal[k], values[k]]);
  }

  /** Return the values of the first moves with these ends that the budget allows. */
  #searchWorld(memory, world, ends, depth, margin) {
    const { game, spec } = this, left = depth === spec.depths[0] ? spec.unlimited : this.budget - this.spent;
    if (left <= ends.length) return [];
    game.array(memory.counters, BigInt64Array)[spec.allowed] = BigInt(left);
    const found = new Float64Array(ends.length);
    const moves = [BigInt64Array.from(ends.flat(), BigInt), [ends.length, 2], 8];
    const values = [found, [found.length], 8];
    const given = { ...memory, states: [world], moves, depth: BigInt(depth), margin, found: values };
    const count = Number(game.call([spec.value_moves], given, ["found"])[0]);
    this.spent += Number(game.array(memory.counters, BigInt64Array)[spec.looked_at]);
    game.call([spec.expected_outcomes], { values, outcomes: values }, ["outcomes"]);
    return [...found].slice(0, count);
  }
}

/** Information-set search, with a solver once all pieces are known (`KnownWorldAgent`). */
class KnownWorld extends Searching {
  constructor(...given) {
    super(...given);
    this.nodes = Math.trunc(this.simulations * this.spec.nodes_of_a_simulation);
    this.memory = this.game.memory(this.spec.memory);
  }

  async act(view, rng) {
    const { game, spec } = this, batch = new Uint8Array(view.length * spec.worlds);
    for (let k = 0; k < spec.worlds; k++) batch.set(view, k * view.length);
    const drawn = game.determinize(batch, rng.seeds(spec.worlds)), world = drawn.slice(0, view.length);
    const faces = Array.from({ length: spec.worlds }, (_, k) => String(game.read(drawn, "faces", k)));
    if (faces.some((each) => each !== faces[0])) return super.act(view, rng);
    return this.#winning(world) ?? (await this.analyse(world, rng, spec.known)).best;
  }

  #winning(world) {
    const { game, spec } = this, [mover, passed, quiet] = ["to_move", "passed", "quiet"].map((name) => BigInt(game.read(world, name)));
    const blocks = this.memory.use(), counters = game.array(blocks.counters, BigInt64Array);
    [counters[spec.nodes], counters[spec.spent]] = [BigInt(this.nodes), 0n];
    for (let most = 1; most <= spec.most_own_moves; most++) {
      const given = { states: [world.slice()], mover, own_moves: BigInt(most), passed, quiet };
      const [value, action] = [...game.call([spec.force_win], { ...blocks, ...given })].map(Number);
      if (value === spec.won) return action;
      if (value === spec.unknown) return undefined;
    }
    return undefined;
  }
}

const PLAYERS = { search: Searching, verified: Verified, exact: Exact, lines: Lines, known: KnownWorld };

/** Return the indices of numbers, the largest first, equal ones in order. */
const descending = (numbers) => numbers.map((_, k) => k).sort((a, b) => numbers[b] - numbers[a] || a - b);

function nearTheBest(values, difference) {
  const most = Math.max(...values.filter((value) => !Number.isNaN(value)));
  return values.flatMap((value, action) => (value >= most - difference ? [action] : []));
}
