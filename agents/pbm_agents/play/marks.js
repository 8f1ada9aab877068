// What a search thinks, drawn on the board: numbered marks at the upper corner of cells, arrows or lines beside pieces.

import { make, percent, signed, expected, svgElement } from "./dom.js";

const HEIGHT = 24; // of a mark, in hundredths of a cell

// Where the marks of a cell lie, one after the other: at its corners, between pieces, never on their middles.
const PLACES = { 4: [[0.8, 0], [0.2, 0], [0.8, 1], [0.2, 1]], 6: [[1, 0.25], [1, 0.75], [0, 0.25], [0, 0.75], [0.5, 1]] };

function box(cells, index) {
  const { x, y, width, height } = cells.cellOf(index).getBBox();
  const corners = cells.cellOf(index).getAttribute("points").trim().split(/\s+/).length;
  return { x, y, width, height, corners, midX: x + width / 2, midY: y + height / 2 };
}

function pill(x, y, text, best) {
  const width = 12 + 12.5 * text.length;
  return svgElement("g", { class: best ? "pbm-pill pbm-best" : "pbm-pill" },
    svgElement("rect", { x: x - width / 2, y: y - HEIGHT / 2, width, height: HEIGHT, rx: HEIGHT / 2 }),
    svgElement("text", { x, y: y + 0.3 * HEIGHT, "text-anchor": "middle", "font-size": 20 }, text));
}

// From the edge of one cell to the edge of the other, a little to the side of what stands between.
function line(from, to, rank) {
  const [dx, dy] = [to.midX - from.midX, to.midY - from.midY];
  const length = Math.hypot(dx, dy);
  const [ux, uy] = [dx / length, dy / length];
  const aside = 34;
  const at = (end, along) => [end.midX + along * ux - aside * uy, end.midY + along * uy + aside * ux];
  const [x1, y1] = at(from, 12);
  const [x2, y2] = at(to, -12);
  const head = [[x2 + 14 * ux, y2 + 14 * uy], [x2 - 14 * ux - 15 * uy, y2 - 14 * uy + 15 * ux],
    [x2 - 14 * ux + 15 * uy, y2 - 14 * uy - 15 * ux]];
  return svgElement("g", { class: `pbm-line pbm-rank-${rank}` },
    svgElement("line", { x1, y1, x2: x2 - 8 * ux, y2: y2 - 8 * uy }),
    svgElement("polygon", { points: head.map((point) => point.join(",")).join(" ") }));
}

// Draws the moves, best first, over the board. With `shares` each is numbered and has its share of the search.
export function drawMoves(cells, moves, shares) {
  const svg = cells.board.querySelector("svg");
  svg?.querySelector(".pbm-marks")?.remove();
  if (!svg || !moves.length) return;
  const layer = svgElement("g", { class: "pbm-marks", "pointer-events": "none", "aria-hidden": "true" });
  const used = new Map(); // cell -> marks on it so far
  const pills = [];
  moves.forEach((move, rank) => {
    if (!move.cells.length) return;
    const last = move.cells[move.cells.length - 1];
    if (move.cells.length === 2) layer.append(line(box(cells, move.cells[0]), box(cells, last), rank));
    else if (!used.has(last)) layer.append(frame(cells.cellOf(last), rank));
    const { x, y, width, height, corners } = box(cells, last);
    const before = used.get(last) ?? 0;
    used.set(last, before + 1);
    const letter = move.cells.length === 1 ? move.move.match(/[a-z]$/)?.[0] ?? "" : "";
    const text = shares ? `${letter}${letter && " "}${percent(move.share)}` : `${letter}${letter && " "}hint`;
    const places = PLACES[corners] ?? PLACES[4];
    const [right, down] = places[before % places.length];
    pills.push(pill(x + right * width, y + down * height, text, rank === 0));
  });
  layer.append(...pills); // above all lines
  svg.append(layer);
}

function frame(cell, rank) {
  return svgElement("polygon", { class: `pbm-frame pbm-rank-${rank}`, points: cell.getAttribute("points") });
}

// The table of the five best; pointing at a line, or reaching it by keys, lights its cells.
export function analysisTable(message, light, play) {
  if (!message.analysis) return [];
  const rows = message.analysis.map((move, rank) => {
    const cell = (tag, ...content) => make(tag, {}, ...content);
    const name = make("button", { type: "button", textContent: move.move, title: "play this move",
      onclick: () => play(move.move) });
    const row = make("tr", {}, cell("td", String(rank + 1)), cell("td", name), cell("td", percent(move.share)),
      cell("td", move.proven ? { "1": "wins", "-1": "loses" }[String(move.value)] ?? `proven ${signed(move.value)}`
        : expected(move.value)));
    row.onpointerenter = name.onfocus = () => light(move.cells);
    row.onpointerleave = name.onblur = () => light([]);
    return row;
  });
  const head = make("tr", {}, ...["", "Move", "Searched", "Result"].map((text) => make("th", { textContent: text,
    scope: "col" })));
  head.firstChild.replaceWith(make("td"));
  return [
    make("h3", { textContent: "Analysis" }),
    make("p", { className: "pbm-small",
      textContent: `${message.simulations.toLocaleString("en")} simulations; you can expect ${expected(message.value)}.` }),
    make("table", { className: "pbm-heat" }, make("thead", {}, head), make("tbody", {}, ...rows)),
  ];
}
