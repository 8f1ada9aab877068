"""What stands beside a board of Chameleon: the edges of each player, and the letters."""

from __future__ import annotations

from ...core.game import Game
from ...core.scene import Sample
from ...core.types import Record
from .rules import O, X
from .scene import _sides, _stone


def badge(view: Record, player: int) -> Sample:
    """A small board with the edges of the player."""
    vert = bool(view["vert"] == player)
    return Sample(tuple(_sides(0, 0, 0.34, vert)), "top and bottom" if vert else "left and right")


def symbols(game: Game, view: Record) -> tuple[Sample, ...]:
    """The letters and the edges."""
    return (
        Sample(tuple(_stone(0, 0, X)), "the letter x; both players may place it"),
        Sample(tuple(_stone(0, 0, O)), "the letter o; both players may place it"),
        Sample(tuple(_sides(0, 0, 0.34, True)), "Vert joins these edges, top and bottom"),
        Sample(tuple(_sides(0, 0, 0.34, False)), "Horz joins these edges, left and right"),
    )
