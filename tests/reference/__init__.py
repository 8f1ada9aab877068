"""The rules a second time, slow and obvious, written from the rulings alone; and reference searches and solvers."""

from __future__ import annotations

from typing import Any

from tests.reference.chameleon import Chameleon
from tests.reference.curio import Curio
from tests.reference.trinim import Trinim
from tests.reference.unlur import Unlur

GAMES: dict[str, Any] = {"chameleon": Chameleon, "curio": Curio, "trinim": Trinim, "unlur": Unlur}


def start(name: str, options: dict[str, Any], board: str | None = None, moves: list[str] | tuple[str, ...] = ()) -> Any:
    """The game from this board, where it has one, after these moves."""
    game = GAMES[name](board, **options) if name in ("curio", "trinim") else GAMES[name](**options)
    for text in moves:
        game.play(text)
    return game
