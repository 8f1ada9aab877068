// The moves of the game: a line for each round, steps back and forth, and what could be expected at each of them.

import { button, expected, make, svgElement } from "./dom.js";

export function history({ look, branch, values }) {
  const body = make("tbody");
  const head = make("tr");
  const list = make("div", { className: "pbm-moves", tabIndex: 0, role: "region", ariaLabel: "moves" },
    make("table", {}, make("thead", {}, head), body));
  const steps = {
    start: button("|◀", () => go(0), { ariaLabel: "to the start", title: "to the start" }),
    back: button("◀", () => go(wanted - 1), { ariaLabel: "one move back", title: "one move back (←)" }),
    forth: button("▶", () => go(wanted + 1), { ariaLabel: "one move on", title: "one move on (→)" }),
    end: button("▶|", () => go(last), { ariaLabel: "to the last position", title: "to the last position" }),
  };
  const onwards = button("Play on from here", () => branch(shown), { hidden: true,
    title: "as a new game; what was hidden from you then is drawn anew" });
  const estimate = button("Chances", () => values(), { title: "what you could expect at each position" });
  const chart = make("div", { className: "pbm-chart", hidden: true });
  const turn = make("p", { className: "pbm-turn", hidden: true });
  const section = make("section", { className: "pbm-history", ariaLabel: "History" },
    make("h2", { textContent: "Moves" }),
    make("div", { className: "pbm-row pbm-steps" }, ...Object.values(steps), estimate), list, chart, turn,
    make("div", { className: "pbm-row" }, onwards));
  let shown = 0;
  let wanted = 0; // ahead of `shown` until the answer to a step has come
  let last = 0;

  function go(ply) {
    if (ply < 0 || ply > last) return;
    wanted = ply;
    look(ply === last ? null : ply);
  }

  function show(message, off) {
    shown = wanted = message.ply;
    last = message.plies;
    section.hidden = !last;
    const hadFocus = section.contains(document.activeElement) ? document.activeElement : null;
    const seats = message.players.length;
    const names = message.players.map(({ role, name }) => role || name);
    head.replaceChildren(make("td"), ...shortened(names).map((name, seat) =>
      make("th", { scope: "col", textContent: name, title: names[seat] })));
    const rows = rounds(message.moves, seats);
    body.replaceChildren(...rows.map((row, number) => make("tr", {},
      make("th", { scope: "row", textContent: `${number + 1}.` }), ...row.map((entry) => make("td", {}, ...entry.map(move))))));
    function move({ move: text, ply, given }) {
      const element = button(text, () => go(ply), { title: given ? "given" : "" });
      element.dataset.ply = ply;
      element.classList.toggle("pbm-given", given);
      element.classList.toggle("pbm-new-ply", message.since.length > 0 && ply > last - sinceCount(message));
      if (ply === shown) element.setAttribute("aria-current", "true");
      return element;
    }
    if (hadFocus?.dataset.ply) list.querySelector(`[data-ply="${shown}"]`)?.focus({ preventScroll: true });
    const current = list.querySelector("[aria-current]");
    if (current) list.scrollTop += middleOf(current) - middleOf(list);
    else list.scrollTop = shown ? list.scrollHeight : 0;
    steps.start.disabled = steps.back.disabled = off || shown === 0;
    steps.forth.disabled = steps.end.disabled = off || shown === last;
    if (hadFocus?.disabled) (shown === last ? steps.back : steps.forth).focus();
    onwards.hidden = shown === last || Boolean(message.watching && !message.watching.opened);
    estimate.disabled = off || Boolean(message.thinking);
    draw(message);
    drawTurn(message.turn, rows);
  }

  // The move at which a finished game turned.
  function drawTurn(found, rows) {
    turn.hidden = !found;
    if (!found) return;
    const better = found.choice === found.move ? "" : ` The champion would have played ${found.choice}.`;
    const number = rows.findIndex((row) => row.flat().some(({ ply }) => ply === found.ply)) + 1;
    const whose = found.player === "You" ? "your move" : `a move of ${found.player}`;
    turn.replaceChildren("The game turned at ", button(`${number}. ${found.move}`, () => go(found.ply)),
      `, ${whose}: you could expect ${expected(found.before)} before it and ${expected(found.after)} after it.${better}`);
  }

  // Plies of the others since one's own last move.
  function sinceCount(message) {
    const own = message.moves.map(({ player }) => player).lastIndexOf(message.seat);
    return message.moves.length - 1 - own;
  }

  function draw({ values, ply }) {
    const known = values.map((value, at) => [at, value]).filter(([, value]) => value !== null);
    chart.hidden = known.length < 2;
    if (chart.hidden) return;
    const width = Math.max(1, values.length);
    const bars = known.map(([at, value]) => svgElement("rect", { x: at, width: 0.8, y: 50 - 50 * Math.max(0, value),
      height: Math.max(1, 50 * Math.abs(value)), class: value < 0 ? "pbm-less" : "pbm-better" }));
    const now = svgElement("rect", { x: ply, width: 0.8, y: 0, height: 100, class: "pbm-now" });
    const picture = svgElement("svg", { viewBox: `0 0 ${width} 100`, preserveAspectRatio: "none", role: "img" }, now, ...bars);
    const [first, end] = [known[0][1], known[known.length - 1][1]];
    picture.setAttribute("aria-label", `what you could expect: ${expected(first)} at first, ${expected(end)} in the end`);
    picture.onclick = (event) => {
      const frame = picture.getBoundingClientRect();
      go(Math.min(last, Math.floor(((event.clientX - frame.left) / frame.width) * width)));
    };
    const at = values[ply];
    chart.replaceChildren(picture, make("span", { textContent: at === null || at === undefined ? "" : `you could expect ${expected(at)} at this position` }));
  }

  function key(event) {
    if (event.target.matches("input, select, textarea") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft" && last) go(wanted - 1);
    else if (event.key === "ArrowRight" && last) go(wanted + 1);
    else return;
    event.preventDefault();
  }

  return { section, show, key };
}

// The names of players without the settings of agents, if these differ without; board.css cuts what is still too long.
function shortened(names) {
  const short = names.map((name) => name.replace(/[,:].*?( \(\d+\))?$/, "$1"));
  return new Set(short).size === names.length ? short : names.map((name) => name.replace(" simulations", ""));
}

function middleOf(element) {
  const box = element.getBoundingClientRect();
  return (box.top + box.bottom) / 2;
}

// A round has a place for each seat; a seat that moves twice in a row begins a new one, one that does not leaves a gap.
function rounds(moves, seats) {
  const rows = [];
  let next = seats; // the first seat that has not moved in this round
  moves.forEach(({ move, player, given }, index) => {
    if (player < next || !rows.length) rows.push(Array.from({ length: seats }, () => []));
    rows[rows.length - 1][player].push({ move, given, ply: index + 1 });
    next = player + 1;
  });
  return rows;
}
