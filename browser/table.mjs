// The table of a board without a server: messages in, messages out, as `pbm_agents.play.table` describes them.
//
//   const games = [{ wasm, description }];                 // chameleon.wasm and chameleon.json
//   const table = await createTable({ games, code, letters, send, start: { game: "chameleon", players: ["person", "random"] } });
//   table.receive({ do: "hello", theme: "light" });        // -> send({ type: "setup", ... }), send({ type: "position", ... })
//
// `code` is the function that `code.mjs` exports, `letters` the content of `letters.json`. What happens at the table is
// the code of `pbm serve`, translated (`translate.py`); here is what a page has in another form: the games' kernels, the
// boards that there are, agents, and thinking while messages pass.

import { loadGame } from "./game.mjs";
import { sampleAction, seenNumber } from "./random.mjs";
import * as R from "./runtime.mjs";

const MOST_SIMULATIONS = 20000, SECONDS = 60, PAUSE = 50; // of an agent with a budget of time; of any; milliseconds
const NO_SERVER = "this page has no server: expected one that is started by `pbm serve`";

/**
 * Return a table: an object with `receive(message)` and `close()`.
 *
 * @param games `{wasm, description}` of each game.
 * @param code The translated code.
 * @param letters The outlines of letters.
 * @param send Called with each message to the page.
 * @param start The message `new` with which the first game begins, without "do".
 * @param agents Further agents by the first word of their names: functions of a map of settings that return agents, as
 *     `searcher` does.
 * @param later Called with each asynchronous function in which an agent thinks.
 * @param fresh Returns a new seed, a number.
 * @param clock Returns milliseconds, for the pace of games between agents.
 */
export async function createTable({ games, code, letters, send, start, agents = {}, later = (work) => void work(), fresh,
  clock = () => performance.now() }) {
  const loaded = new Map();
  for (const { wasm, description } of games) loaded.set(description.game, { description, boards: await loadGame(wasm, description) });
  const world = new World(loaded, letters, { random: () => randomAgent, mcts: searcher("plain"), ismcts: searcher("plain"),
    champion: searcher("champion"), ...agents });
  const own = fresh ? { ...R, secrets: { ...R.secrets, randbits: fresh }, np: { ...R.np, random: {
    default_rng: (seed = null) => R.np.random.default_rng(seed ?? BigInt(fresh())) } } } : R;
  const made = code({ ...own, kernel: (name, states) => states.fields.game.core.change(name, states.bytes) }, world);
  return new Table(world, made, send, { game: [...loaded.keys()][0], ...start }, later, clock);
}

class Table {
  constructor(world, made, send, start, later, clock) {
    Object.assign(this, { send, closed: false });
    world.code = made;
    const say = (type, fields = new Map()) => {
      if (this.orders.greeted && !this.closed) send({ type, ...R.toJson(fields) });
    };
    const table = this;
    made.Thinking.prototype.think = function think(kind, work, seconds = SECONDS) {
      const { _session: session, _left: left } = this, { plies } = session, number = ++this._started;
      const until = performance.now() + 1000 * Math.min(this._seconds, seconds, SECONDS);
      this.kind = kind;
      later(() => world.oneByOne(async () => {
        world.isOver = () => table.closed || left.is_set() || performance.now() > until;
        let result;
        try {
          result = await work();
        } catch (error) {
          result = error;
        }
        this._deliver(new made.Thought(session, number, plies, kind, result));
      }));
    };
    made.Thinking.prototype.choose_at_pace = function chooseAtPace() {
      const { _session: session, _left: left } = this;
      this.think("answer", async () => {
        const since = clock(), choice = await session.choose_action();
        while (!table.closed && !left.is_set() && (this.pace === null || clock() < since + 1000 * this.pace)) {
          await new Promise((resolve) => setTimeout(resolve, PAUSE));
        }
        return choice;
      });
    };
    made.Orders.prototype._resume = function resume() {
      this._reply("note", new Map([["text", `The earlier game cannot be resumed: ${NO_SERVER}`]]));
    };
    made.Orders.prototype.invite = function invite() {
      throw new R.ValueError(NO_SERVER);
    };
    this.orders = new made.Orders(say, world.start(start), (thought) => this.#handle(() => this.orders.use_thought(thought)), [], null, null);
  }

  /** Carry out a message of the page. */
  receive(message) {
    this.#handle(() => this.orders.carry_out(R.fromJson(message)));
  }

  /** Send nothing more, and stop agents that think. */
  close() {
    this.closed = true;
    this.orders.thinking.close();
  }

  #handle(work) {
    if (this.closed) return;
    try {
      work();
    } catch (error) {
      const said = error instanceof R.ValueError || error instanceof R.ImportError;
      if (!said) console.error(error);
      const text = said ? error.message : "that failed, which is a mistake in the program: its log says more";
      if (this.orders.greeted) this.send({ type: "error", text });
    }
  }
}

/** What the translated code calls by `G`. */
class World {
  constructor(loaded, letters, agents) {
    Object.assign(this, { loaded, letters: R.fromJson(letters), agents, isOver: () => false, last: Promise.resolve() });
  }

  Kind = { MOVE: "move" };
  stream = R.stream;
  last_json = (text, key) => R.at(R.json.loads(text), key);
  registered_games = () => [...this.loaded.keys()];
  glyphs = () => this.letters;
  rules_html = () => "";
  nothing = () => null;
  watches = () => false;
  can_analyse = () => true;
  ending = () => this.isOver;
  copy_states = (states) => states.copy();
  has_puzzles = (name) => this.#game(name).description.table.puzzles.length > 0;
  load_puzzles = (name) => this.#game(name).description.table.puzzles.map((line) => this.code.Puzzle.from_json(line));
  game_class = (hooks) => gameClass(hooks, this);

  /** Run pieces of work one after the other. */
  oneByOne(work) {
    this.last = this.last.then(work);
    return this.last;
  }

  #game(name) {
    const found = this.loaded.get(name);
    if (!found) throw new R.ValueError(`there is no game ${R.repr(name)} on this page: expected one of ${this.registered_games().join(", ")}`);
    return found;
  }

  find_game = (name) => {
    const { class: kind } = this.#game(name).description.table;
    return this.code.games[kind];
  };

  make_game = (name, options) => new (this.find_game(name))(options);
  make_game_named = (name, options) => this.make_game(name, R.dict(options));

  /** Return the board of a game with these options; others are those of the first board. */
  board(name, options) {
    const { description, boards } = this.#game(name);
    const [first] = description.boards, wanted = { ...first.table.options };
    for (const [option, value] of options) {
      if (!(option in wanted)) throw new R.ValueError(`${R.repr(option)} is not an option of ${name}: expected one of ${Object.keys(wanted).join(", ")}`);
      if (value !== null) wanted[option] = value;
    }
    const implied = Object.keys(wanted).filter((option) => first.table.typed[option] === "none" && !options.get(option));
    const found = description.boards.findIndex(({ table }) => Object.entries(wanted).every(([option, value]) =>
      implied.includes(option) || table.options[option] === value));
    if (found < 0) throw new R.ValueError(`there is no such board on this page: expected one of ${description.boards.map(({ text }) => text).join(", ")}`);
    return { core: boards[found], facts: description.boards[found] };
  }

  parse_game = (name, texts) => {
    const { description } = this.#game(name), options = new Map();
    for (const text of texts) {
      const [option, value] = text.split("=");
      const found = description.boards.find(({ table }) => option in table.options && String(table.options[option]) === value)
        ?? (value === "none" ? { table: { options: { [option]: null } } } : null);
      if (!found) throw new R.ValueError(`there is no board with ${text} on this page: expected one of ${description.boards.map((each) => each.text).join(", ")}`);
      options.set(option, found.table.options[option]);
    }
    return this.make_game(name, options);
  };

  game_form = (name) => {
    const { form } = this.#game(name).description.table, choices = this.form_choices(name, []);
    return R.fromJson({ ...form,
      options: form.options.map((option) => ({ ...option, choices: choices.get(option.name) })),
      levels: form.levels.filter(({ agent }) => this.agents[agent.split(":")[0]]) });
  };

  /** Return the values that each option has on the boards that differ from the options given in nothing else. */
  form_choices = (name, texts) => {
    const { boards } = this.#game(name).description, given = Object.fromEntries(texts.map((text) => text.split("=")));
    const others = (option, { table: { typed } }) => Object.entries(given).every(([key, value]) => key === option || typed[key] === value);
    return new Map(Object.keys(boards[0].table.typed).map((option) =>
      [option, [...new Set(boards.filter((board) => others(option, board)).map(({ table }) => table.typed[option]))]]));
  };

  /** Return the name of the level that an agent is at in the form, or null. */
  level_name = (game, agent) =>
    this.#game(game).description.table.form.levels.find((level) => level.agent === agent)?.name ?? null;

  without_implied = (kind, options) => R.fromJson(this.board(kind.prototype.name, options).facts.table.typed);

  // Agents

  make_agent = (name) => {
    const [kind, settings = ""] = name.split(/:(.*)/s);
    const make = Object.hasOwn(this.agents, kind) && this.agents[kind];
    if (!make) throw new R.ValueError(`${R.repr(name)} is not an agent of this page: expected one of ${Object.keys(this.agents).join(", ")}`);
    return make(new Map(settings.split(",").filter(Boolean).map((each) => each.split("="))), name);
  };

  choose = async (agent, name, game, view, rng) => [await inTime(agent.act(game, view, rng, this.isOver)), rng];

  advise = async (agent, name, game, view) => {
    const bytes = view.dtype.names.flatMap((name) => {
      const [offset, kind, shape] = view.fields[name], length = Number(kind[1]) * shape.reduce((a, b) => a * b, 1);
      return [...view.bytes.subarray(offset, offset + length)];
    });
    const rng = R.stream("", "advice", seenNumber(Uint8Array.from(bytes)));
    const found = await inTime((agent.analyse ?? searcher("plain")(new Map()).analyse)(game, view, rng, this.isOver));
    if (Array.isArray(found)) return found.map(({ action, value, proven }) => new this.code.MoveValue(action, value, proven));
    return this.code.searched({ visits: R.np.array(found.visits), values: R.np.array(found.values), best: found.best,
      proven_actions: R.np.array(found.provenActions) });
  };

  start({ game, options = [], players = ["person"], seed = "", board = null, moves = [], hint = null }) {
    const rules = this.parse_game(game, options);
    return new this.code.Start(rules, this.code.seats(rules, players), seed === "" ? null : Number(seed), board, moves, hint);
  }
}

/** Wait for an agent. One that does not answer, though its time is over, is an error of the worker, as is one that fails. */
async function inTime(answer) {
  const watch = setTimeout(() => {
    throw new Error("an agent does not answer");
  }, 2000 * SECONDS);
  try {
    return await answer;
  } finally {
    clearTimeout(watch);
  }
}

/** An agent's `act(game, view, rng, isOver)` returns an action; `analyse`, a search's result or moves with values. */
const randomAgent = { act: (game, view, rng) => sampleAction(game.maskOf(view).fill(0, game.resign_action < 0 ? Infinity : game.resign_action), rng) };

/** Return a function that makes agents which search: `simulations` or `seconds` are among the settings. */
export function searcher(wanted) {
  return (settings, name) => {
    for (const [key, value] of settings) {
      if (!["simulations", "seconds"].includes(key) || !(Number(value) > 0)) {
        throw new R.ValueError(`${R.repr(name)} is not an agent of this page: expected the setting simulations or seconds`);
      }
    }
    const seconds = Number(settings.get("seconds") ?? Infinity);
    const simulations = Number(settings.get("simulations") ?? (seconds < Infinity ? MOST_SIMULATIONS : 1000));
    async function analyse(game, view, rng, isOver) {
      const until = performance.now() + 1000 * seconds, kind = game.core.searches[wanted] ? wanted : "plain";
      return game.core.searchInPieces(view.bytes, { kind, simulations, seed: rng.raw(), earlyStop: true },
        () => isOver() || performance.now() > until);
    }
    return { analyse, act: async (...given) => (await analyse(...given)).best };
  };
}

/** Return the class of games: the rules are kernels, and everything else is known from the build. */
function gameClass(GameHooks, world) {
  return class Game extends GameHooks {
    constructor(options = new Map()) {
      super();
      const { core, facts } = world.board(this.name, options), { table } = facts;
      const fields = Object.assign({}, core.fields);
      Object.defineProperties(fields, { itemsize: { value: core.itemsize }, game: { value: this } });
      Object.assign(this, { core, fields, facts, options: R.fromJson(table.options), num_players: facts.players,
        num_actions: facts.actions.length, resign_action: facts.resign, planes: new Map(facts.planes.map((name) => [name, name])),
        perfect_information: !table.hidden, dtype: { names: Object.keys(fields) },
        ...Object.fromEntries(Object.entries(table.attributes).map(([name, value]) => [name, R.fromJson(value)])) });
      const [rows, cols] = facts.places;
      this.board = { shape: facts.shape, names: facts.cells, size: facts.cells.length, places: R.zip(rows, cols),
        rows: R.np.array(rows), cols: R.np.array(cols), neighbours: R.np.array(table.neighbours), edges: R.np.array(table.edges) };
      this.notation = new world.code.Notation(this.constructor.name, facts.actions, table.form, R.fromJson(table.other));
      this.cell_free_actions = new Map(facts.actions.flatMap((text, k) => (facts.action_cells[k].length ? [] : [[k, text]])));
      this.action_to_string = (action) => this.notation.write(action);
      this.string_to_action = (text) => this.notation.read(text);
    }

    static get explain() {
      return this.prototype.explain;
    }

    isEqual(other) {
      return other instanceof Game && other.facts === this.facts;
    }

    toRepr() {
      return this.facts.text;
    }

    states(bytes) {
      return new R.States(bytes, this.fields);
    }

    init(count, rng, board = null) {
      const streams = rng.seeds(count);
      if (board === null) return this.states(this.core.init(streams));
      const blank = this.states(new Uint8Array(count * this.core.itemsize));
      blank.set("viewer", -1);
      blank.set("last_action", -1);
      this._init(blank, streams, board);
      return blank;
    }

    step(states, actions) {
      const chosen = [...R.iter(actions)];
      try {
        this.core.step(states.bytes, chosen);
      } catch (error) {
        if (error.row === undefined) throw error;
        const { row } = error;
        throw new R.ValueError(world.code.why_illegal(this, states.take([row]), row, chosen[row]));
      }
    }

    maskOf(states) {
      return this.core.mask(states.bytes);
    }

    legal_action_mask(states) {
      return R.np.array([...this.maskOf(states)].map(Boolean)).reshape(-1, this.num_actions);
    }

    _legal_action_mask(states, out) {
      out.data = this.legal_action_mask(states).data;
    }

    view(states, player) {
      return this.states(this.core.view(states.bytes, player));
    }

    observe(views) {
      return R.np.array([...this.core.observe(views.bytes)]).reshape(views.shape[0], ...this.facts.observation);
    }

    determinize(views, rng) {
      return this.states(this.core.determinize(views.bytes, rng.seeds(views.shape[0])));
    }

    resample_start(starts, views, rng) {
      return this.determinize(starts, rng);
    }

    remove_player(state) {
      if (this.resign_action >= 0) this.step(state, [this.resign_action]);
      else if (!state.get(0).get("done")) this._remove_player(state);
    }

    action_cells(action) {
      return this.facts.action_cells[action];
    }

    board_to_string(state) {
      return this._board_to_string(recordOf(state));
    }

    scene(view) {
      return this._scene(recordOf(view), new Map());
    }

    seat(view, player) {
      return world.code.seat(this, recordOf(view), player);
    }

    status(view) {
      return world.code.status(this, recordOf(view));
    }
  };
}

const recordOf = (states) => (states instanceof R.States ? states.get(0) : states);
