"""The agent `equilibrium`, which solves a small game when it first plays it and then plays an equilibrium."""

from __future__ import annotations

from typing import Annotated, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option
from pbm_envs.toolbox import Array, checked

from ..players.agent import Actions, Views, check_searchable, draw
from .evaluation import BATCH, forward_sweep, without_gaps
from .growth import check_set_ups, check_two_players
from .solvers import solve
from .tree import Policy, PublicTree


@final
class PolicyAgent:
    """An agent that plays the policy of a public tree.

    It knows only its current view. Information sets with the same view are played alike, by the mean of their policies
    weighted by the probability that the policy reaches them.
    """

    def __init__(self, policy: Policy) -> None:
        """Take the policy of both players."""
        tree = policy.tree
        self.game = tree.game
        sweep = forward_sweep(tree, policy, 0)
        reached = np.add.reduceat(sweep.counterfactual * sweep.own, tree.set_pairs[:-1])
        self._weights: dict[bytes, Array] = {}
        for first, _, views in tree.views_by_batch(BATCH):
            table = policy.dense(first, first + len(views))
            table *= (reached[first : first + len(views)] + 1e-12)[:, None]  # so that unreached views count, too
            for view, row in zip(without_gaps(views), table, strict=True):
                key = view.tobytes()
                self._weights[key] = self._weights[key] + row if key in self._weights else row

    def check_plays(self, game: Game) -> None:
        """Raise ValueError unless the policy is one of this game."""
        if game != self.game:
            raise ValueError(f"game is {game!r}: expected {self.game!r}, whose policy this is")

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Return actions, as `Agent.act`."""
        return draw(self.probabilities(game, views), rng)

    def probabilities(self, game: Game, views: Views) -> Array:
        """Return action probabilities (B, A); ValueError for a view that is not in the game's tree."""
        check_searchable(game, views)
        self.check_plays(game)
        try:
            weights = np.array([self._weights[view.tobytes()] for view in without_gaps(views)])
        except KeyError:
            raise ValueError(f"a view does not occur in {game!r}: expected games from its own set-ups") from None
        return weights / weights.sum(axis=1, keepdims=True)


@final
class EquilibriumAgent:
    """An agent that plays an equilibrium of a game whose public tree fits into memory, as a `PolicyAgent`."""

    @checked
    def __init__(
        self,
        *,
        until: Annotated[float, Option(low=1e-9, high=1, help="Exploitability at which solving stops.")] = 1e-4,
        memory: Annotated[float, Option(low=0.01, high=1e3, help="GiB for the public tree.")] = 2.0,
    ) -> None:
        """Take the settings; games are solved when they are first played."""
        self.until, self.memory = until, memory
        self._solved: PolicyAgent | None = None

    def check_plays(self, game: Game) -> None:
        """Raise ValueError unless the game has two players, public moves, and few enough set-ups.

        Whether its public tree fits into the memory shows only when it is built.
        """
        check_two_players(game)
        check_set_ups(game)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Return actions, as `Agent.act`."""
        return draw(self.probabilities(game, views), rng)

    def probabilities(self, game: Game, views: Views) -> Array:
        """Return action probabilities (B, A); ValueError for a view that is not in the game's tree."""
        check_searchable(game, views)
        if self._solved is None or self._solved.game != game:
            self.check_plays(game)
            self._solved = PolicyAgent(solve(PublicTree.build(game, memory=self.memory), self.until))
        return self._solved.probabilities(game, views)
