"""The picture of a game of Trinim: the triangle, and a table of each player's holdings, even or odd (T5)."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from string import ascii_uppercase

from ...core.game import Game
from ...core.scene import Cell, Circle, Glyph, Heat, Label, Line, Polygon, Sample, Scene, Shape
from ...core.state import EMPTY, Record
from ...render.parts import ROOT3, chip, frame, hexagon, rectangle, ring, star, warm_cells, warm_lines, words
from .rules import COLOURS, GREEN, LETTERS, NAMES, RED, score

COLUMNS = (3.3, 4.6, 5.9)  # centres of the colour columns of the table, in units from its left
WIDTH = 7.9  # of the table, in units
STEP = 1.75  # width of a colour in a player's holdings


def draw(game: Game, view: Record, heat: Heat) -> Scene:
    board, size = game.board, game.board.shape[0]
    middles = [(col + row / 2 - size + 1, row * ROOT3 / 2) for row, col in board.places]
    outlines = [hexagon(x, y) for x, y in middles]
    right, bottom = size / 2 + 1.1, (size - 1) * ROOT3 / 2 + 1.25
    unit = 2 * right / WIDTH
    bottom += 0.3 * unit
    last = int(view["last_action"])
    where = {action: game.action_cells(action) for action in heat}
    shapes: list[Shape] = [Polygon(outline, "cell", "rim", 0.05) for outline in outlines]
    shapes += warm_cells(heat, where, outlines)
    grabbed = game.action_cells(last) if last >= 0 else ()
    if len(grabbed) == 2:
        shapes.append(Line((middles[grabbed[0]], middles[grabbed[1]]), "mark", 0.09))
    shapes += [ring(*middles[cell], radius=0.28, width=0.08) for cell in grabbed]
    for (x, y), colour in zip(middles, view["pieces"].tolist(), strict=True):
        if colour != EMPTY:
            shapes += _piece(x, y, 0.39, colour)
    shapes += warm_lines(heat, where, middles, pointed=False)
    legend: list[Shape] = []
    for seat in range(game.num_players):
        legend += _holdings(-right, bottom + (seat + 0.75) * unit, unit, game, view, seat)
    legend += _heads(-right, bottom, unit)
    legend += words(-right + 1.1 * unit, 0, unit, game.cell_free_actions, heat, last)
    return Scene(
        box=(-right, -0.9, 2 * right, bottom + 0.9 + (game.num_players + 0.35) * unit),
        shapes=tuple(shapes),
        cells=tuple(Cell(k, name, outlines[k]) for k, name in enumerate(board.names)),
        glyphs=tuple(_glyphs(size, view["pieces"].tolist(), board.places, grabbed)),
        notes=tuple(_table(view)),
        caption=game.status(view),
        coordinates=tuple(_names(size)),
        legend=tuple(legend),
    )


def _piece(x: float, y: float, radius: float, colour: int) -> Iterator[Shape]:
    """Yield the shapes of a piece: red ones are circles, green ones triangles, blue ones squares."""
    name, letter = NAMES[colour], LETTERS[colour].upper()
    if colour == RED:
        yield Circle(x, y, radius, name)
    elif colour == GREEN:
        turns, low = [k * 2 * pi / 3 for k in range(3)], y + 0.16 * radius
        corners = tuple((x + 1.05 * radius * sin(turn), low - 1.05 * radius * cos(turn)) for turn in turns)
        yield Polygon(corners, name, name, 0.34 * radius)
    else:
        half = 0.78 * radius
        yield Polygon(rectangle(x - half, y - half, 2 * half, 2 * half), name, name, 0.25 * radius)
    yield Label(x, y + (0.16 * radius if colour == GREEN else 0), letter, 1.05 * radius, f"on {name}", bold=True)


def _heads(left: float, y: float, unit: float) -> Iterator[Shape]:
    for colour, away in zip(NAMES, COLUMNS, strict=True):
        yield from _piece(left + away * unit, y, 0.2 * unit, colour)
    yield Label(left + 7.2 * unit, y, "score", 0.32 * unit, "muted")


def _holdings(left: float, y: float, unit: float, game: Game, view: Record, seat: int) -> Iterator[Shape]:
    """Yield one row of the table: an even number scores and is filled, an odd one is not."""
    held, out = view["held"][seat].tolist(), bool(view["out"][seat])
    _, name, active, won = game.seat(view, seat)
    if active:
        yield from frame(left + 0.1 * unit, y, (WIDTH - 0.2) * unit, unit)
    yield Label(left + 0.4 * unit, y, name, 0.42 * unit, "muted" if out else "ink", "start", bold=active)
    if won:
        yield star(left + 2.5 * unit, y - 0.03 * unit, 0.18 * unit, "gold")
    if out:
        yield from chip(left + WIDTH / 2 * unit, y, unit, "out")
        return
    for colour, away, count in zip(NAMES, COLUMNS, held, strict=True):
        even = count % 2 == 0 and any(held)
        pill = rectangle(left + (away - 0.6) * unit, y - 0.28 * unit, 1.2 * unit, 0.56 * unit)
        yield Polygon(pill, NAMES[colour] if even else "paper", NAMES[colour], 0.07 * unit)
        ink = f"on {NAMES[colour]}" if even else "ink"
        if any(held):
            yield Label(left + (away - 0.3) * unit, y, str(count), 0.42 * unit, ink, bold=True)
            yield Label(left + (away + 0.24) * unit, y, "even" if even else "odd", 0.24 * unit, ink)
        else:
            yield Label(left + away * unit, y, "0", 0.42 * unit, "muted")
    yield Label(left + 7.2 * unit, y, str(_points(view, seat)), 0.52 * unit, "ink", bold=True)


def _points(view: Record, seat: int) -> int:
    """Return the score (T5), shown as 0 until the player holds a piece."""
    return int(score(view["held"][seat])) if view["held"][seat].any() else 0


def _names(size: int) -> Iterator[Shape]:
    """Yield the names of rows, on the left, and of columns, below, each with a line that extends the column."""
    bottom = (size - 1) * ROOT3 / 2
    for k in range(size):
        yield Label(-k / 2 - 0.9, k * ROOT3 / 2, str(k + 1), 0.42, "muted")
        x = k - size / 2 + 0.5
        yield Line(((x + 0.3, bottom + 0.3 * ROOT3), (x + 0.4, bottom + 0.4 * ROOT3)), "muted", 0.05)
        yield Label(x + 0.54, bottom + 0.54 * ROOT3, ascii_uppercase[k], 0.42, "muted")


def _glyphs(size: int, pieces: list[int], places: list[tuple[int, int]], grabbed: tuple[int, ...]) -> Iterator[Glyph]:
    for cell, ((row, col), piece) in enumerate(zip(places, pieces, strict=True)):
        colour = "" if piece == EMPTY else NAMES[piece]
        yield Glyph(row, 2 * col + row, LETTERS[piece], "mark" if cell in grabbed else colour)
    for row in range(size):
        yield Glyph(row, 2 * (size - 1) - row - 5, f"{row + 1:>2}-")
    for col in range(size):
        yield Glyph(size, 2 * col + size, "\\")
        yield Glyph(size + 1, 2 * col + size + 1, ascii_uppercase[col])


def _table(view: Record) -> Iterator[str]:
    yield "            R   G   B   Score"
    yield "            ~   ~   ~   ~~~~~"
    for seat, held in enumerate(view["held"].tolist()):
        counts = "".join(f"{held[k]:4}" for k in range(COLOURS))
        yield f"player_{seat} {counts}{_points(view, seat):6}" + "  out" * int(view["out"][seat])


def holdings(game: Game, view: Record, player: int) -> Sample:
    """Return the numbers of pieces of each colour that a player holds, even or odd, and the score."""
    held, points = view["held"][player].tolist(), _points(view, player)
    counts = ", ".join(f"{count} {name}" for count, name in zip(held, NAMES.values(), strict=True))
    if view["out"][player]:
        return Sample((Label(0, 0, "out", 0.6, "ink", bold=True),), "out of the game", 3 * STEP)
    return Sample(tuple(_counts(held)), f"{counts}: {points} {'point' if points == 1 else 'points'}", 3 * STEP)


def _counts(held: list[int]) -> Iterator[Shape]:
    for k, (colour, count) in enumerate(zip(NAMES, held, strict=True)):
        x = (k - 1) * STEP
        if any(held) and count % 2 == 0:
            yield Polygon(rectangle(x - 0.78, -0.42, 1.56, 0.84), None, "ink", 0.06)
        yield from _piece(x - 0.36, 0, 0.3, colour)
        yield Label(x + 0.05, 0, str(count), 0.6, "ink", "start", bold=True)


def symbols(game: Game, view: Record) -> tuple[Sample, ...]:
    """Return the samples of the pieces and of the frame around an even number."""
    pieces = [Sample(tuple(_piece(0, 0, 0.36, colour)), f"a {name} piece") for colour, name in NAMES.items()]
    outline = Polygon(rectangle(-0.4, -0.4, 0.8, 0.8), None, "ink", 0.06)
    even = Sample((outline, Label(0, 0, "2", 0.6, "ink", bold=True)), "framed: an even number, which scores a point")
    return (*pieces, even)
