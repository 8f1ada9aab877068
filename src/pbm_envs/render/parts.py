"""Parts of scenes that several games draw: cells, marks, players, actions without a cell, heat.

Colours are names of a theme. `unit` is the size of a cell and scales everything around the board. (x, y) is the middle
of a shape. `heat` maps actions to numbers from -1 to 1, and `where` maps them to the cells that they name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import cos, hypot, pi, sin, sqrt

import numpy as np
from numpy.typing import ArrayLike

from ..core.checks import quoted
from ..core.scene import Circle, Heat, Label, Line, Point, Points, Polygon, Seat, Shape

ROOT3 = sqrt(3)
CORNER = 1 / ROOT3
"""The distance from the centre of a hexagon to a corner if the centres of neighbours are 1 apart."""
FAINTEST = 0.02
"""The share of the greatest heat below which heat is not drawn."""
LETTERED = 0.35
"""The share of the greatest heat from which heat is marked with the letter of its action."""


def warmth(heat: ArrayLike, actions: int) -> Heat:
    """Return each number of `heat` (actions,) as a share of the greatest absolute one, if it is at least `FAINTEST`.

    Masked and non-finite entries are ignored. Raises ValueError for another shape.
    """
    try:
        given = np.ma.masked_invalid(np.ma.asarray(heat).astype(np.float64))
    except Exception:  # NumPy raises various errors for non-numeric values
        raise ValueError(f"heat is {quoted(heat)}: expected ({actions},) numbers, one for each action") from None
    if given.shape != (actions,):
        raise ValueError(f"heat has shape {given.shape}: expected ({actions},), one number for each action")
    greatest = np.ma.max(np.ma.abs(given)) if given.count() else 0.0
    if not greatest > 0:
        return {}
    shares = np.ma.filled(given / greatest, 0.0)
    return {int(action): round(float(shares[action]), 4) for action in np.flatnonzero(np.abs(shares) >= FAINTEST)}


def hexagon(x: float, y: float) -> Points:
    """Return the corners clockwise: top, upper right, lower right, bottom, lower left, upper left."""
    return tuple((x + CORNER * sin(k * pi / 3), y - CORNER * cos(k * pi / 3)) for k in range(6))


def rectangle(left: float, top: float, width: float, height: float) -> Points:
    """Return the corners clockwise, from the upper left one."""
    return (left, top), (left + width, top), (left + width, top + height), (left, top + height)


def star(x: float, y: float, radius: float, fill: str) -> Polygon:
    """Draw a star with five points."""
    points = tuple(
        (x + r * sin(k * pi / 5), y - r * cos(k * pi / 5)) for k in range(10) for r in [radius * (0.45 if k % 2 else 1)]
    )
    return Polygon(points, fill, fill, 0.12 * radius)


def crown(x: float, y: float, radius: float, fill: str) -> Polygon:
    """Draw a crown; `radius` is half its width."""
    outline = ((-1, 0.6), (-1, -0.5), (-0.45, 0.05), (0, -0.75), (0.45, 0.05), (1, -0.5), (1, 0.6))
    return Polygon(tuple((x + radius * a, y + radius * b) for a, b in outline), fill, fill, 0.15 * radius)


def ring(x: float, y: float, radius: float = 0.45, width: float = 0.09) -> Circle:
    """Draw the mark of the last move, a ring."""
    return Circle(x, y, radius, None, "mark", width)


def arrow(start: Point, end: Point, line: str, width: float, opacity: float = 1.0, trim: Point = (0.0, 0.0)) -> Polygon:
    """Draw an arrow with a shaft of `width` as one outline, shortened by `trim` at `start` and at `end`."""
    (x, y), (to_x, to_y) = start, end
    length = hypot(to_x - x, to_y - y)
    along = ((to_x - x) / length, (to_y - y) / length)
    tail, tip, half = trim[0], length - trim[1], width / 2
    neck = tip - min(2.6 * width, 0.6 * (tip - tail))

    def at(forward: float, aside: float) -> Point:
        return x + forward * along[0] - aside * along[1], y + forward * along[1] + aside * along[0]

    head = 1.15 * width
    outline = ((tail, half), (neck, half), (neck, head), (tip, 0), (neck, -head), (neck, -half), (tail, -half))
    return Polygon(tuple(at(forward, aside) for forward, aside in outline), line, opacity=opacity)


def frame(left: float, y: float, width: float, unit: float) -> Iterator[Shape]:
    """Draw the frame that marks the player to move, for other shapes to be drawn over it."""
    outline = rectangle(left + 0.1 * unit, y - 0.35 * unit, width - 0.2 * unit, 0.7 * unit)
    yield Polygon(outline, "ink", "ink", 0.22 * unit)
    yield Polygon(outline, "cell", "cell", 0.14 * unit)


def player(x: float, y: float, unit: float, seat: Seat) -> Iterator[Shape]:
    """Draw a player's title and name, with a frame of 2.7 by 0.84 units at their turn, and a star if they have won.

    `x` is the left edge; the caller draws a sample of the player's colour at `x + 0.5 * unit`.
    """
    if seat.active:
        yield from frame(x + 0.05 * unit, y, 2.6 * unit, unit)
    if seat.title:
        yield Label(x + unit, y - 0.15 * unit, seat.title, 0.42 * unit, "ink", "start", bold=True)
        yield Label(x + unit, y + 0.23 * unit, seat.name, 0.31 * unit, "muted", "start")
    else:
        yield Label(x + unit, y, seat.name, 0.36 * unit, "ink", "start")
    if seat.won:
        yield star(x + 2.58 * unit, y - 0.15 * unit, 0.2 * unit, "gold")


def chip(x: float, y: float, unit: float, text: str, *, heat: float = 0.0, last: bool = False) -> Iterator[Shape]:
    """Draw an action that has no cell, such as `pass`, as a label, with a frame if it was the last move."""
    width = (0.35 + 0.19 * len(text)) * unit
    outline = rectangle(x - width / 2, y - 0.22 * unit, width, 0.44 * unit)
    yield Polygon(outline, "cell", "mark" if last else "rim", (0.06 if last else 0.03) * unit)
    if heat:
        yield Polygon(outline, "heat" if heat > 0 else "cold", opacity=round(0.85 * abs(heat), 3))
    yield Label(x, y, text, 0.34 * unit, "on heat" if abs(heat) > 0.4 else "ink")


def words(x: float, y: float, unit: float, texts: Mapping[int, str], heat: Heat, last: int) -> Iterator[Shape]:
    """Draw the actions without a cell that have heat or were the `last` move, one below the other.

    `texts` are the texts of all the game's actions without a cell; `last` is -1 before the first move.
    """
    drawn = [action for action in texts if action in heat or action == last]
    for k, action in enumerate(drawn):
        away = (k - (len(drawn) - 1) / 2) * 0.52 * unit
        yield from chip(x, y + away, unit, texts[action], heat=heat.get(action, 0.0), last=action == last)


def warm_cells(
    heat: Heat, where: Mapping[int, Sequence[int]], cells: Sequence[Points], letters: str = " "
) -> Iterator[Shape]:
    """Fill the cells, given as outlines, of actions that name one cell with their heat.

    Several actions of a cell, which have consecutive numbers, share it from left to right, labelled by `letters`.
    """
    for action, warmth in heat.items():
        if len(where[action]) == 1:
            outline, k = cells[where[action][0]], action % len(letters)
            left, right = min(x for x, _ in outline), max(x for x, _ in outline)
            step = (right - left) / len(letters)
            if len(letters) > 1:
                outline = _beyond(_beyond(outline, left + k * step, 1), left + (k + 1) * step, -1)
            yield Polygon(outline, "heat" if warmth > 0 else "cold", opacity=round(0.9 * abs(warmth), 3))
            if abs(warmth) >= LETTERED and letters[k] != " ":
                y = sum(y for _, y in outline) / len(outline)
                yield Label(left + (k + 0.5) * step, y, letters[k], 0.36, "on heat")


def warm_lines(
    heat: Heat, where: Mapping[int, Sequence[int]], middles: Sequence[Point], *, pointed: bool
) -> Iterator[Shape]:
    """Draw the heat of actions that name two cells as lines, or arrows if `pointed`, the hottest on top."""
    for action, warmth in sorted(heat.items(), key=lambda item: abs(item[1])):
        if len(where[action]) == 2:
            start, end = (middles[cell] for cell in where[action])
            colour, strength = "heat" if warmth > 0 else "cold", abs(warmth)
            width, opacity = round(0.04 + 0.14 * strength, 3), round(0.25 + 0.6 * strength, 3)
            if pointed:
                yield arrow(start, end, colour, width, opacity, trim=(0.08, 0.08))
            else:
                yield Line((start, end), colour, width, opacity)


def band(
    cells: Iterable[int], neighbours: Sequence[Sequence[int]], middles: Sequence[Point], fill: str
) -> Iterator[Shape]:
    """Draw a broad line between those `cells` that are neighbours on the board."""
    chosen = set(cells)
    for cell in sorted(chosen):
        x, y = middles[cell]
        yield Circle(x, y, 0.5, fill)
        for other in neighbours[cell]:
            if other > cell and other in chosen:
                yield Line((middles[cell], middles[other]), fill, 0.55)


def _beyond(outline: Points, limit: float, side: int) -> Points:
    """Return the part of a convex polygon with x at least (`side` 1) or at most (`side` -1) `limit`."""
    points: list[Point] = []
    for (x, y), (next_x, next_y) in zip(outline, outline[1:] + outline[:1], strict=True):
        if side * (x - limit) >= 0:
            points.append((x, y))
        if (x - limit) * (next_x - limit) < 0:
            points.append((limit, y + (next_y - y) * (limit - x) / (next_x - x)))
    return tuple(points)
