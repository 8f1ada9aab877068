"""Playouts for Unlur's champion, in which a win of White counts for less than one of Black.

White wins more of the playouts than of games between good players. A search that trusts them says `black` too late, and
leaves Black to an opponent who says it earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Ints, Record, Seeds, States
from pbm_envs.games.unlur.rules import bridge_playout_batch
from pbm_envs.toolbox import Array, BatchKernel, PlayKernels, stack_kernel

from ..search import Playouts

PLAYOUTS = Playouts(save_bridges=True)
WHITES_WIN = 0.8
"""What a win of White counts, and what a loss of Black costs."""


@stack_kernel
def discount(state: Record, whites_win: float) -> None:
    """Multiply the returns of a finished game if White has won."""
    if state["returns"][state["black"]] < 0:
        state["returns"][0] *= whites_win
        state["returns"][1] *= whites_win


@stack_kernel
def discounted_playouts(
    states: States,
    seeds: Seeds,
    around: Ints,
    edges: Ints,
    avoid_losing_moves: bool,
    whites_win: float,
    last_player_by_action: Ints,
) -> None:
    """Play every game to its end, as `bridge_playout_batch` does, and `discount` its returns."""
    for i in range(len(states)):
        if not states[i]["done"]:
            one = slice(i, i + 1)
            last = last_player_by_action[one]
            bridge_playout_batch(states[one], seeds[one], around, edges, avoid_losing_moves, last)
            discount(states[i], whites_win)


@final
@dataclass(frozen=True)
class UnlurPlayouts:
    """An evaluator: playouts that save bridges, with a discount on wins of White. A game that is over counts fully."""

    gives_priors: ClassVar[bool] = False
    answers_are_checked: ClassVar[bool] = True

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[None, Array]:
        """Evaluate leaves (see `Evaluator`)."""
        playing = np.flatnonzero(~states["done"])
        PLAYOUTS(game, states, masks, seeds, last_player_by_action)
        for row in playing:
            discount(states[row], WHITES_WIN)
        return None, states["returns"]

    def kernels(self, game: Game) -> PlayKernels:
        """Return kernels that play as `__call__` does."""
        play: Any = PLAYOUTS.kernels(game)
        return play._replace(playout=BatchKernel(discounted_playouts, (*play.playout.arguments, WHITES_WIN)))
