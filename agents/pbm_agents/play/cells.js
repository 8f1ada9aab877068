// The board: cells that are clicked, pointed at, or reached by keys. It is a grid for screen readers.

import { button, make, svgElement } from "./dom.js";
import { motion } from "./motion.js";

const ASIDE = 1.5; // an arrow key goes to the nearest cell, sideways counted so often
const SHOWN = 12; // moves named at once to who cannot see them
const LISTED = 4; // moves named under the board: more are no help

const LEAST = 24; // pixels of a cell that one tap is enough for (WCAG 2.5.8)

export function boardOfCells({ root, play, reply, refuse, explain }) {
  const board = make("div", { className: "pbm-picture" });
  const chooser = make("div", { className: "pbm-chooser", hidden: true, role: "group", ariaLabel: "which move" });
  const under = make("p", { className: "pbm-under" });
  let legal = []; // moves: {move, cells, call}
  let cellTexts = []; // what stands on each cell, in words
  let first = null; // the cell that has been clicked
  let focused = null; // the cell that keys move
  let pointed = false; // the last cell was clicked, not reached by keys
  const pieces = motion(board);
  let shown = ""; // the position that is drawn, as text

  const cellOf = (index) => board.querySelector(`[data-cell="${index}"]`);
  const nameOf = (index) => cellOf(index)?.dataset.name ?? "";
  const through = (cell) => legal.filter((move) => move.cells.includes(cell));
  const alone = (move) => move.cells.length === 1;

  function mark(name, cells) {
    for (const element of board.querySelectorAll(`.${name}`)) element.classList.remove(name);
    for (const cell of cells) cellOf(cell)?.classList.add(name);
  }

  const isSmall = (cell) => {
    const box = cellOf(cell).getBoundingClientRect();
    return Math.min(box.width, box.height) < LEAST;
  };

  function hover(cell, byKey = false) {
    let found = cell === null ? [] : through(cell);
    if (first !== null && cell !== first) {
      const both = found.filter((move) => move.cells.includes(first));
      if (both.length) found = both;
    }
    mark("pbm-hover", found.length && !byKey ? [cell] : []); // the focus has a mark of its own
    mark("pbm-through", found.flatMap((move) => move.cells).filter((other) => other !== cell));
    if (first === null || (cell !== null && cell !== first)) under.textContent = found.length > LISTED ? "" : found.map((move) => move.move).join("  ");
  }

  function select(cell) {
    first = cell;
    mark("pbm-first", cell === null ? [] : [cell]);
    mark("pbm-next", cell === null ? [] : through(cell).flatMap((move) => move.cells).filter((other) => other !== cell));
    chooser.hidden = true;
    under.textContent = "";
    explain(cell === null ? [] : [cell]);
    for (const element of board.querySelectorAll('[role="gridcell"]')) {
      element.setAttribute("aria-selected", String(Number(element.dataset.cell) === cell));
    }
  }

  function finish(move) {
    if (chooser.contains(document.activeElement)) cellOf(focused)?.focus(); // the chooser goes away
    select(null);
    hover(null);
    play(move.move);
  }

  function choose(found, cell) {
    // the cell is seen, so that what is placed there is enough to read
    const name = nameOf(cell);
    chooser.replaceChildren(...(found.length > 1 ? [] : ["Click a marked cell, or "]), ...found.map((move) => {
      const short = move.call.startsWith(name) && move.call !== name;
      const word = short ? move.call.slice(name.length) : move.call;
      return button(found.length > 1 ? word : `only ${word}`, () => finish(move), short ? { ariaLabel: move.call } : {});
    }));
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
    chooser.style.top = `${Math.min(outline.bottom - frame.top + 4, frame.height - chooser.offsetHeight)}px`;
  }

  function click(cell) {
    if (refuse()) return undefined;
    const found = through(cell);
    if (first !== null && first !== cell) {
      const both = found.filter((move) => move.cells.includes(first));
      if (both.length === 1) return finish(both[0]);
      if (both.length) return choose(both, cell);
    }
    const here = found.filter(alone);
    if (first === cell) {
      return here.length === 1 && (here.length < found.length || isSmall(cell)) ? finish(here[0]) : select(null);
    }
    if (!found.length) {
      const from = first;
      select(null);
      explain(from === null ? [cell] : [from, cell], () => reply(nameOf(cell), cellTexts[cell] ?? "", from === null ? "" : nameOf(from)));
      return undefined;
    }
    if (here.length === 1 && found.length === 1 && !(pointed && isSmall(cell))) return finish(here[0]);
    select(cell);
    if (here.length === 1 && found.length === 1) {
      under.textContent = `${here[0].move}: the same cell once more plays it`;
      return undefined;
    }
    if (!here.length) under.textContent = "Now click one of the marked cells.";
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
  board.addEventListener("pointerdown", () => (pointed = true));
  board.addEventListener("focusin", (event) => {
    focus(indexOf(event) ?? focused);
    if (!pointed) hover(focused, true);
  });
  board.addEventListener("focusout", () => hover(null));
  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && first !== null) {
      select(null);
      cellOf(focused)?.focus();
    }
    if (["Tab", "Enter", " "].includes(event.key)) pointed = false;
    const cell = indexOf(event);
    if (cell === null || pointed) return; // after a click, arrows go through the history
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (arrow) neighbour(cell, arrow)?.focus();
    else if (event.key === "Enter" || event.key === " ") click(cell);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function focus(cell) {
    cellOf(focused)?.setAttribute("tabindex", -1);
    focused = cell;
    cellOf(focused)?.setAttribute("tabindex", 0);
  }

  const middle = (element) => {
    const box = element.getBoundingClientRect();
    return [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  };

  function neighbour(cell, [right, down]) {
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

  // Cells of the same height become a row of a grid, from the top, each from the left.
  function makeGrid(title) {
    const svg = board.querySelector("svg");
    const group = board.querySelector("[data-cell]")?.parentElement;
    svg.setAttribute("role", "presentation");
    svg.removeAttribute("aria-label");
    if (!group) return;
    group.setAttribute("role", "grid");
    group.setAttribute("aria-label", title);
    const rows = new Map();
    for (const element of [...board.querySelectorAll("[data-cell]")]) {
      const box = element.getBBox();
      const y = Math.round((box.y + box.height / 2) / 10);
      if (!rows.has(y)) rows.set(y, []);
      rows.get(y).push([box.x, element]);
    }
    for (const y of [...rows.keys()].sort((a, b) => a - b)) {
      const cells = rows.get(y).sort(([a], [b]) => a - b).map(([, element]) => element);
      group.append(svgElement("g", { role: "row" }, ...cells));
    }
  }

  function label(element) {
    const index = Number(element.dataset.cell);
    const here = through(index);
    const moves = here.slice(0, SHOWN).map((move) => move.move).join(", ");
    const text = cellTexts[index] ? `${element.dataset.name}, ${cellTexts[index]}` : `${element.dataset.name}, empty`;
    const plain = cellTexts.length ? text : element.dataset.name;
    element.setAttribute("aria-label", here.length ? `${plain}; moves: ${moves}` : plain);
  }

  // Shows a position; everything that was marked is gone. Pieces do not move if positions come faster than they could.
  // A position that is shown already stays, with what was chosen: another board may only have come or gone. Returns
  // whether anything was drawn.
  function show(message, still = false) {
    const wanted = JSON.stringify([message.title, message.plies, message.svg, message.legal, message.cells, message.since]);
    if (wanted === shown) return false;
    shown = wanted;
    const had = board.contains(document.activeElement);
    legal = message.legal;
    cellTexts = message.cells;
    chooser.hidden = true;
    under.textContent = "";
    pieces.draw(message, () => (board.innerHTML = message.svg), still || (pieces.moving() && message.ply !== message.plies));
    for (const element of board.querySelectorAll("[data-cell]")) {
      const here = through(Number(element.dataset.cell));
      element.dataset.name = element.textContent;
      element.querySelector("title")?.remove(); // it would hide the label, and pop up over the board
      element.setAttribute("tabindex", -1);
      element.setAttribute("role", "gridcell");
      element.classList.toggle("pbm-can", here.length > 0);
      // pieces to move are seen before anybody points at them; an empty cell that can be filled needs no mark
      element.classList.toggle("pbm-own", here.length > 0 && startsHere(here, Number(element.dataset.cell)));
      label(element);
    }
    makeGrid(`${message.title}, board`);
    select(null);
    mark("pbm-since", message.since);
    focus(focused !== null && cellOf(focused) ? focused : legal.find((move) => move.cells.length)?.cells[0] ?? 0);
    if (had) cellOf(focused)?.focus();
    return true;
  }

  // A piece of one's own goes from the first cell to the second; else the two are the ends of a line.
  const movesPiece = ({ cells }) => cells.length === 2 && Boolean(cellTexts[cells[0]]?.startsWith("own"));
  const startsHere = (moves, cell) => moves.every((move) => move.cells.length === 2)
    && moves.some((move) => move.cells[0] === cell && movesPiece(move));

  function clear(content) {
    legal = [];
    shown = "";
    under.textContent = "";
    chooser.hidden = true;
    board.replaceChildren(content);
  }

  const all = () => [...board.querySelectorAll("[data-cell]")].map((element) => Number(element.dataset.cell));
  const isEmpty = (cell) => cellTexts[cell] === ""; // never in a game that does not say what stands on its cells

  return { board, chooser, under, show, clear, mark, all, cellOf, isEmpty, movesPiece, focusCell: () => cellOf(focused)?.focus() };
}
