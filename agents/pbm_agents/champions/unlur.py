"""Playouts for Unlur's champion, in which a win of White counts for less than one of Black.

White wins more of the playouts than of games between good players. A search that trusts them says `black` too late, and
leaves Black to an opponent who says it earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Ints, Seeds, States
from pbm_envs.games.unlur.rules import bridge_playout_batch
from pbm_envs.toolbox import Array, BatchKernel, PlayKernels, stack_kernel

from ..search import Playouts

WHITES_WIN = 0.8
"""What a win of White counts, and what a loss of Black costs."""
NOT_RECORDED = np.zeros((0, 0), np.int8)


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
    """Play every game to its end, as `bridge_playout_batch` does; multiply its returns if White has won."""
    over = np.empty(len(states), np.bool_)
    for i in range(len(states)):
        over[i] = states[i]["done"]
    bridge_playout_batch(states, seeds, around, edges, avoid_losing_moves, last_player_by_action)
    for i in range(len(states)):
        returns = states[i]["returns"]
        if not over[i] and returns[states[i]["black"]] < 0:
            returns[0] *= whites_win
            returns[1] *= whites_win


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
        playout, arguments = self.kernels(game).playout
        playout(states, seeds, *arguments, NOT_RECORDED if last_player_by_action is None else last_player_by_action)
        return None, states["returns"]

    def kernels(self, game: Game) -> PlayKernels:
        """Return the kernels of playouts that save bridges, with the discount."""
        play: Any = Playouts(save_bridges=True).kernels(game)
        return play._replace(playout=BatchKernel(discounted_playouts, (*play.playout.arguments, WHITES_WIN)))
