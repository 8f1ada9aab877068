"""The first plies of a public tree below a public node, with playouts where it is cut off."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States, take_rows
from pbm_envs.toolbox import Array

from .growth import GIBIBYTE, Growth, with_views
from .sweeps import Sweeps
from .tree import PublicTree

MEMORY = 64 * GIBIBYTE
"""In practice no limit, because `size` or `until` limits the tree."""


@final
@dataclass(frozen=True, eq=False)
class Belief:
    """The worlds of a public node, as seen by one player, the searcher."""

    states: States
    """(W,) the worlds."""
    histories: Array
    """(W, 2) hashes of each player's views so far."""
    weights: Array
    """(W,) probabilities that chance and the searcher's own moves lead to each world, up to a common factor."""
    gains: Array | None
    """(W,) value of the opponent's best response to the searcher's last plan in each world, times its weight. The next
    plan must not concede more. None: unknown.
    """

    @classmethod
    def start(cls, states: States, chances: Array) -> Belief:
        """Return the belief before the first move, or if nothing else is known."""
        return cls(states, np.zeros((len(states), 2), np.uint64), chances / chances.sum(), None)


@final
class Lookahead:
    """A public tree of a few plies from a belief; worlds where it is cut off have the mean value of their playouts."""

    def __init__(
        self,
        game: Game,
        belief: Belief,
        searcher: int,
        *,
        size: int,
        playouts: int,
        rng: np.random.Generator,
        until: float = np.inf,
    ) -> None:
        """Grow the tree level by level, to at most `size` transitions, but always to the searcher's next move.

        No level is started that would miss the deadline `until` (`time.perf_counter`) at the speed so far. There are
        `playouts` playouts from each world where the tree is cut off.
        """
        self.game, self.belief, self.searcher = game, belief, searcher
        begun = time.perf_counter()
        growth = Growth(game, MEMORY, threads=1)
        level = growth.first(belief.states, belief.histories)
        self.levels = [level]
        """The levels of the tree, then the level below the cut (empty if the tree is complete)."""
        self.waiting = [np.ones(len(level.worlds), bool)]
        """For each level, a mask of the worlds where only the opponent has moved since the move at the root, if any."""
        sizes = game.legal_action_mask(level.states).sum(axis=1)
        while len(level.worlds):
            before, above = growth.transitions, level
            level = growth.add_level(above)
            rows = np.repeat(np.arange(len(sizes)), sizes)[level.parents - before]
            by_opponent = (above.states["to_move"] != searcher)[rows] | (len(self.levels) == 1)
            self.waiting.append(self.waiting[-1][rows] & by_opponent)
            self.levels.append(level)
            sizes = game.legal_action_mask(level.states).sum(axis=1)
            needed = (self.waiting[-1] & (level.states["to_move"] != searcher)).any()  # the next move is below
            now, more = time.perf_counter(), int(sizes.sum())
            late = now + (now - begun) / growth.transitions * more > until
            if not needed and (late or growth.transitions + more > size):
                break
        arrays = growth.arrays()
        self.cut_values = self._play_out(playouts, rng)
        """(worlds of the last level,) mean returns of player_0."""
        cut = arrays["children"] >= growth.pairs
        arrays["children"][cut] = ~(len(arrays["payoffs"]) + arrays["children"][cut] - growth.pairs)
        arrays["payoffs"] = np.concatenate([arrays["payoffs"], self.cut_values])
        self.tree = PublicTree(game, belief.states, belief.weights, **arrays)
        self.sweeps = Sweeps(self.tree.flat, self.tree.level_sets, threads=1)
        roots = self.levels[0]
        self.root_weights = belief.weights[roots.worlds]
        _, self.opponent_sets = np.unique(roots.histories[:, 1 - searcher], return_inverse=True)
        """The opponent's information set of each world at the root."""

    def first_pair(self, depth: int) -> int:
        """Return the index of the first pair of a level of the tree."""
        return int(self.tree.set_pairs[self.tree.level_sets[depth]])

    def next_nodes(self) -> Iterator[tuple[int, slice]]:
        """Yield the depth and rows of each public node, except the root, where the searcher moves next."""
        for depth, (level, waits) in enumerate(zip(self.levels, self.waiting, strict=True)):
            if depth:
                for first, last in pairwise(level.nodes.tolist()):
                    if waits[first] and level.states["to_move"][first] == self.searcher:
                        yield depth, slice(first, last)

    def root_set(self, view: States) -> int:
        """Return the searcher's information set at the root with `view` (1,); raise LookupError if there is none."""
        rows = same_views(self.game, self.levels[0].states, view, self.searcher)
        if not len(rows):
            raise LookupError("no world of the belief looks like this view")
        return int(np.searchsorted(self.tree.set_pairs, rows[0], side="right")) - 1

    def _play_out(self, playouts: int, rng: np.random.Generator) -> Array:
        last = self.levels[-1].states
        states = take_rows(last, np.repeat(np.arange(len(last)), playouts))
        if len(states):
            self.game.playout(states, rng)
        return states["returns"][:, 0].reshape(len(last), playouts).mean(axis=1, dtype=np.float64)


def same_views(game: Game, states: States, view: States, player: int) -> Array:
    """Return the rows of `states` (W,) whose view for `player` equals `view` (1,)."""
    keys = with_views(np.zeros(len(states), np.uint64), game.view(states, player))
    return np.flatnonzero(keys == with_views(np.zeros(1, np.uint64), view)[0])
