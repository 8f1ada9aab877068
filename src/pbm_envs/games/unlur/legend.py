"""What stands beside a board of Unlur: the stone of each player, and the sides."""

from __future__ import annotations

from ...core.game import Game
from ...core.scene import Circle, Label, Sample
from ...core.state import NOBODY
from ...core.types import Record
from .scene import EVEN, ODD, _stone


def badge(view: Record, player: int) -> Sample:
    """The stone that the player places; both, while nobody is Black."""
    if view["black"] == NOBODY:
        both = (*_stone(-0.12, -0.12, 0.26, black=True), *_stone(0.12, 0.12, 0.26, black=False))
        return Sample(both, "black or white is still open")
    black = bool(view["black"] == player)
    return Sample(tuple(_stone(0, 0, 0.36, black)), "black stones" if black else "white stones")


def symbols(game: Game, view: Record) -> tuple[Sample, ...]:
    """The stones and the sides."""
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
