"""Waves of simulations with random playouts, one after the other, without returning to Python in between.

The kernels of a wave are those that `Simulator.simulate` calls; here they are put together with those of a game.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from pbm_envs.core.kernels import kernel
from pbm_envs.core.state import NOBODY
from pbm_envs.core.types import Array, Ints, Seeds, States

from .backup import backup
from .expansion import advance
from .selection import select
from .tree import Tree


@lru_cache(maxsize=None)
def waves_kernel(step: Callable[..., Any], mark_legal: Callable[..., Any], playout: Callable[..., Any]) -> Any:
    """A kernel that makes waves of simulations of the game with these kernels, as in `PlayKernels`."""

    @kernel
    def make_waves(
        waves: int,
        trees: Array,
        states: States,
        bytes_of_states: Array,
        masks: Array,
        simulations: Array,
        actions: Ints,
        leaf_seeds: Seeds,
        last_players: Array,
        values: Array,
        value: Array,
        step_arguments: Any,
        mask_arguments: Any,
        playout_arguments: Any,
        *arrays: Array,
    ) -> tuple[int, int]:
        """At most `waves`, fewer if one proves a root. Arguments are those of `Memory`, and of the game's kernels.

        Returns:
            How many waves were made, and how many roots the last one has proven.
        """
        tree, half = Tree(*arrays), len(actions)
        hidden, rave = tree.available.size > 0, tree.rave.size > 0
        made, proven = 0, 0
        while made < waves and proven == 0:
            count, arrived, first, starting = len(trees), 0, half, True
            while count > 0:
                here = trees[:count] if arrived == 0 else trees[:0]
                at_leaves = select(simulations, count, bytes_of_states, masks, actions, starting, here, leaf_seeds, *arrays)
                step(states[:count], actions[:count], *step_arguments)
                if at_leaves and arrived == 0:  # all at once: none need be set aside
                    for r in range(count):
                        simulations[r]["done"] = bytes_of_states[r, tree.settings[0]["done"]] != 0
                    first, arrived, count = 0, count, 0
                else:
                    starting = False
                    going = advance(simulations, bytes_of_states, count, arrived, leaf_seeds, *arrays)
                    arrived, count = arrived + count - going, going
                    if count > 0:
                        mark_legal(states[:count], masks[:count], *mask_arguments)
            if rave:
                for r in range(arrived):
                    for a in range(last_players.shape[1]):
                        last_players[r, a] = NOBODY
            leaves = states[first : first + arrived]
            playout(leaves, leaf_seeds[:arrived], *playout_arguments, last_players[:arrived])
            for r in range(arrived):
                for k in range(len(value)):
                    values[r, k] = leaves[r]["returns"][k]
            proven = backup(simulations[first:], arrived, values, last_players, value, *arrays)
            made += 1
        return made, proven

    return make_waves
