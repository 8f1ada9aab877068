// What a search thinks, drawn on the board: numbers on empty cells or at the corners of cells, arrows in the gaps between
// pieces, rings around lines.

import { make, signed, expected, svgElement } from "./dom.js";

const HEIGHT = 24; // of a mark at a corner, in hundredths of a cell, or more: its letters have LEGIBLE pixels
const LARGE = 56; // of a mark on an empty cell, if its text is short enough
const LEGIBLE = 12; // pixels of a letter: where a word would be smaller, its letter stands alone, or a "!"
const HEAD = { long: 20, half: 13 }; // of an arrow
const EDGE = { straight: 38, diagonal: 53 }; // from the middle of a cell to the edge of its piece

// Where the marks of a cell lie, one after the other: at its corners, between pieces, never on their middles.
const PLACES = { 4: [[0.8, 0], [0.2, 0], [0.8, 1], [0.2, 1]], 6: [[1, 0.25], [1, 0.75], [0, 0.25], [0, 0.75], [0.5, 1]] };

function box(cells, index) {
  const { x, y, width, height } = cells.cellOf(index).getBBox();
  const corners = cells.cellOf(index).getAttribute("points").trim().split(/\s+/).length;
  return { x, y, width, height, corners, midX: x + width / 2, midY: y + height / 2 };
}

const pillWidth = (text, height) => height * Math.max(1, 0.5 + 0.52 * text.length);

function pill(x, y, text, best, height = HEIGHT) {
  const width = pillWidth(text, height);
  return svgElement("g", { class: best ? "pbm-pill pbm-best" : "pbm-pill" },
    svgElement("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: height / 2 }),
    svgElement("text", { x, y: y + 0.3 * height, "text-anchor": "middle", "font-size": height / 1.2 }, text));
}

// From the edge of the piece to that of the piece it captures, or into the empty cell.
function arrow(from, to, taken, rank) {
  const [dx, dy] = [to.midX - from.midX, to.midY - from.midY];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const edge = Math.min(Math.abs(ux), Math.abs(uy)) < 0.1 ? EDGE.straight : EDGE.diagonal;
  const at = (along, across = 0) => [from.midX + along * ux - across * uy, from.midY + along * uy + across * ux];
  const tip = length - (taken ? edge : 12);
  const [x1, y1] = at(edge);
  const [x2, y2] = at(Math.max(edge, tip - 0.7 * HEAD.long));
  const head = [at(tip), at(tip - HEAD.long, HEAD.half), at(tip - HEAD.long, -HEAD.half)];
  return svgElement("g", { class: `pbm-line pbm-rank-${rank}` },
    svgElement("line", { x1, y1, x2, y2 }),
    svgElement("polygon", { points: head.map((point) => point.join(",")).join(" ") }));
}

// Around all cells from one end to the other; each further line is narrower, so that all are seen.
function ring(from, to, rank) {
  const radius = 48 - 5 * rank;
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

export const rankOf = (_, rank) => String(rank + 1);

// Draws the moves, best first, over the board, each with a word beside its letter, or none.
export function drawMoves(cells, moves, wordFor) {
  const svg = cells.board.querySelector("svg");
  svg?.querySelector(".pbm-marks")?.remove();
  if (!svg || !moves.length) return;
  const layer = svgElement("g", { class: "pbm-marks", "pointer-events": "none", "aria-hidden": "true" });
  const framed = new Set();
  const pills = [];
  const { x: left, width: wide } = svg.viewBox.baseVal;
  const placed = []; // the middles and widths of pills so far
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
    const word = wordFor(move, rank);
    const free = cells.isEmpty(last);
    const full = letter === word ? letter : letter + (word.length > 1 && letter ? ` ${word}` : word);
    const pixels = cells.cellOf(last).getBoundingClientRect().width / ends[0].width;
    const small = word.length > 1 && free && ends.length === 1 && pixels * 0.8 * ends[0].width / pillWidth(full, 1) < LEGIBLE;
    const text = small ? letter || "!" : full;
    if (!text) return;
    const twins = moves.filter((other) => other.cells.length === 1 && other.cells[0] === last).length > 1;
    const most = 0.95 * ends[ends.length - 1].width / pillWidth(text, 1);
    const height = free && ends.length === 1 ? Math.min(twins ? 44 : LARGE, most) : Math.max(HEIGHT, 1.2 * LEGIBLE / pixels);
    const width = pillWidth(text, height);
    const apart = ([x, y]) => placed.every((each) =>
      Math.abs(each.x - x) > (each.width + width) / 2 || Math.abs(each.y - y) > (each.height + height) / 2);
    const inside = ([x]) => x - width / 2 > left && x + width / 2 < left + wide;
    const places = placesFor(ends[ends.length - 1], free, ends.length === 2 && ends[0], twins, width - height).filter(inside);
    const [x, y] = places.find(apart) ?? places[0];
    placed.push({ x, y, width, height });
    pills.push(pill(x, y, text, rank === 0, height));
  });
  layer.append(...pills); // above all lines
  svg.append(layer);
}

// Where the label of a move may stand, the best place first: on an empty cell, beyond the arrow that comes `from` another;
// else in the corners, between pieces, from which one that is `longer` than high reaches outwards.
function placesFor({ x, y, width, height, corners, midX, midY }, free, from, twins, longer) {
  const around = (PLACES[corners] ?? PLACES[4])
    .map(([right, down]) => [x + right * width + Math.sign(right - 0.5) * longer / 2, y + down * height]);
  if (!free) return around;
  const beyond = from && from.midY > midY + 1 ? -26 : 26;
  const middles = [[midX, midY + beyond], [midX, midY - beyond]];
  const inside = from || twins ? middles : [[midX, midY]];
  return [...inside, ...around];
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
    const row = make("tr", {}, cell("td", String(rank + 1)), cell("td", name), cell("td", move.proven ? { "1": "wins", "-1": "loses" }[String(move.value)] ?? `proven ${signed(move.value)}`
        : expected(move.value)));
    row.onpointerenter = name.onfocus = () => light(along(cells, move));
    row.onpointerleave = name.onblur = () => light([]);
    return row;
  });
  const head = make("tr", {}, ...["", "Move", "Expected"].map((text) => make("th", { textContent: text,
    scope: "col" })));
  head.firstChild.replaceWith(make("td"));
  return [
    make("h2", { textContent: "Analysis" }),
    make("p", { className: "pbm-small",
      textContent: `You can expect ${expected(message.analysis[0].value)}: 100% is a win, 50% a draw or an open game.` }),
    make("table", { className: "pbm-heat" }, make("thead", {}, head), make("tbody", {}, ...rows)),
  ];
}
