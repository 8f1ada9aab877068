// Pieces that slide, appear or leave while a position is drawn. The position is there at once, clicks never wait, and
// after `DURATION` nothing is left of it. Games are not asked: what has changed is read from the words for the cells, and
// the shapes of a piece are those inside its cell.

import { svgElement } from "./dom.js";

const DURATION = 150; // milliseconds
const MOST = 12; // cells that may change in one move
const SMALL = 0.6; // the size from which a piece grows, and to which one shrinks
const AT_REST = "translate(0px, 0px) scale(1, 1)";

export function motion(board) {
  let shown = null; // the position on the board
  let running = []; // effects: {element, animation, began, frames} with `ghosts`, shapes that have gone, or `shapes` and their `places`

  const drawing = () => board.querySelector("svg > g");
  const cellOf = (cell) => board.querySelector(`[data-cell="${cell}"]`);

  function middleOf(cell) {
    const { x, y, width, height } = cellOf(cell).getBBox();
    return [x + width / 2, y + height / 2];
  }

  // The shapes inside of cells, by cell, in the order of painting. Not by getBBox, which leaves a shape's own `transform` out.
  function shapesIn(cells) {
    const outlines = cells.map((cell) => cellOf(cell).getBoundingClientRect());
    const found = new Map(cells.map((cell) => [cell, []]));
    for (const shape of drawing().children) {
      const box = shape.getBoundingClientRect();
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      const at = outlines.findIndex((outline) => x > outline.left && x < outline.right && y > outline.top && y < outline.bottom
        && box.width < 1.1 * outline.width && box.height < 1.1 * outline.height);
      if (at >= 0) found.get(cells[at]).push(shape);
    }
    return found;
  }

  function animate(effect, elapsed = 0) {
    effect.began = performance.now() - elapsed;
    effect.animation = effect.element.animate(effect.frames, { duration: DURATION, easing: "ease-out", fill: "both" });
    effect.animation.currentTime = elapsed;
    effect.animation.onfinish = () => end(effect);
    running.push(effect);
  }

  function end(effect) {
    effect.animation.onfinish = null;
    effect.animation.cancel();
    effect.shapes?.forEach((shape, number) => effect.places[number].replaceWith(shape));
    effect.element.remove();
    running = running.filter((each) => each !== effect);
  }

  // Shapes of the new picture, above the others while they move.
  function lift(shapes, frames, elapsed) {
    if (!shapes.length) return;
    const htmls = shapes.map((shape) => shape.outerHTML);
    const places = shapes.map(() => document.createComment(""));
    shapes.forEach((shape, number) => shape.replaceWith(places[number]));
    const element = svgElement("g", {}, ...shapes);
    drawing().append(element);
    animate({ element, frames, shapes, places, htmls }, elapsed);
  }

  // Shapes of the old picture, until they have left.
  function haunt(ghosts, frames, elapsed) {
    if (!ghosts.length) return;
    const element = svgElement("g", { class: "pbm-ghost" }, ...ghosts);
    drawing().append(element);
    animate({ element, frames, ghosts }, elapsed);
  }

  const about = ([x, y], wide, high = wide) => `translate(${x * (1 - wide)}px, ${y * (1 - high)}px) scale(${wide}, ${high})`;

  // What is different between two positions: cells that were emptied or filled, or null if nothing is to move.
  function difference(before, message, still) {
    if (still || !before || matchMedia("(prefers-reduced-motion: reduce)").matches || !board.checkVisibility?.()) return null;
    const steps = Math.abs(message.ply - before.ply);
    const same = before.game === message.game && before.cells.length === message.cells.length && message.cells.length > 0;
    if (!same || steps < 1 || steps > message.players.length) return null;
    const changed = message.cells.map((_, cell) => cell).filter((cell) => before.cells[cell] !== message.cells[cell]);
    const emptied = changed.filter((cell) => message.cells[cell] === "");
    const filled = changed.filter((cell) => before.cells[cell] === "");
    if (!changed.length || emptied.length + filled.length > MOST) return null;
    return { changed, emptied, filled };
  }

  // Where a piece went, forth or back: a cell was emptied, another one filled; after a capture the move names the other.
  function slide({ changed, emptied, filled }, before, message) {
    if (emptied.length > 1 || filled.length > 1) return null;
    if (emptied.length + filled.length === 2) return [emptied[0], filled[0]];
    const latest = message.ply > before.ply ? message : before;
    const names = (latest.moves[latest.ply - 1]?.move ?? "").split(/[^a-zA-Z0-9]+/);
    const known = emptied[0] ?? filled[0];
    const other = changed.find((cell) => cell !== known && names.includes(cellOf(cell).textContent));
    if (other === undefined) return null;
    return emptied.length ? [known, other] : [other, known];
  }

  // Draws a position with `redraw`, and lets move what has moved since the last one.
  function draw(message, redraw, still = false) {
    const before = board.querySelector("svg [data-cell]") ? shown : null;
    const unfinished = still ? [] : running.map((effect) => [effect, performance.now() - effect.began])
      .filter(([, elapsed]) => elapsed < DURATION);
    for (const effect of [...running]) end(effect);
    shown = message;
    const found = difference(before, message, still);
    if (!found) return redraw();
    const outline = cellOf(0).getAttribute("points");
    const htmls = new Set([...drawing().children].map((shape) => shape.outerHTML));
    const gone = shapesIn(found.changed);
    redraw();
    if (!board.querySelector("svg [data-cell]") || cellOf(0).getAttribute("points") !== outline) return undefined; // turned, or of another size
    const path = slide(found, before, message);
    const current = new Set([...drawing().children].map((shape) => shape.outerHTML));
    const come = shapesIn(found.changed);
    const left = (cell) => gone.get(cell).filter((shape) => !current.has(shape.outerHTML));
    const arrived = (cell) => come.get(cell).filter((shape) => !htmls.has(shape.outerHTML));
    const fresh = new Set();
    if (path) {
      const [from, to] = path;
      const [start, goal] = path.map(middleOf);
      const [dx, dy] = [start[0] - goal[0], start[1] - goal[1]];
      const captured = before.cells[to] !== "";
      const turned = captured && before.cells[from] !== message.cells[to];
      if (captured) haunt(left(to), [{ opacity: 1 }, { opacity: 0 }]);
      const piece = arrived(to);
      piece.forEach((shape) => fresh.add(shape));
      if (turned) { // on edge half-way
        const edge = about(goal, 0.02, 1);
        lift(piece, [{ transform: `translate(${dx}px, ${dy}px) ${edge}`, opacity: 0 },
          { transform: `translate(${dx / 2}px, ${dy / 2}px) ${edge}`, opacity: 0, offset: 0.5 },
          { transform: `translate(${dx / 2}px, ${dy / 2}px) ${edge}`, opacity: 1, offset: 0.5 },
          { transform: `translate(0px, 0px) ${about(goal, 1)}`, opacity: 1 }]);
        haunt(left(from), [{ transform: `translate(0px, 0px) ${about(start, 1)}`, opacity: 1 },
          { transform: `translate(${-dx / 2}px, ${-dy / 2}px) ${about(start, 0.02, 1)}`, opacity: 1, offset: 0.5 },
          { transform: `translate(${-dx / 2}px, ${-dy / 2}px) ${about(start, 0.02, 1)}`, opacity: 0, offset: 0.5 },
          { transform: `translate(${-dx}px, ${-dy}px) ${about(start, 0.02, 1)}`, opacity: 0 }]);
      } else lift(piece, [{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "translate(0px, 0px)" }]);
    } else {
      for (const cell of found.filled) {
        const stone = arrived(cell);
        stone.forEach((shape) => fresh.add(shape));
        lift(stone, [{ transform: about(middleOf(cell), SMALL), opacity: 0 }, { transform: AT_REST, opacity: 1 }]);
      }
      for (const cell of found.emptied) {
        haunt(left(cell), [{ transform: AT_REST, opacity: 1 }, { transform: about(middleOf(cell), SMALL), opacity: 0 }]);
      }
    }
    resume(unfinished, fresh);
    return undefined;
  }

  // What had begun when the next position came, such as one's own move before a quick answer, goes on.
  function resume(unfinished, fresh) {
    for (const [{ ghosts, htmls, frames }, elapsed] of unfinished) {
      if (ghosts) haunt(ghosts, frames, elapsed);
      else {
        const left = new Set(htmls);
        lift([...drawing().children].filter((shape) => left.has(shape.outerHTML) && !fresh.has(shape)), frames, elapsed);
      }
    }
  }

  return { draw, moving: () => running.length > 0 };
}
