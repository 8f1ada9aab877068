"""The first plies of a public tree below what both players know, with playouts where it is cut off.

A `Belief` is a public node as a player who looks ahead from it keeps it; a `Lookahead` is the tree that grows from it.
Where the tree is cut off, a world is worth what random playouts from it return on average.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States, take_rows

from ..common.progress import progress_bar
from .growth import Collector, Grower, add_level, with_views
from .policy import Array
from .sweeps import Sweeps
from .tree import GIBIBYTE, PublicTree


@final
@dataclass(frozen=True, eq=False)
class Belief:
    """The worlds of a public node, as one player (the searcher) has come to it."""

    states: States
    """(W,)"""
    histories: Array
    """(W, 2) hashes of all that each player has seen."""
    weights: Array
    """(W,) how likely chance and the searcher's own moves lead to each world, up to a common factor."""
    gains: Array | None
    """(W,) what the opponent gets in each world by the best response to the searcher's last plan, times its weight: no
    more may be given away from here on. None: not known.
    """

    @classmethod
    def start(cls, states: States, chances: Array) -> Belief:
        """Before the first move, or where nothing else is known."""
        return cls(states, np.zeros((len(states), 2), np.uint64), chances / chances.sum(), None)


@final
class Lookahead:
    """A public tree of a few plies from a belief."""

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
        """Grow it level by level.

        Args:
            game: The rules.
            belief: Where it begins.
            searcher: For whom. Of whatever size, it reaches to where this player moves next.
            size: Transitions, at most.
            playouts: From each world where the tree is cut off.
            rng: Of the playouts.
            until: The time (`time.perf_counter`) at which the last level is done, as far as its size can tell.
        """
        self.game, self.belief, self.searcher = game, belief, searcher
        begun = time.perf_counter()
        grower, collector = Grower(game, 64 * GIBIBYTE, threads=1), Collector(game)
        level = grower.first(belief.states, belief.histories)
        self.levels = [level]
        """Of the tree, and the one below where it is cut off (empty if it is not)."""
        self.waiting = [np.ones(len(level.worlds), bool)]
        """Of each world of each level: has only the opponent moved since the move at the root, if any?"""
        sizes = game.legal_action_mask(level.states).sum(axis=1)
        with progress_bar(False) as bar:
            while len(level.worlds):
                before, above = collector.transitions, level
                level = add_level(grower, collector, above, bar)
                rows = np.repeat(np.arange(len(sizes)), sizes)[level.parents - before]
                theirs = (above.states["to_move"] != searcher)[rows] | (len(self.levels) == 1)
                waits = self.waiting[-1][rows] & theirs
                self.levels.append(level)
                self.waiting.append(waits)
                sizes = game.legal_action_mask(level.states).sum(axis=1)
                needed = (waits & (level.states["to_move"] != searcher)).any()  # the searcher's next move is below
                now, more = time.perf_counter(), int(sizes.sum())
                late = now + (now - begun) / collector.transitions * more > until
                if not needed and (late or collector.transitions + more > size):
                    break
        arrays = collector.arrays()
        cut = arrays["children"] >= collector.pairs
        self.worth = self._play_out(playouts, rng)
        """(pairs below,) to player_0."""
        arrays["children"][cut] = ~(len(arrays["payoffs"]) + arrays["children"][cut] - collector.pairs)
        arrays["payoffs"] = np.concatenate([arrays["payoffs"], self.worth])
        self.tree = PublicTree(game, belief.states, belief.weights, **arrays)
        self.sweeps = Sweeps(self.tree.flat, self.tree.level_sets, threads=1)
        first = self.levels[0]
        self.root_weights = belief.weights[first.worlds]
        _, self.opponent_sets = np.unique(first.histories[:, 1 - searcher], return_inverse=True)
        """Of each world at the root, the opponent's information set."""

    def first_pair(self, depth: int) -> int:
        """Of a level of the tree."""
        return int(self.tree.set_pairs[self.tree.level_sets[depth]])

    def next_nodes(self) -> Iterator[tuple[int, slice]]:
        """Where the searcher moves next: the depths and rows of the public nodes, those at the root excepted."""
        for depth, (level, waits) in enumerate(zip(self.levels, self.waiting, strict=True)):
            if depth:
                for first, last in pairwise(level.nodes.tolist()):
                    if waits[first] and level.states["to_move"][first] == self.searcher:
                        yield depth, slice(first, last)

    def root_set(self, view: States) -> int:
        """The information set of the player to move who sees `view` (1,).

        Raises:
            LookupError: Nobody can see this at the root.
        """
        rows = same_views(self.game, self.levels[0].states, view, self.searcher)
        if not len(rows):
            raise LookupError("no world of the belief looks like this view")
        return int(np.searchsorted(self.tree.set_pairs, rows[0], side="right")) - 1

    def _play_out(self, playouts: int, rng: np.random.Generator) -> Array:
        """The mean return to player_0 from each world of the last level."""
        last = self.levels[-1].states
        states = take_rows(last, np.repeat(np.arange(len(last)), playouts))
        if len(states):
            self.game.playout(states, rng)
        return states["returns"][:, 0].reshape(len(last), playouts).mean(axis=1, dtype=np.float64)


def same_views(game: Game, states: States, view: States, player: int) -> Array:
    """The rows of `states` (W,) of which `player` sees exactly `view` (1,)."""
    keys = with_views(np.zeros(len(states), np.uint64), game.view(states, player))
    return np.flatnonzero(keys == with_views(np.zeros(1, np.uint64), view)[0])
