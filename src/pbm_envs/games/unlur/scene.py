"""The picture of a game of Unlur: a hexagon with numbered sides; odd and even sides differ, as a Y joins one kind."""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_uppercase

from ...core.game import Game
from ...core.scene import Cell, Circle, Glyph, Heat, Label, Line, Point, Polygon, Sample, Scene, Shape
from ...core.state import EMPTY, NOBODY, Record
from ...render.parts import ROOT3, band, hexagon, player, ring, warm_cells, words
from ..chains import winning_figure
from .rules import BLACK, LETTERS

STONE = 0.39
ODD, EVEN = "blue", "orange"
YS = ((1, 4, 16), (2, 8, 32))
LINES = ((1, 8), (2, 16), (4, 32))  # the sides of each figure (U5), as bits
OUTWARD = [(0, -1), (ROOT3 / 2, -0.5), (ROOT3 / 2, 0.5), (0, 1), (-ROOT3 / 2, 0.5), (-ROOT3 / 2, -0.5)]
"""The outward direction of each side."""


def draw(game: Game, view: Record, heat: Heat) -> Scene:
    board, last_row = game.board, game.board.shape[0] - 1
    half = last_row // 2
    middles = [(col - row / 2 - half / 2, (row - half) * ROOT3 / 2) for row, col in board.places]
    outlines = [hexagon(x, y) for x, y in middles]
    right, bottom = 1.0 * last_row / 2 + 1.9, half * ROOT3 / 2 + 2.0
    unit = 2 * right / 8
    last = int(view["last_action"])
    figures = YS if view["black"] == view["returns"].argmax() else LINES
    shapes: list[Shape] = [Line(points, (ODD, EVEN)[k % 2], 0.4) for k, points in enumerate(_sides(half))]
    shapes += [
        Polygon(outline, "cell 2" if edges else "cell", "rim", 0.05)
        for outline, edges in zip(outlines, board.edges, strict=True)
    ]
    shapes += warm_cells(heat, {action: game.action_cells(action) for action in heat}, outlines)
    shapes += band(winning_figure(game, view, figures), board.neighbours.tolist(), middles, "green")
    for (x, y), stone in zip(middles, view["stones"].tolist(), strict=True):
        if stone != EMPTY:
            shapes += _stone(x, y, STONE, black=stone == BLACK)
    if last >= 0:
        shapes += [ring(*middles[cell]) for cell in game.action_cells(last)]
    legend: list[Shape] = []
    middle = bottom + 0.5 * unit
    for seat in range(2):
        x = 0.15 * unit - right if seat == 0 else right - 2.85 * unit
        legend += player(x, middle, unit, game.seat(view, seat))
        swatch = x + 0.52 * unit
        if view["black"] == NOBODY:
            legend += _stone(swatch - 0.1 * unit, middle - 0.1 * unit, 0.22 * unit, black=True)
            legend += _stone(swatch + 0.1 * unit, middle + 0.1 * unit, 0.22 * unit, black=False)
        else:
            legend += _stone(swatch, middle, 0.3 * unit, black=view["black"] == seat)
    contract = view["black"] == NOBODY and not view["done"]
    chips = list(words(0, middle, unit, game.cell_free_actions, heat, last))
    legend += chips or ([Label(0, middle, "contract", 0.34 * unit, "muted")] if contract else [])
    return Scene(
        box=(-right, -bottom, 2 * right, 2 * bottom + unit),
        shapes=tuple(shapes),
        cells=tuple(Cell(k, name, outlines[k]) for k, name in enumerate(board.names)),
        glyphs=tuple(
            _glyphs(half, view["stones"].tolist(), board.places, game.action_cells(last) if last >= 0 else ())
        ),
        caption=game.status(view),
        coordinates=tuple(_names(half)),
        legend=tuple(legend),
    )


def _stone(x: float, y: float, radius: float, black: bool) -> Iterator[Shape]:
    kind = "dark" if black else "light"
    yield Circle(x, y, radius, kind, f"{kind} line", 0.13 * radius)


def _sides(half: int) -> Iterator[tuple[Point, ...]]:
    """Yield the outlines along the cells of sides 1 to 6; two sides share the outline of a corner cell equally."""
    for side in range(6):
        (x, y), (to_x, to_y) = _corner(side - 1, half), _corner(side, half)
        points: list[Point] = []
        for k in range(half + 1):
            share = k / half
            corners = hexagon(x + share * (to_x - x), y + share * (to_y - y))
            # side 1 has the upper left and the upper right side of each cell: corners 5, 0, 1; and so on
            points += [corners[(side + 5) % 6], corners[side], corners[(side + 1) % 6]]
        first, second, *_, last_but_one, last = points
        yield (_half(first, second), *points[1:-1], _half(last_but_one, last))


def _half(a: Point, b: Point) -> Point:
    return (a[0] + b[0]) / 2, (a[1] + b[1]) / 2


def _corner(side: int, half: int) -> Point:
    """Return the centre of the corner cell at the end of a side, clockwise: 0 is the upper right."""
    high = half * ROOT3 / 2
    corners = ((half / 2, -high), (half, 0), (half / 2, high), (-half / 2, high), (-half, 0), (-half / 2, -high))
    return corners[side]


def _names(half: int) -> Iterator[Shape]:
    for row in range(-half, half + 1):
        left = -half + abs(row) / 2
        yield Label(left - 1.05, row * ROOT3 / 2, ascii_uppercase[row + half], 0.5, "muted")
    for col in range(2 * half + 1):
        row = max(0, col - half)
        x, y = col - row / 2 - half / 2, (row - half) * ROOT3 / 2
        yield Label(x + 0.52, y - 0.9, str(col + 1), 0.5, "muted")
    away = half * ROOT3 / 2 + 1.55
    for side, (x, y) in enumerate(OUTWARD):
        yield Circle(away * x, away * y, 0.36, (ODD, EVEN)[side % 2])
        yield Label(away * x, away * y, str(side + 1), 0.5, f"on {(ODD, EVEN)[side % 2]}", bold=True)


def _glyphs(half: int, stones: list[int], places: list[tuple[int, int]], last_move: tuple[int, ...]) -> Iterator[Glyph]:
    """Yield the board as text, as in the help page: columns run along "/", with the number at the upper end."""
    last = 2 * half
    for col in range(last + 1):
        top = max(0, col - half)
        yield Glyph(top - 1, 2 * col - top + 1, "/")
        yield Glyph(top - 2, 2 * col - top + 2, str(col + 1))
    for row in range(last + 1):
        yield Glyph(row, 2 * max(0, row - half) - row - 3, f"{ascii_uppercase[row]}-")
    for cell, ((row, col), stone) in enumerate(zip(places, stones, strict=True)):
        yield Glyph(row, 2 * col - row, LETTERS[stone], "mark" if cell in last_move else "")
    quarter = half // 2
    yield Glyph(-3, half - 1, "Side 1", ODD)
    yield Glyph(quarter, 3 * half + 6, "Side 2", EVEN)
    yield Glyph(last - quarter, 3 * half + 3, "Side 3", ODD)
    yield Glyph(last + 1, half - 2, "Side 4", EVEN)
    yield Glyph(last - quarter, -half - 10, "Side 5", ODD)
    yield Glyph(quarter, -half - 10, "Side 6", EVEN)


def badge(game: Game, view: Record, player: int) -> Sample:
    """Return the stone that the player places; both stones while nobody is Black."""
    if view["black"] == NOBODY:
        both = (*_stone(-0.12, -0.12, 0.26, black=True), *_stone(0.12, 0.12, 0.26, black=False))
        return Sample(both, "black or white is still open")
    black = bool(view["black"] == player)
    return Sample(tuple(_stone(0, 0, 0.36, black)), "black stones" if black else "white stones")


def symbols(game: Game, view: Record) -> tuple[Sample, ...]:
    """Return the samples of the stones and the sides."""
    odd, even = (
        (Circle(0, 0, 0.36, colour), Label(0, 0, text, 0.5, f"on {colour}", bold=True))
        for colour, text in ((ODD, "1"), (EVEN, "2"))
    )
    return (
        Sample(
            tuple(_stone(0, 0, 0.36, True)),
            "Black wins with a chain of black stones to three sides, a Y: 1, 3 and 5, or 2, 4 and 6",
        ),
        Sample(tuple(_stone(0, 0, 0.36, False)), "White wins with a chain of white stones to two opposite sides"),
        Sample(odd, "sides 1, 3 and 5, blue"),
        Sample(even, "sides 2, 4 and 6, orange"),
    )
