"""The picture of a game of Chameleon: a rhombus with edges in the players' colours, and pictures beside the board."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_lowercase

from ...core.boards import BOTTOM, LEFT, RIGHT, TOP
from ...core.game import Game
from ...core.scene import Cell, Circle, Glyph, Heat, Label, Line, Point, Points, Polygon, Sample, Scene, Shape
from ...core.state import EMPTY, Record
from ...render.parts import ROOT3, band, hexagon, player, ring, warm_cells, words
from ..chains import winning_figure
from .rules import LETTERS, O, X

VERT, HORZ = "blue", "orange"
STONE = 0.39


def draw(game: Game, view: Record, heat: Heat) -> Scene:
    board, size = game.board, game.board.shape[0]
    middles = [(col + row / 2, row * ROOT3 / 2) for row, col in board.places]
    outlines = [hexagon(x, y) for x, y in middles]
    left, right, bottom = -1.5, 1.5 * size + 0.5, (size - 1) * ROOT3 / 2 + 1.3
    unit = (right - left) / 8
    words_of, last = game.cell_free_actions, int(view["last_action"])
    vert_won = bool(view["returns"][view["vert"]] == 1)
    edges = (TOP, BOTTOM) if vert_won else (LEFT, RIGHT)
    shapes: list[Shape] = [
        Line(_edge(outlines, size, TOP), VERT, 0.42),
        Line(_edge(outlines, size, BOTTOM), VERT, 0.42),
        Line(_edge(outlines, size, LEFT), HORZ, 0.42),
        Line(_edge(outlines, size, RIGHT), HORZ, 0.42),
        *(Polygon(outline, "cell", "rim", 0.05) for outline in outlines),
    ]
    actions = {action: game.action_cells(action) for action in heat}
    shapes += warm_cells(heat, actions, outlines, "xo")
    shapes += band(winning_figure(game, view, [edges]), board.neighbours.tolist(), middles, VERT if vert_won else HORZ)
    for (x, y), stone in zip(middles, view["stones"].tolist(), strict=True):
        if stone != EMPTY:
            shapes += _stone(x, y, stone)
    if last >= 0:
        shapes += [ring(*middles[cell]) for cell in game.action_cells(last)]
    legend: list[Shape] = []
    middle = bottom + 0.5 * unit
    for seat in range(2):
        x = left + 0.15 * unit if seat == 0 else right - 2.85 * unit
        legend += player(x, middle, unit, game.seat(view, seat))
        legend += _sides(x + 0.52 * unit, middle, 0.24 * unit, vert=view["vert"] == seat)
    legend += words((left + right) / 2, middle, unit, words_of, heat, last)
    glyphs = tuple(_glyphs(size, view["stones"].tolist(), board.places, game.action_cells(last) if last >= 0 else ()))
    return Scene(
        box=(left, -1.6, right - left, bottom + unit + 1.6),
        shapes=tuple(shapes),
        cells=tuple(Cell(k, name, outlines[k]) for k, name in enumerate(board.names)),
        glyphs=glyphs,
        narrow=tuple(glyph for glyph in glyphs if glyph.col < 2 * size or not glyph.text.isdecimal()),
        notes=("Vert joins top and bottom, Horz left and right.",),
        caption=game.status(view),
        coordinates=tuple(_names(size)),
        legend=tuple(legend),
    )


def _stone(x: float, y: float, stone: int) -> Iterator[Shape]:
    arm = 0.15
    if stone == X:
        yield Circle(x, y, STONE, "dark", "dark line", 0.05)
        yield Line(((x - arm, y - arm), (x + arm, y + arm)), "light", 0.09)
        yield Line(((x - arm, y + arm), (x + arm, y - arm)), "light", 0.09)
    else:
        yield Circle(x, y, STONE, "light", "light line", 0.05)
        yield Circle(x, y, 0.17, None, "dark", 0.09)


def _edge(outlines: list[Points], size: int, edge: int) -> Points:
    """Return the outer sides of the cells on an edge. Two edges share a side half and half."""
    points: list[Point]
    if edge == TOP:
        points = [outlines[col][k] for col in range(size) for k in (5, 0)]
        points.append(_between(outlines[size - 1], 0, 1))
    elif edge == RIGHT:
        points = [outlines[row * size + size - 1][k] for row in range(size) for k in (1, 2)]
        points.insert(0, _between(outlines[size - 1], 0, 1))
    elif edge == BOTTOM:
        points = [outlines[size * size - size + col][k] for col in range(size) for k in (3, 2)]
        points.insert(0, _between(outlines[size * size - size], 3, 4))
    else:
        points = [outlines[row * size][k] for row in range(size) for k in (5, 4)]
        points.append(_between(outlines[size * size - size], 3, 4))
    return tuple(points)


def _between(outline: Points, a: int, b: int) -> Point:
    return (outline[a][0] + outline[b][0]) / 2, (outline[a][1] + outline[b][1]) / 2


def _sides(x: float, y: float, half: float, vert: bool) -> Iterator[Shape]:
    """Yield the shapes of a small board with the edges of Vert, or of Horz."""
    slant = 0.35 * half
    upper, lower = (x - half - slant, x + half - slant), (x - half + slant, x + half + slant)
    corners = ((upper[0], y - half), (upper[1], y - half), (lower[1], y + half), (lower[0], y + half))
    yield Polygon(corners, "cell 2")
    a, b, c, d = corners
    for line in ((a, b), (d, c)) if vert else ((a, d), (b, c)):
        yield Line(line, VERT if vert else HORZ, 0.32 * half)


def _names(size: int) -> Iterator[Label]:
    bottom = (size - 1) * ROOT3 / 2
    for k in range(size):
        yield Label(k - 0.5, -0.98, ascii_lowercase[k], 0.5, "muted")
        yield Label(k + size / 2, bottom + 0.98, ascii_lowercase[k], 0.5, "muted")
        x, y = k / 2, k * ROOT3 / 2
        yield Label(x - 0.8, y, str(k + 1), 0.5, "muted", "end")
        yield Label(x + size - 0.2, y, str(k + 1), 0.5, "muted", "start")


def _glyphs(size: int, stones: list[int], places: list[tuple[int, int]], last: tuple[int, ...]) -> Iterator[Glyph]:
    """Yield the board as text; the names of columns and rows have the colours of their edges."""
    for col in range(size):
        yield Glyph(-1, 2 * col - 1, ascii_lowercase[col], VERT)
        yield Glyph(size, 2 * col + size, ascii_lowercase[col], VERT)
    for row in range(size):
        yield Glyph(row, row - 3, f"{row + 1:2}", HORZ)
        yield Glyph(row, row + 2 * size, f"{row + 1}", HORZ)
    for cell, ((row, col), stone) in enumerate(zip(places, stones, strict=True)):
        yield Glyph(row, row + 2 * col, LETTERS[stone], "mark" if cell in last else "")


def badge(game: Game, view: Record, player: int) -> Sample:
    """Return a small board with the edges of the player."""
    vert = bool(view["vert"] == player)
    return Sample(tuple(_sides(0, 0, 0.34, vert)), "top and bottom" if vert else "left and right")


def symbols(game: Game, view: Record) -> tuple[Sample, ...]:
    """Return the samples of the letters and the edges."""
    return (
        Sample(tuple(_stone(0, 0, X)), "the letter x; both players may place it"),
        Sample(tuple(_stone(0, 0, O)), "the letter o; both players may place it"),
        Sample(tuple(_sides(0, 0, 0.34, True)), "Vert joins these edges, top and bottom"),
        Sample(tuple(_sides(0, 0, 0.34, False)), "Horz joins these edges, left and right"),
    )
