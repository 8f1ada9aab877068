"""What stands beside a board of Trinim: what each player holds, and the pieces."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.game import Game
from ...core.scene import Label, Polygon, Sample, Shape
from ...core.types import Record
from ...render.parts import rectangle
from .rules import NAMES
from .scene import _piece, _points

STEP = 1.75
"""Width of a colour in what a player holds."""


def holdings(game: Game, view: Record, player: int) -> Sample:
    """How many pieces of each colour a player holds, even or odd, and the score."""
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
    """The pieces, and the frame around an even number."""
    pieces = [Sample(tuple(_piece(0, 0, 0.36, colour)), f"a {name} piece") for colour, name in NAMES.items()]
    outline = Polygon(rectangle(-0.4, -0.4, 0.8, 0.8), None, "ink", 0.06)
    even = Sample((outline, Label(0, 0, "2", 0.6, "ink", bold=True)), "framed: an even number, which scores a point")
    return (*pieces, even)
