// What a search thinks, drawn on the board: numbers on empty cells or at the corners of cells, arrows in the gaps between
// pieces, rings around lines.

import { make, percent, signed, expected, svgElement } from "./dom.js";

const HEIGHT = 24; // of a mark at a corner, in hundredths of a cell
const LARGE = 32; // of a mark on an empty cell
const GAP = 47; // from the middle of a cell to the gap beside its piece
const HEAD = { long: 26, half: 12 }; // of an arrow

// Where the marks of a cell lie, one after the other: at its corners, between pieces, never on their middles.
const PLACES = { 4: [[0.8, 0], [0.2, 0], [0.8, 1], [0.2, 1]], 6: [[1, 0.25], [1, 0.75], [0, 0.25], [0, 0.75], [0.5, 1]] };

function box(cells, index) {
  const { x, y, width, height } = cells.cellOf(index).getBBox();
  const corners = cells.cellOf(index).getAttribute("points").trim().split(/\s+/).length;
  return { x, y, width, height, corners, midX: x + width / 2, midY: y + height / 2 };
}

function pill(x, y, text, best, height = HEIGHT) {
  const width = height * (0.5 + 0.52 * text.length);
  return svgElement("g", { class: best ? "pbm-pill pbm-best" : "pbm-pill" },
    svgElement("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 }),
    svgElement("text", { x, y: y + 0.3 * height, "text-anchor": "middle", "font-size": height / 1.2 }, text));
}

// Through the gaps between pieces: along rows and columns beside them, on diagonals from corner to corner. `taken`: the
// arrow ends before the piece that stands on its last cell.
function arrow(from, to, taken, rank) {
  const [dx, dy] = [to.midX - from.midX, to.midY - from.midY];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const straight = Math.min(Math.abs(ux), Math.abs(uy)) < 0.1;
  const aside = straight ? GAP : 0;
  const at = (along, across = 0) =>
    [from.midX + along * ux - (aside + across) * uy, from.midY + along * uy + (aside + across) * ux];
  const start = straight ? 0 : 54;
  const tip = length + (straight ? (taken ? -30 : 5) : (taken ? -52 : -15));
  const [x1, y1] = at(start);
  const [x2, y2] = at(tip - 0.7 * HEAD.long);
  const head = [at(tip), at(tip - HEAD.long, HEAD.half), at(tip - HEAD.long, -HEAD.half)];
  return svgElement("g", { class: `pbm-line pbm-rank-${rank}` },
    svgElement("line", { x1, y1, x2, y2 }),
    svgElement("polygon", { points: head.map((point) => point.join(",")).join(" ") }));
}

// Around all cells from one end to the other; further lines are a little narrower, so that both are seen.
function ring(from, to, rank) {
  const radius = 47 - 2.5 * rank;
  const [dx, dy] = [to.midX - from.midX, to.midY - from.midY];
  const turn = `translate(${from.midX} ${from.midY}) rotate(${(Math.atan2(dy, dx) * 180) / Math.PI})`;
  return svgElement("rect", { class: `pbm-ring pbm-rank-${rank}`, transform: turn, x: -radius, y: -radius,
    width: Math.hypot(dx, dy) + 2 * radius, height: 2 * radius, rx: radius });
}

// The cells of a move and those between its ends, if it is a line and no piece that moves.
function along(cells, move) {
  if (move.cells.length !== 2 || cells.movesPiece(move)) return move.cells;
  const [from, to] = move.cells.map((cell) => box(cells, cell));
  const [dx, dy] = [to.midX - from.midX, to.midY - from.midY];
  const length = Math.hypot(dx, dy);
  return cells.all().filter((cell) => {
    const { midX, midY } = box(cells, cell);
    const [x, y] = [midX - from.midX, midY - from.midY];
    const onwards = (x * dx + y * dy) / length;
    return Math.abs(x * dy - y * dx) / length < 10 && onwards > -10 && onwards < length + 10;
  });
}

export const shareOf = (move) => percent(move.share);

// Draws the moves, best first, over the board, each with a word beside its letter, or none.
export function drawMoves(cells, moves, wordFor) {
  const svg = cells.board.querySelector("svg");
  svg?.querySelector(".pbm-marks")?.remove();
  if (!svg || !moves.length) return;
  const layer = svgElement("g", { class: "pbm-marks", "pointer-events": "none", "aria-hidden": "true" });
  const used = new Map(); // cell -> marks on it so far
  const framed = new Set();
  const pills = [];
  moves.forEach((move, rank) => {
    if (!move.cells.length) return;
    const last = move.cells[move.cells.length - 1];
    const ends = move.cells.map((cell) => box(cells, cell));
    if (ends.length === 2) {
      layer.append(cells.movesPiece(move) ? arrow(...ends, !cells.isEmpty(last), rank) : ring(...ends, rank));
    } else if (!framed.has(last)) {
      framed.add(last);
      layer.append(frame(cells.cellOf(last), rank));
    }
    const letter = ends.length === 1 ? move.move.match(/[a-z]$/)?.[0] ?? "" : "";
    const text = [...new Set([letter, wordFor(move)])].filter(Boolean).join(" ");
    if (!text) return;
    const before = used.get(last) ?? 0;
    used.set(last, before + 1);
    const { x, y, width, height, corners, midX, midY } = ends[ends.length - 1];
    if (ends.length === 1 && cells.isEmpty(last)) { // nothing stands there
      const both = moves.filter((other) => other.cells.length === 1 && other.cells[0] === last).length > 1;
      pills.push(pill(midX, midY + (both ? (before - 0.5) * (LARGE + 2) : 0), text, rank === 0, LARGE));
    } else {
      const places = PLACES[corners] ?? PLACES[4];
      const [right, down] = places[before % places.length];
      pills.push(pill(x + right * width, y + down * height, text, rank === 0));
    }
  });
  layer.append(...pills); // above all lines
  svg.append(layer);
}

function frame(cell, rank) {
  return svgElement("polygon", { class: `pbm-frame pbm-rank-${rank}`, points: cell.getAttribute("points") });
}

// The table of the five best; pointing at a line, or reaching it by keys, lights its cells.
export function analysisTable(message, cells, play) {
  if (!message.analysis) return [];
  const light = (lit) => cells.mark("pbm-lit", lit);
  const rows = message.analysis.map((move, rank) => {
    const cell = (tag, ...content) => make(tag, {}, ...content);
    const name = make("button", { type: "button", textContent: move.move, title: "play this move",
      onclick: () => play(move.move) });
    const row = make("tr", {}, cell("td", String(rank + 1)), cell("td", name), cell("td", percent(move.share)),
      cell("td", move.proven ? { "1": "wins", "-1": "loses" }[String(move.value)] ?? `proven ${signed(move.value)}`
        : expected(move.value)));
    row.onpointerenter = name.onfocus = () => light(along(cells, move));
    row.onpointerleave = name.onblur = () => light([]);
    return row;
  });
  const head = make("tr", {}, ...["", "Move", "Searched", "Result"].map((text) => make("th", { textContent: text,
    scope: "col" })));
  head.firstChild.replaceWith(make("td"));
  return [
    make("h2", { textContent: "Analysis" }),
    make("p", { className: "pbm-small",
      textContent: `${message.simulations.toLocaleString("en")} simulations; you can expect ${expected(message.value)}.` }),
    make("table", { className: "pbm-heat" }, make("thead", {}, head), make("tbody", {}, ...rows)),
  ];
}
