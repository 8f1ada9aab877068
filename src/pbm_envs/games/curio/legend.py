"""What stands beside a board of Curio: an army's piece, captured pieces, the symbols of pieces."""

from __future__ import annotations

import numpy as np

from ...core.game import Game
from ...core.scene import Circle, Label, Sample, Shape
from ...core.types import Record
from ...render.parts import crown
from .pieces import CAPTURED
from .scene import ARMIES, TILE, _lost, _swatch
from .wording import ARMIES as NAMES
from .wording import _numbers


def badge(view: Record, player: int) -> Sample:
    """A piece of the player's army, pointing as it does on the board."""
    shapes = tuple(_swatch(0, 0, 0.95, player, up=player == max(0, int(view["viewer"]))))
    return Sample(shapes, f"the pieces of {NAMES[player]}")


def holdings(game: Game, view: Record, player: int) -> Sample:
    """The pieces that a player has lost, as far as the viewer knows them."""
    lost = np.flatnonzero((view["owner"] == player) & (view["cell"] == CAPTURED)).tolist()
    fresh = int(view["last_action"]) >= 0 and view["quiet"] == 0
    shapes = tuple(_lost(-2.5, 0, 1.0, game, view, player, fresh=bool(fresh)))
    text = f"lost: {', '.join(_numbers(view, slot) for slot in lost)}" if lost else "nothing lost"
    return Sample(shapes, text, 5.0)


def symbols(game: Game, view: Record) -> tuple[Sample, ...]:
    """How to read a piece."""
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
