// A board to click on, for Jupyter (anywidget) and for the page of `pbm serve` (page.js). It knows no game: pictures,
// legal moves and their cells come as messages, which table.py describes.

const ASIDE = 1.5; // an arrow key goes to the nearest cell, sideways counted so often
const SHOWN = 12; // moves named at once

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const button = (text, onclick, properties = {}) =>
  make("button", { type: "button", textContent: text, onclick, ...properties });

function preferredTheme() {
  const jupyter = document.body.dataset.jpThemeLight;
  if (jupyter !== undefined) return jupyter === "true" ? "light" : "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function render({ model, el }) {
  let position = null; // the last one received
  let legal = []; // moves: {move, cells}
  let first = null; // the cell that has been clicked
  let focused = null; // the cell that keys move
  let waiting = false; // for an answer
  let theme = preferredTheme();

  const board = make("div", { className: "pbm-picture" });
  const chooser = make("div", { className: "pbm-chooser", hidden: true, role: "group", ariaLabel: "which move" });
  const under = make("p", { className: "pbm-under" });
  const headline = make("p", { className: "pbm-headline", role: "status" });
  const players = make("ul", { className: "pbm-players" });
  const words = make("div", { className: "pbm-row pbm-words" });
  const telling = make("p", { className: "pbm-telling", role: "alert", hidden: true });
  const thinking = make("table", { className: "pbm-heat", hidden: true });
  const moves = make("ol", { className: "pbm-moves", ariaLabel: "moves", tabIndex: 0 });
  const typed = make("input", { ariaLabel: "a move", placeholder: "or type a move", autocomplete: "off" });
  const form = make("details", { className: "pbm-new" }, make("summary", { textContent: "New game" }));

  const undo = button("Undo", () => send({ do: "undo" }));
  const hint = button("Hint", () => send({ do: "hint" }));
  const heat = button("Thinking", () => send({ do: "heat" }), { title: "what the agent thinks of your moves" });
  const resign = button("Resign", () => {
    if (resign.textContent === "Resign") resign.textContent = "Really resign?";
    else send({ do: "play", move: "resign" });
  }, { onblur: () => (resign.textContent = "Resign") });
  const save = button("Save", () => send({ do: "save" }), { title: "the record of the game" });
  const shade = button("◐", () => {
    theme = theme === "dark" ? "light" : "dark";
    send({ do: "hello", theme });
  }, { title: "dark or light colours", ariaLabel: "dark or light colours" });
  const entering = make("button", { textContent: "Play" });
  const writing = make("form", { className: "pbm-row", onsubmit: (event) => {
    event.preventDefault();
    if (typed.value.trim()) send({ do: "play", move: typed.value });
    typed.value = "";
  } }, typed, entering);

  const root = make("div", { className: "pbm" },
    make("div", { className: "pbm-main" }, board, under, chooser),
    make("div", { className: "pbm-side" },
      make("div", { className: "pbm-top" }, headline, shade), players, telling, words,
      make("div", { className: "pbm-row pbm-orders" }, undo, hint, heat, resign, save),
      writing, thinking, moves, form));
  root.dataset.lmSuppressShortcuts = "true"; // Jupyter's
  el.append(root);

  function send(message) {
    if (waiting && message.do !== "new") return;
    wait(true);
    root.dataset.turn = "";
    tell();
    model.send(message);
  }

  function wait(now) {
    waiting = now;
    headline.classList.toggle("pbm-busy", now || Boolean(position?.thinking));
  }

  function tell(kind = "", text = "") {
    telling.hidden = !text;
    telling.textContent = text;
    telling.className = `pbm-telling pbm-${kind}`;
  }

  // Cells and moves

  const cellOf = (index) => board.querySelector(`[data-cell="${index}"]`);
  const through = (cell) => legal.filter((move) => move.cells.includes(cell));
  const alone = (move) => move.cells.length === 1;

  function mark(name, cells) {
    for (const element of board.querySelectorAll(`.${name}`)) element.classList.remove(name);
    for (const cell of cells) cellOf(cell)?.classList.add(name);
  }

  function hover(cell) {
    let found = cell === null ? [] : through(cell);
    if (first !== null && cell !== first) {
      const both = found.filter((move) => move.cells.includes(first));
      if (both.length) found = both;
    }
    mark("pbm-hover", found.length ? [cell] : []);
    mark("pbm-through", found.flatMap((move) => move.cells).filter((other) => other !== cell));
    const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : "";
    under.textContent = found.slice(0, SHOWN).map((move) => move.move).join("  ") + more;
  }

  function select(cell) {
    first = cell;
    mark("pbm-first", cell === null ? [] : [cell]);
    mark("pbm-next", cell === null ? [] : through(cell).flatMap((move) => move.cells).filter((other) => other !== cell));
    chooser.hidden = true;
  }

  function play(move) {
    select(null);
    hover(null);
    send({ do: "play", move: move.move });
  }

  function choose(found, cell) {
    chooser.replaceChildren(...found.map((move) => button(move.move, () => play(move))));
    chooser.hidden = false;
    const over = through(cell).every(alone); // else it would hide cells that may be clicked next
    chooser.classList.toggle("pbm-over", over);
    chooser.style.left = chooser.style.top = "";
    if (over) place(cell);
    if (over && board.contains(document.activeElement)) chooser.firstChild.focus();
  }

  function place(cell) {
    const frame = chooser.parentElement.getBoundingClientRect();
    const outline = cellOf(cell).getBoundingClientRect();
    const left = (outline.left + outline.right - chooser.offsetWidth) / 2 - frame.left;
    chooser.style.left = `${Math.max(0, Math.min(left, frame.width - chooser.offsetWidth))}px`;
    chooser.style.top = `${outline.bottom - frame.top + 4}px`;
  }

  function click(cell) {
    const found = through(cell);
    if (first !== null && first !== cell) {
      const both = found.filter((move) => move.cells.includes(first));
      if (both.length === 1) return play(both[0]);
      if (both.length) return choose(both, cell);
    }
    const here = found.filter(alone);
    if (first === cell) return here.length === 1 && here.length < found.length ? play(here[0]) : select(null);
    if (!found.length) return select(null);
    if (here.length === 1 && found.length === 1) return play(here[0]);
    select(cell);
    if (here.length) choose(here, cell);
  }

  const indexOf = (event) => {
    const element = event.target.closest?.("[data-cell]");
    return element ? Number(element.dataset.cell) : null;
  };
  board.addEventListener("pointerover", (event) => hover(indexOf(event)));
  board.addEventListener("pointerleave", () => hover(null));
  board.addEventListener("click", (event) => {
    const cell = indexOf(event);
    if (cell === null) select(null);
    else click(cell);
  });
  board.addEventListener("focusin", (event) => {
    focus(indexOf(event) ?? focused);
    hover(focused);
  });
  board.addEventListener("focusout", () => hover(null));
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      select(null);
      cellOf(focused)?.focus();
    }
    const cell = indexOf(event);
    if (cell === null) return;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (arrow) neighbour(cell, arrow)?.focus();
    else if (event.key === "Enter" || event.key === " ") click(cell);
    else return;
    event.preventDefault();
  });

  function focus(cell) {
    cellOf(focused)?.setAttribute("tabindex", -1);
    focused = cell;
    cellOf(focused)?.setAttribute("tabindex", 0);
  }

  function neighbour(cell, [right, down]) {
    const middle = (element) => {
      const box = element.getBoundingClientRect();
      return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    };
    const [x, y] = middle(cellOf(cell));
    let best = null;
    let least = Infinity;
    for (const element of board.querySelectorAll("[data-cell]")) {
      const [toX, toY] = middle(element);
      const along = (toX - x) * right + (toY - y) * down;
      const aside = Math.abs((toX - x) * down) + Math.abs((toY - y) * right);
      if (along > 1 && aside < 2 * along && along + ASIDE * aside < least) {
        best = element;
        least = along + ASIDE * aside;
      }
    }
    return best;
  }

  // What is shown

  function showTurn() {
    root.dataset.turn = position?.done ? "over" : legal.length ? "mine" : "";
  }

  function show(message) {
    const hadFocus = board.contains(document.activeElement);
    position = message;
    legal = message.legal ?? [];
    root.dataset.theme = theme;
    showTurn();
    select(null);
    under.textContent = "";
    if (message.curtain) return draw_curtain();
    board.innerHTML = message.svg;
    for (const element of board.querySelectorAll("[data-cell]")) {
      const here = through(Number(element.dataset.cell));
      const name = element.textContent;
      const named = here.slice(0, SHOWN).map((move) => move.move).join(", ");
      element.setAttribute("tabindex", -1);
      element.setAttribute("role", "button");
      element.setAttribute("aria-label", here.length ? `${name}: ${named}` : name);
      element.classList.toggle("pbm-can", here.length > 0);
    }
    focus(focused !== null && cellOf(focused) ? focused : legal.find((move) => move.cells.length)?.cells[0] ?? 0);
    if (hadFocus) cellOf(focused)?.focus();
    mark("pbm-hint", message.hint?.cells ?? []);
    if (message.hint) tell("note", `The hint: ${message.hint.move}`);
    headline.textContent = message.headline;
    wait(false);
    players.replaceChildren(...message.players.map(draw_player));
    words.replaceChildren(...legal.filter((move) => !move.cells.length).map((move) => button(move.move, () => play(move))));
    if (message["hand over"]) words.append(button("Hide the board and hand over", () => send({ do: "hide" })));
    const mine = legal.length > 0;
    undo.disabled = !message["can undo"];
    hint.disabled = heat.disabled = resign.disabled = !mine;
    save.disabled = !message["can save"];
    save.title = message["can save"] ? "the record of the game" : "when the game is over: it tells what is hidden";
    resign.textContent = "Resign";
    heat.ariaPressed = String(message.heat !== null);
    typed.disabled = entering.disabled = !mine;
    draw_heat(message.heat);
    draw_moves(message);
  }

  function draw_curtain() {
    headline.textContent = `${position.curtain} is to move`;
    board.replaceChildren(make("div", { className: "pbm-curtain" },
      make("p", { textContent: `The board is hidden. ${position.curtain} sits down before it, and nobody else.` }),
      button(`I am ${position.curtain}`, () => send({ do: "sit" }))));
    for (const element of [players, words, moves]) element.replaceChildren();
    for (const element of [undo, hint, heat, resign, save, typed, entering]) element.disabled = true;
    thinking.hidden = true;
  }

  function draw_player(player) {
    const text = player.role ? `${player.name} (${player.role})` : player.name;
    const item = make("li", { textContent: text });
    item.classList.toggle("pbm-active", player["to move"]);
    if (player.return !== null) item.append(make("b", { textContent: ` ${player.return > 0 ? "+" : ""}${player.return}` }));
    return item;
  }

  function draw_moves(message) {
    moves.replaceChildren(...message.moves.map(({ move, player }, ply) => {
      const who = player === null ? "given" : message.players[player].name;
      const item = make("li", {}, make("span", { textContent: move }), make("small", { textContent: who }));
      item.classList.toggle("pbm-last", ply === message.moves.length - 1);
      return item;
    }));
    moves.scrollTop = moves.scrollHeight;
  }

  function draw_heat(rows) {
    thinking.hidden = rows === null;
    const line = (tag, texts) => make("tr", {}, ...texts.map((text) => make(tag, { textContent: text })));
    thinking.replaceChildren(line("th", ["move", "share", "value"]), ...(rows ?? []).map((row) => line("td", [
      row.move, `${(100 * row.share).toFixed(1)}%`,
      row.proven ? `proven ${row.value}` : `${row.value > 0 ? "+" : ""}${row.value.toFixed(2)}`])));
  }

  function setUp(message) {
    const agents = make("datalist", { id: `pbm-agents-${Math.random().toString(36).slice(2)}` });
    agents.append(...message.agents.map((name) => make("option", { value: name })));
    const game = make("select", { ariaLabel: "game" });
    game.append(...message.games.map(({ name }) => make("option", { textContent: name })));
    const about = make("p");
    const fields = make("div", { className: "pbm-fields" });
    const seed = make("input", { inputMode: "numeric", placeholder: "any" });
    const field = (name, input) => make("label", {}, make("span", { textContent: name }), input);
    const inputs = new Map(); // option -> its input
    let seats = [];

    function draw() {
      const chosen = message.games.find(({ name }) => name === game.value);
      const same = position?.game === chosen.name && position.options;
      about.textContent = chosen.about;
      inputs.clear();
      for (const option of chosen.options) {
        const input = option.choices.length ? make("select") : make("input", { placeholder: option.allowed });
        input.append(...option.choices.map((choice) => make("option", { textContent: choice })));
        input.value = same ? position.options[option.name] : option.default;
        input.title = option.allowed;
        inputs.set(option.name, input);
      }
      seats = [0, 1, 2].map((seat) => {
        const input = make("input", { value: (same && position.seats[seat]) || (seat ? message.agents[2] : "person") });
        input.setAttribute("list", agents.id);
        return input;
      });
      const rows = seats.map((input, seat) => field(`player_${seat}`, input));
      for (const row of rows) row.classList.add("pbm-seat");
      const count = () => Number(inputs.get("num_players")?.value ?? 2);
      const third = () => (rows[2].hidden = count() < 3);
      inputs.get("num_players")?.addEventListener("input", third);
      third();
      fields.replaceChildren(...rows, ...[...inputs].map(([name, input]) => field(name, input)), field("seed", seed));
    }
    game.onchange = draw;
    const ordering = make("form", { onsubmit: (event) => {
      event.preventDefault();
      const chosen = message.games.find(({ name }) => name === game.value);
      const changed = chosen.options.filter((option) => inputs.get(option.name).value.trim() !== option.default);
      send({
        do: "new",
        game: game.value,
        options: changed.map(({ name }) => `${name}=${inputs.get(name).value}`),
        players: seats.filter((input) => !input.parentElement.hidden).map((input) => input.value.trim()),
        seed: seed.value,
      });
    } }, field("game", game), about, fields, agents, make("button", { textContent: "Start" }));
    const summary = form.querySelector("summary");
    summary.onclick = () => { // it opens or closes only after this
      if (form.open || !position) return;
      game.value = position.game;
      draw();
    };
    form.replaceChildren(summary, ordering);
    draw();
  }

  function download({ name, text }) {
    const link = make("a", { download: name, href: URL.createObjectURL(new Blob([text], { type: "application/jsonl" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function receive(message) {
    wait(false);
    showTurn();
    if (message.type === "setup") setUp(message);
    else if (message.type === "position") show(message);
    else if (message.type === "record") download(message);
    else tell(message.type, message.text);
  }

  model.on("msg:custom", receive);
  root.dataset.theme = theme;
  model.send({ do: "hello", theme });
  return () => model.off("msg:custom", receive);
}

export default { render };
