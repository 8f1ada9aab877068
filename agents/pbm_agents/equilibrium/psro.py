"""Policy-space response oracles (Lanctot et al. 2017) on a public tree (extra `torch`).

Each player has a population of policies. An iteration solves the matrix game of the populations, whose payoffs are
exact, and adds a response to the mixture of the other player's population that the solution plays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from pbm_envs.authoring import check_range
from pbm_envs.toolbox import Array

from .evaluation import best_response, expected_value, forward_sweep
from .inputs import Inputs, Learner
from .learners import PPO, Method, SelfPlay
from .tree import Policy, PublicTree, proportional

RESPONSE = replace(PPO, temperature=0.02, games=128, learning_rate=3e-3)
"""PPO as an oracle: little entropy, since a best response need not mix, and many updates."""
MATRIX_ITERATIONS = 5000
"""Alternating updates of both strategies; later ones have more weight in the average."""


def solve_matrix(payoffs: Array) -> tuple[Array, Array]:
    """Return the strategies of both players in a zero-sum matrix game, by CFR+ (regret matching+).

    `payoffs` (rows, columns) is what the row player wins.
    """
    regrets = [np.zeros(size) for size in payoffs.shape]
    strategies = [np.full(size, 1 / size) for size in payoffs.shape]
    sums = [np.zeros(size) for size in payoffs.shape]
    for k in range(1, MATRIX_ITERATIONS + 1):
        for player in range(2):
            gains = payoffs @ strategies[1] if player == 0 else -(strategies[0] @ payoffs)
            regrets[player] = np.maximum(regrets[player] + gains - gains @ strategies[player], 0)
            total = regrets[player].sum()
            strategies[player] = regrets[player] / total if total > 0 else np.full(len(gains), 1 / len(gains))
            sums[player] += k * strategies[player]
    return sums[0] / sums[0].sum(), sums[1] / sums[1].sum()


@final
class PSRO(Learner):
    """PSRO with PPO as the oracle, or with exact best responses, the double oracle algorithm."""

    def __init__(
        self,
        tree: PublicTree | Inputs,
        moves: int = 1_000_000,
        seed: int = 0,
        responses: int = 20,
        oracle: Method | None = RESPONSE,
    ) -> None:
        """Make a learner.

        Args:
            tree: The public tree of the game, or its `Inputs`, which learners can share.
            moves: The number of moves to play.
            seed: Seed of networks and games.
            responses: The number of responses that share the moves.
            oracle: The settings by which a network learns a response; its likeliest choices are added. None for exact
                best responses, which need no moves and count as an equal share of them.
        """
        super().__init__(tree, moves, seed)
        check_range("responses", responses, 1)
        self.responses, self.oracle = responses, oracle
        self._population = [self.tree.uniform_policy()]
        self._plans = [self._plan(self._population[0])]
        self.payoffs: Array = np.full((1, 1), expected_value(self.tree, self._population[0]))
        """(k, k) the exact returns of `player_0`, for each policy of both players."""
        self._mixture = self._population[0]

    def policy(self) -> Policy:
        """Return the mixture of the populations as one policy."""
        return self._mixture

    def step(self) -> None:
        """Add a response of each player, and solve the matrix game."""
        share = -(-self.total // self.responses)
        if self.oracle is None:
            replies = [best_response(self.tree, self._mixture, player).policy for player in range(2)]
            found = self._combine(*(reply.probabilities for reply in replies))
            self.moves += share
        else:
            seed = int(self.rng.integers(2**31))
            learner = SelfPlay(self.inputs, self.oracle, min(share, self.total - self.moves), seed, self._mixture)
            while not learner.finished:
                learner.step()
            self.moves += learner.moves
            found = self.inputs.greedy(learner.network)
        self._population.append(found)
        self._plans.append(self._plan(found))
        known = self.payoffs
        self.payoffs = np.empty((len(known) + 1, len(known) + 1))
        self.payoffs[:-1, :-1] = known
        for k, policy in enumerate(self._population):
            for one, other, place in ((found, policy, (-1, k)), (policy, found, (k, -1))):
                joint = self._combine(one.probabilities, other.probabilities)
                self.payoffs[place] = expected_value(self.tree, joint)
        weights = solve_matrix(self.payoffs)
        sums = [np.tensordot(part, self._plans, 1) for part in weights]
        self._mixture = Policy(self.tree, proportional(self.tree, np.where(self._first(), *sums)))

    def _first(self) -> Array:
        """Return a mask (C,) of the choices of `player_0`."""
        return np.repeat(self.tree.set_player == 0, self.inputs.sizes)

    def _combine(self, first: Array, second: Array) -> Policy:
        return Policy(self.tree, np.where(self._first(), first, second))

    def _plan(self, policy: Policy) -> Array:
        """Return the probability (C,) that a player's own choices lead to a choice: mixtures are linear in it."""
        own = [forward_sweep(self.tree, policy, player).own[self.tree.set_pairs[:-1]] for player in range(2)]
        reached = np.where(self.tree.set_player == 0, *own)
        return np.repeat(reached, self.inputs.sizes) * policy.probabilities
