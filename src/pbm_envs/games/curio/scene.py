"""The picture of a game of Curio: tiles that stand between the players, as seen by the viewer; a full state is seen by
Light, with both faces of every tile.

A tile points at its owner's enemy. The large number below is the face towards the viewer; above is the other face: a
number if the viewer knows it, else "?" and a dot for each possible number (C15). Royals have a crown (C10).
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from ...core.game import Game
from ...core.scene import Cell, Circle, Glyph, Heat, Label, Polygon, Sample, Scene, Shape
from ...core.state import NOBODY, Record
from ...render.parts import arrow, crown, player, rectangle, warm_lines, words
from .pieces import CAPTURED, NO_PIECE
from .texts import ARMIES as NAMES
from .texts import numbers_of

ARMIES = ("light", "dark")
TILE = 0.92, 1.0  # width and height of a tile


def draw(game: Game, view: Record, heat: Heat) -> Scene:
    (rows, cols), seen = game.board.shape, max(0, int(view["viewer"]))
    middles = [
        (float(col), float(rows - 1 - row)) if seen == 0 else (float(cols - 1 - col), float(row))
        for row, col in game.board.places
    ]
    outlines = [rectangle(x - 0.5, y - 0.5, 1, 1) for x, y in middles]
    width = max(cols + 1.4, 0.6 * rows + 1.4, 5.2)
    left, unit = (cols - 1.4 - width) / 2, width / 8
    last, top = int(view["last_action"]), -0.7 - 1.1 * unit
    shapes: list[Shape] = [
        Polygon(outline, "cell" if sum(place) % 2 else "cell 2", "rim", 0.03)
        for outline, place in zip(outlines, game.board.places, strict=True)
    ]
    moved = game.action_cells(last) if last >= 0 else ()
    if moved:
        start, end = (middles[cell] for cell in moved)
        for x, y in (start, end):
            shapes.append(Polygon(rectangle(x - 0.465, y - 0.465, 0.93, 0.93), None, "mark", 0.06))
        shapes.append(arrow(start, end, "mark", 0.1, trim=(0.1, 0.5)))
    hidden = _possible(game, view)
    for cell, slot in enumerate(view["board"].tolist()):
        if slot != NO_PIECE:
            shapes += _tile(*middles[cell], 1.0, view, slot, game.options["base"], hidden[cell])
    shapes += warm_lines(heat, {action: game.action_cells(action) for action in heat}, middles, pointed=True)
    legend: list[Shape] = []
    for seat in range(2):
        y = rows - 0.5 + 0.65 + 0.5 * unit if seat == seen else top + 0.55 * unit
        legend += player(left + 0.05 * unit, y, unit, game.seat(view, seat))
        legend += _swatch(left + 0.58 * unit, y, 0.7 * unit, seat, up=seat == seen)
        legend += _lost(left + 2.85 * unit, y, unit, game, view, seat, fresh=bool(moved) and view["quiet"] == 0)
    legend += words(left + 0.8 * unit, rows - 0.23, unit, game.cell_free_actions, heat, last)
    return Scene(
        box=(left, top, width, rows + 0.85 + 2.2 * unit),
        shapes=tuple(shapes),
        cells=tuple(Cell(k, name, outlines[k]) for k, name in enumerate(game.board.names)),
        glyphs=tuple(_glyphs(view, rows, cols, seen, moved)),
        narrow=tuple(_narrow_glyphs(view, rows, cols, seen, moved)),
        notes=tuple(_captured(view, seen)),
        caption=game.status(view),
        coordinates=tuple(_names(rows, cols, seen)),
        legend=tuple(legend),
    )


def _possible(game: Game, view: Record) -> NDArray[np.bool_]:
    """Return (n, base) the possible numbers of the face away from the viewer on each cell; none in a full state."""
    base = game.options["base"]
    if view["viewer"] == NOBODY:
        return np.zeros((game.board.size, base), np.bool_)
    planes = game.observe(view.reshape(1))[0].reshape(game.board.size, -1)
    first = list(game.planes).index("may hide 1")
    return planes[:, first : first + base] != 0


def _tile(
    x: float,
    y: float,
    scale: float,
    view: Record,
    slot: int,
    base: int,
    hides: NDArray[np.bool_],
    *,
    fresh: bool = False,
) -> Iterator[Shape]:
    """Yield the shapes of a tile; `hides` (base,) marks possible numbers; a `fresh` tile was captured just now."""
    seen, owner = max(0, int(view["viewer"])), int(view["owner"][slot])
    near, far = int(view["faces"][slot, seen]), int(view["faces"][slot, 1 - seen])
    yield from _swatch(x, y, scale, owner, up=owner == seen, line="mark" if fresh else "")
    up, army = owner == seen, ARMIES[owner]
    ink = ARMIES[1 - owner]
    band, number, tip = (-0.085, 0.24, -0.3) if up else (-0.28, 0.06, 0.34)
    strip = rectangle(x - 0.385 * scale, y + (band - 0.145) * scale, 0.77 * scale, 0.29 * scale)
    yield Polygon(strip, f"{army} shade")
    yield Label(x, y + number * scale, str(near or "?"), 0.46 * scale, ink, bold=True)
    numbers = [k + 1 for k in range(base) if hides[k]]
    if far:
        yield Label(x, y + band * scale, str(far), 0.31 * scale, ink, bold=True)
    elif not numbers:
        yield Label(x, y + band * scale, "?", 0.3 * scale, ink, bold=True)
    else:
        step = min(0.135, 0.54 / base)
        yield Label(x - 0.29 * scale, y + band * scale, "?", 0.26 * scale, ink, bold=True)
        for k in range(base):
            middle = x + (0.09 + (k - (base - 1) / 2) * step) * scale
            radius = (0.4 if hides[k] else 0.11) * step * scale
            yield Circle(middle, y + band * scale, radius, ink)
    if base in (near, far) or numbers == [base]:
        yield crown(x, y + tip * scale, 0.09 * scale, "gold")


def _swatch(x: float, y: float, scale: float, army: int, *, up: bool, line: str = "") -> Iterator[Shape]:
    """Yield the shapes of a tile without numbers, which points away from its owner."""
    side = scale if up else -scale
    outline = ((-0.41, 0.44), (0.41, 0.44), (0.41, -0.23), (0, -0.44), (-0.41, -0.23))
    points = tuple((x + scale * a, y + side * b) for a, b in outline)
    yield Polygon(points, ARMIES[army], line or f"{ARMIES[army]} line", (0.08 if line else 0.045) * scale)


def _lost(
    left: float, y: float, unit: float, game: Game, view: Record, army: int, *, fresh: bool, width: float = 5.0
) -> Iterator[Shape]:
    """Yield an army's captured tiles, in an area `width` units wide and 1 high; if `fresh`, the last is a new one."""
    slots = np.flatnonzero((view["owner"] == army) & (view["cell"] == CAPTURED)).tolist()
    most = max(int(game.options["num_pieces"]), len(slots))
    wide, high = width * unit / TILE[0], unit / TILE[1]
    scale, lines = max(
        (min(wide / -(-most // lines), high / lines, 0.75 * unit), -lines) for lines in range(1, most + 1)
    )
    per_line = -(-most // -lines)
    nothing = np.zeros(game.options["base"], np.bool_)
    for k, slot in enumerate(slots):
        line, place = divmod(k, per_line)
        at = left + (place + 0.5) * TILE[0] * scale
        height = y + (line - (-lines - 1) / 2) * TILE[1] * scale
        now = fresh and slot == view["last_captured"]
        yield from _tile(at, height, scale, view, slot, game.options["base"], nothing, fresh=now)


def _names(rows: int, cols: int, seen: int) -> Iterator[Label]:
    for row in range(rows):
        y = rows - 1 - row if seen == 0 else row
        yield Label(-0.76, y, str(row + 1), 0.3, "muted")
    for col in range(cols):
        yield Label(col if seen == 0 else cols - 1 - col, rows - 0.23, ascii_lowercase[col], 0.3, "muted")


def _glyphs(view: Record, rows: int, cols: int, seen: int, moved: tuple[int, ...]) -> Iterator[Glyph]:
    """Yield the board as text. The front of a tile has the face towards the viewer, its top the other one if known; the
    opponent's tiles are dotted. The face of the piece that moved, and the cell that it left, are marked.
    """
    for depth in reversed(range(rows)):  # from the far side, so that nearer tiles cover farther ones
        row = depth if seen == 0 else rows - 1 - depth
        line, left = 3 * (rows - 1 - depth), 3 * depth
        for k in range(cols + 1):
            yield Glyph(line + 2, left + 8 * k, "+-------"[: 8 if k < cols else 1])
            yield Glyph(line + 3, left - 1 + 8 * k, "/")
            yield Glyph(line + 4, left - 2 + 8 * k, "/")
            yield Glyph(line + 5, left - 3 + 8 * k, "+-------"[: 8 if k < cols else 1])
        yield Glyph(line + 3, left - 6, f"{row + 1:>2}")
        yield Glyph(line + 4, left + 8 * cols, str(row + 1))
        for k in range(cols):
            col = k if seen == 0 else cols - 1 - k
            cell = row * cols + col
            slot, style = view["board"][cell], "mark" if cell in moved else ""
            if slot == NO_PIECE and style:
                yield Glyph(line + 3, left + 8 * k + 2, "   ", style)
            if slot != NO_PIECE:
                near, far = view["faces"][slot, seen], view["faces"][slot, 1 - seen]
                fill = " " if view["owner"][slot] == seen else ":"
                x = left + 8 * k
                yield Glyph(line, x + 1, f",-{far or '-'}-,")
                yield Glyph(line + 1, x, "+---+|")
                if k and view["board"][cell - (1 if seen == 0 else -1)] == NO_PIECE:
                    yield Glyph(line + 2, x - 1, "+")  # the corner hidden by the tile, as in the help page
                yield Glyph(line + 2, x, f"|{fill}{near or '?'}{fill}||")
                yield Glyph(line + 2, x + 1, f"{fill}{near or '?'}{fill}", style)
                yield Glyph(line + 3, x, f"|{fill * 3}|/")
                yield Glyph(line + 4, x, "+---+")
    for k in range(cols):
        col = k if seen == 0 else cols - 1 - k
        yield Glyph(3 * rows + 4, 8 * k + 1, ascii_lowercase[col])


def _narrow_glyphs(view: Record, rows: int, cols: int, seen: int, moved: tuple[int, ...]) -> Iterator[Glyph]:
    """Yield three columns per cell: a colon for the opponent's tiles, the face towards the viewer, the other face."""
    for line in range(rows):
        row = rows - 1 - line if seen == 0 else line
        yield Glyph(line, 0, f"{row + 1:>2}")
        for k in range(cols):
            col = k if seen == 0 else cols - 1 - k
            cell = row * cols + col
            slot, style = view["board"][cell], "mark" if cell in moved else ""
            if slot == NO_PIECE:
                yield Glyph(line, 3 + 3 * k, ". ", style)
            else:
                near, far = view["faces"][slot, seen], view["faces"][slot, 1 - seen]
                yield Glyph(line, 2 + 3 * k, " " if view["owner"][slot] == seen else ":")
                yield Glyph(line, 3 + 3 * k, f"{near or '?'}{far or '?'}", style)
    for k in range(cols):
        col = k if seen == 0 else cols - 1 - k
        yield Glyph(rows, 3 + 3 * k, ascii_lowercase[col])
    yield Glyph(rows + 2, 0, "21: the side towards you, then the other; ?: unknown; with a colon: the enemy's")


def _captured(view: Record, seen: int) -> Iterator[str]:
    """Yield the captured pieces as texts, with the viewer's side of each first."""
    for army in range(2):
        slots = np.flatnonzero((view["owner"] == army) & (view["cell"] == CAPTURED))
        pieces = [f"{view['faces'][slot, seen] or '?'}{view['faces'][slot, 1 - seen] or '?'}" for slot in slots]
        yield f"{NAMES[army]} has lost: {' '.join(pieces) or '-'}"


def badge(game: Game, view: Record, player: int) -> Sample:
    """Return a piece of the player's army, in its orientation on the board."""
    shapes = tuple(_swatch(0, 0, 0.95, player, up=player == max(0, int(view["viewer"]))))
    return Sample(shapes, f"the pieces of {NAMES[player]}")


def holdings(game: Game, view: Record, player: int) -> Sample:
    """Return the pieces that a player has lost, as far as the viewer knows them."""
    lost = np.flatnonzero((view["owner"] == player) & (view["cell"] == CAPTURED)).tolist()
    fresh = int(view["last_action"]) >= 0 and view["quiet"] == 0
    shapes = tuple(_lost(-1.25, 0, 1.0, game, view, player, fresh=bool(fresh), width=2.5))
    text = f"lost: {', '.join(numbers_of(view, slot) for slot in lost)}" if lost else "nothing lost"
    return Sample(shapes, text, 2.5)


def symbols(game: Game, view: Record) -> tuple[Sample, ...]:
    """Return samples that explain how to read a piece."""
    seen, base = max(0, int(view["viewer"])), game.options["base"]
    ink = ARMIES[1 - seen]
    piece = tuple(_swatch(0, 0, 0.95, seen, up=True))
    dots: list[Shape] = list(piece)
    for k in range(3):
        dots.append(Circle(0.2 * (k - 1), 0.1, 0.075 if k else 0.02, ink))
    far = 0.24 * TILE[0]
    return (
        Sample((*piece, Label(0, 0.12, "3", 0.5, ink, bold=True)), "the number that is turned to you"),
        Sample((*piece, Label(0, 0.1, "?", 0.45, ink)), "the other side, which you do not know"),
        Sample(tuple(dots), "the numbers that the other side can have: large dots are possible, small ones are not"),
        Sample((*piece, Label(0, 0.1, "2", far, ink)), "a small number: the other side, which you know"),
        Sample((*piece, crown(0, 0.1, 0.2, "gold")), f"a royal piece, with {base} on a side: do not lose the last one"),
        Sample(piece, f"{NAMES[seen]}: pieces point away from their owner, so these are yours"),
        Sample(tuple(_swatch(0, 0, 0.95, 1 - seen, up=False)), f"{NAMES[1 - seen]}: these point towards you"),
    )
