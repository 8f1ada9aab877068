"""Solvers that sweep over the whole public tree: counterfactual regret minimization and magnetic mirror descent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import final

import numpy as np

from pbm_envs.authoring import check_range

from .evaluation import exploitability, forward_sweep
from .policy import Policy
from .sweeps import Regrets, Sweep, descend_mirror, match_regrets, normalize
from .tree import PublicTree


class Solver(ABC):
    """A policy that is made better step by step. `current` is what it plays now, `policy()` its answer."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self.iterations = 0
        """Steps so far."""
        self.current = tree.uniform_policy()
        self._values = np.empty(tree.num_pairs)

    @abstractmethod
    def step(self) -> None:
        """One iteration: both players in turn."""

    @abstractmethod
    def policy(self) -> Policy:
        """The policy that comes near to an equilibrium."""

    def run(
        self,
        iterations: int,
        *,
        until: float | None = None,
        every: int = 10,
        report: Callable[[int, float], bool | None] | None = None,
    ) -> Policy:
        """Take up to `iterations` steps, and return `policy()`.

        Args:
            iterations: At most so many.
            until: Stop when the exploitability is not greater than this; looked at after `every` steps.
            every: Steps between two looks.
            report: Called at each look with the number of iterations and the exploitability; True stops.
        """
        check_range("iterations", iterations, 1)
        looks = until is not None or report is not None
        for k in range(1, iterations + 1):
            self.step()
            if looks and (k % every == 0 or k == iterations):
                left = exploitability(self.tree, self.policy())
                enough = report is not None and report(self.iterations, left)
                if enough or (until is not None and left <= until):
                    break
        return self.policy()

    def _forward(self, player: int) -> Sweep:
        """A sweep of a player that has come to the ends of the tree."""
        return forward_sweep(self.tree, self.current, player, self._values)


class RegretMinimizer(Solver):
    """Counterfactual regret minimization with the players taking turns (Zinkevich et al. 2007)."""

    def __init__(self, tree: PublicTree) -> None:
        super().__init__(tree)
        self._regrets = Regrets(np.zeros(tree.num_choices), np.zeros(tree.num_choices))

    @abstractmethod
    def _weights(self, iteration: int) -> tuple[float, float, float, float, float]:
        """As `match_regrets` has them."""

    def step(self) -> None:
        """One iteration: both players in turn."""
        self.iterations += 1
        weights = np.array(self._weights(self.iterations))
        for player in range(2):
            self.tree.sweeps.backward(match_regrets, self._forward(player), self._regrets, weights)

    def policy(self) -> Policy:
        """The average over all iterations."""
        probabilities = np.empty(self.tree.num_choices)
        normalize(self.tree.flat, self._regrets.average, probabilities)
        return Policy(self.tree, probabilities)


@final
class CFR(RegretMinimizer):
    """Without weights."""

    def _weights(self, iteration: int) -> tuple[float, float, float, float, float]:
        return 1.0, 1.0, 1.0, 0.0, 0.0


@final
class CFRPlus(RegretMinimizer):
    """CFR+ (Tammelin 2014): negative regrets are forgotten, iteration t counts t times in the average."""

    def _weights(self, iteration: int) -> tuple[float, float, float, float, float]:
        return float(iteration), 1.0, 1.0, 1.0, 0.0


@final
class PredictiveCFRPlus(RegretMinimizer):
    """Predictive CFR+ (Farina, Kroer & Sandholm 2021): CFR+ that expects the latest regrets to come again; iteration t
    counts t² times in the average. In these games it needs far fewer iterations than the others.
    """

    def _weights(self, iteration: int) -> tuple[float, float, float, float, float]:
        return float(iteration) ** 2, 1.0, 1.0, 1.0, 1.0


@final
class DiscountedCFR(RegretMinimizer):
    """Discounted CFR (Brown & Sandholm 2019); the exponents as recommended there."""

    def __init__(self, tree: PublicTree, alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> None:
        super().__init__(tree)
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def _weights(self, iteration: int) -> tuple[float, float, float, float, float]:
        positive, negative = (float(iteration) ** power for power in (self.alpha, self.beta))
        return float(iteration) ** self.gamma, positive / (positive + 1), negative / (negative + 1), 0.0, 0.0


@final
class MirrorDescent(Solver):
    """Magnetic mirror descent (Sokota et al. 2023) in behavioural policies, towards the uniform policy.

    Step size and temperature fall with the square root of the iterations; with `temperature` fixed instead, it comes
    near to the quantal response equilibrium of that temperature. The answer is the last policy.
    """

    def __init__(self, tree: PublicTree, step_size: float = 1.0, temperature: float | None = None) -> None:
        super().__init__(tree)
        self.step_size, self.temperature = step_size, temperature

    def step(self) -> None:
        """One iteration: both players at once."""
        self.iterations += 1
        falling = self.iterations**-0.5
        weights = np.array([self.step_size * falling, falling if self.temperature is None else self.temperature])
        following = self.current.probabilities.copy()
        for player in range(2):
            self.tree.sweeps.backward(descend_mirror, self._forward(player), following, weights)
        self.current = Policy(self.tree, following)

    def policy(self) -> Policy:
        """The last iterate."""
        return self.current


def cfr_plus(tree: PublicTree, iterations: int) -> Policy:
    """The average policy of so many iterations of CFR+.

    >>> from pbm_envs import Curio
    >>> tree = PublicTree.build(Curio(base=2, rows=2, cols=3, no_capture_limit=1))
    >>> exploitability(tree, tree.uniform_policy()) > 0.3, exploitability(tree, cfr_plus(tree, 100)) < 0.01
    (True, True)
    """
    return CFRPlus(tree).run(iterations)
