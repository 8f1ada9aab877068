"""Solvers that sweep over a public tree: counterfactual regret minimization, magnetic mirror descent, and backward
induction in endgames without hidden information.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs.authoring import check_range, kernel
from pbm_envs.toolbox import Array

from .evaluation import exploitability, forward_sweep
from .sweeps import Flat, Regrets, RegretWeights, Sweep, descend_mirror, match_regrets
from .tree import Policy, PublicTree, proportional


class Solver(ABC):
    """An iterative solver: `current` is the latest policy, `policy()` the solution."""

    def __init__(self, tree: PublicTree) -> None:
        self.tree = tree
        self.iterations = 0
        """Number of steps so far."""
        self.current = tree.uniform_policy()
        self._values = np.empty(tree.num_pairs)

    @abstractmethod
    def step(self) -> None:
        """Run one iteration for both players."""

    @abstractmethod
    def policy(self) -> Policy:
        """Return the policy that converges to an equilibrium."""

    def run(
        self,
        iterations: int,
        *,
        until: float | None = None,
        every: int = 10,
        report: Callable[[int, float], bool | None] | None = None,
    ) -> Policy:
        """Run up to `iterations` steps, and return `policy()`.

        Args:
            iterations: The maximum number of steps.
            until: Stop when the exploitability is at most this; it is computed after every `every` steps.
            every: Steps between two computations of the exploitability.
            report: Called with the number of iterations and the exploitability each time it is computed; the solver
                stops if it returns True.
        """
        check_range("iterations", iterations, 1)
        watched = until is not None or report is not None
        for k in range(1, iterations + 1):
            self.step()
            if watched and (k % every == 0 or k == iterations):
                left = exploitability(self.tree, self.policy())
                enough = report is not None and report(self.iterations, left)
                if enough or (until is not None and left <= until):
                    break
        return self.policy()

    def _forward(self, player: int) -> Sweep:
        return forward_sweep(self.tree, self.current, player, self._values)


class RegretMinimizer(Solver):
    """Counterfactual regret minimization with alternating updates (Zinkevich et al. 2007)."""

    def __init__(self, tree: PublicTree) -> None:
        super().__init__(tree)
        self._regrets = Regrets(np.zeros(tree.num_choices), np.zeros(tree.num_choices))

    @abstractmethod
    def _weights(self, iteration: int) -> RegretWeights:
        """Return the weights of an iteration, counted from 1."""

    def step(self) -> None:
        """Run one iteration, with alternating updates."""
        self.iterations += 1
        weights = self._weights(self.iterations)
        for player in range(2):
            self.tree.sweeps.backward(match_regrets, self._forward(player), self._regrets, weights)

    def policy(self) -> Policy:
        """Return the weighted average over all iterations."""
        return Policy(self.tree, proportional(self.tree, self._regrets.average))


@final
class CFR(RegretMinimizer):
    """CFR with equal weights."""

    def _weights(self, iteration: int) -> RegretWeights:
        return RegretWeights(1.0, 1.0, 1.0, 0.0)


@final
class CFRPlus(RegretMinimizer):
    """CFR+ (Tammelin 2014): negative regrets are reset, and iteration t counts t times in the average."""

    def _weights(self, iteration: int) -> RegretWeights:
        return RegretWeights(float(iteration), 1.0, 0.0, 0.0)


def predictive_weights(iteration: int) -> RegretWeights:
    """Return the weights of predictive CFR+."""
    return RegretWeights(float(iteration) ** 2, 1.0, 0.0, 1.0)


@final
class PredictiveCFRPlus(RegretMinimizer):
    """Predictive CFR+ (Farina, Kroer & Sandholm 2021): CFR+ that predicts the latest regrets again; iteration t counts
    t² times in the average. In these games it needs far fewer iterations than the others.
    """

    def _weights(self, iteration: int) -> RegretWeights:
        return predictive_weights(iteration)


@final
class DiscountedCFR(RegretMinimizer):
    """Discounted CFR (Brown & Sandholm 2019), by default with the exponents recommended there."""

    def __init__(self, tree: PublicTree, alpha: float = 1.5, beta: float = 0.0, gamma: float = 2.0) -> None:
        super().__init__(tree)
        self.alpha, self.beta, self.gamma = alpha, beta, gamma

    def _weights(self, iteration: int) -> RegretWeights:
        positive, negative = (float(iteration) ** power for power in (self.alpha, self.beta))
        return RegretWeights(float(iteration) ** self.gamma, positive / (positive + 1), negative / (negative + 1), 0.0)


@final
class MirrorDescent(Solver):
    """Magnetic mirror descent (Sokota et al. 2023) on behavioural policies, towards the uniform policy.

    Step size and temperature fall with the square root of the iterations. With a fixed `temperature` it converges to
    the quantal response equilibrium of that temperature instead. The solution is the last iterate.
    """

    def __init__(self, tree: PublicTree, step_size: float = 1.0, temperature: float | None = None) -> None:
        super().__init__(tree)
        self.step_size, self.temperature = step_size, temperature

    def step(self) -> None:
        """Run one iteration, with simultaneous updates."""
        self.iterations += 1
        falling = self.iterations**-0.5
        temperature = falling if self.temperature is None else self.temperature
        following = self.current.probabilities.copy()
        for player in range(2):
            sweep = self._forward(player)
            self.tree.sweeps.backward(descend_mirror, sweep, following, self.step_size * falling, temperature)
        self.current = Policy(self.tree, following)

    def policy(self) -> Policy:
        """Return the last iterate."""
        return self.current


def cfr_plus(tree: PublicTree, iterations: int) -> Policy:
    """Return the average policy of CFR+ after `iterations` iterations.

    >>> from pbm_envs import Curio
    >>> tree = PublicTree.build(Curio(base=2, rows=2, cols=3, no_capture_limit=1))
    >>> exploitability(tree, tree.uniform_policy()) > 0.3, exploitability(tree, cfr_plus(tree, 100)) < 0.01
    (True, True)
    """
    return CFRPlus(tree).run(iterations)


@kernel
def solve_endgames(tree: Flat, alone: Array, worth: Array, best: Array, first: int, last: int) -> None:
    """Solve by backward induction: write the value to player_0 (`worth`) of pairs that are `alone` in their public
    nodes, and the `best` choice in their information sets.
    """
    for s in range(last - 1, first - 1, -1):
        pair = tree.set_pairs[s]
        if not alone[pair]:
            continue
        sign = 1.0 - 2.0 * tree.set_player[s]
        highest = -np.inf
        for j in range(tree.set_choices[s + 1] - tree.set_choices[s]):
            child = tree.children[tree.set_transitions[s] + j]
            value = worth[child] if child >= 0 else tree.payoffs[~child]
            if sign * value > highest:
                highest, best[s] = sign * value, j
        worth[pair] = sign * highest


@final
@dataclass(frozen=True, eq=False)
class Trunk:
    """A public tree without the endgames in which one world is left.

    In these endgames both players know the value, whatever was played before. With each endgame replaced by its value,
    an equilibrium of the remaining tree is one of the whole game.
    """

    tree: PublicTree
    """The remaining tree."""
    whole: PublicTree
    kept: Array
    """(S of the whole tree,) mask of the information sets in the trunk."""
    best: Array
    """(S of the whole tree,) the best choice in the information sets outside the trunk."""

    @classmethod
    def of(cls, whole: PublicTree) -> Trunk:
        """Solve the endgames of a tree and cut them off; raise ValueError if the whole game is one."""
        alone = np.repeat(np.diff(whole.node_pairs) == 1, np.diff(whole.node_pairs))
        worth, best = np.empty(whole.num_pairs), np.zeros(whole.num_information_sets, np.int32)
        whole.sweeps.backward(solve_endgames, alone, worth, best)
        if alone[: whole.num_roots].any():
            raise ValueError(f"{whole.game!r}: a world is known from the start, there is nothing but endgame")
        kept = ~alone[whole.set_pairs[:-1]]
        return cls(_without(whole, alone, worth, kept), whole, kept, best)

    def extend(self, policy: Policy) -> Policy:
        """Extend a policy of the trunk to the whole tree, with perfect play in the endgames."""
        whole = self.whole
        probabilities = np.zeros(whole.num_choices)
        probabilities[whole.set_choices[:-1] + self.best] = 1.0
        probabilities[np.repeat(self.kept, np.diff(whole.set_choices))] = policy.probabilities
        return Policy(whole, probabilities)


def solve(
    tree: PublicTree,
    until: float = 1e-6,
    iterations: int = 10_000,
    report: Callable[[int, float], bool | None] | None = None,
) -> Policy:
    """Return a policy near an equilibrium: predictive CFR+ on the trunk, backward induction in the endgames.

    Args:
        tree: The public tree of the game.
        until: The exploitability at which to stop.
        iterations: The maximum number of iterations.
        report: As in `Solver.run`, every 25 iterations.
    """
    trunk = Trunk.of(tree)
    return trunk.extend(PredictiveCFRPlus(trunk.tree).run(iterations, until=until, every=25, report=report))


def _without(whole: PublicTree, alone: Array, worth: Array, kept: Array) -> PublicTree:
    """Return the tree of the information sets `kept`, in which the pairs `alone` are payoffs (`worth`).

    The order is preserved, so a new index is the number of kept items before it; edges into endgames become codes of
    payoffs. An information set is kept or cut off with all its pairs, because `alone` is a property of its node.
    """
    pairs_kept, transitions_kept = ~alone, np.repeat(kept, np.diff(whole.set_transitions))
    pair_numbers, transition_numbers = np.cumsum(pairs_kept) - 1, np.cumsum(transitions_kept) - 1
    payoffs = np.union1d(whole.payoffs, worth[alone])
    children = whole.children[transitions_kept].astype(np.int64)
    ended = children < 0
    into_endgame = ~ended & alone[children]
    inside = ~ended & ~into_endgame
    children[ended] = ~np.searchsorted(payoffs, whole.payoffs)[~children[ended]]
    children[into_endgame] = ~np.searchsorted(payoffs, worth[children[into_endgame]])
    children[inside] = pair_numbers[children[inside]]
    parents = whole.pair_parent[pairs_kept].astype(np.int64)
    choices, pairs = np.diff(whole.set_choices)[kept], np.diff(whole.set_pairs)[kept]
    nodes = whole.node_pairs[:-1][np.diff(whole.node_pairs) > 1]
    return PublicTree(
        game=whole.game,
        starts=whole.starts,
        chances=whole.chances,
        payoffs=payoffs,
        level_sets=np.unique(_starts(kept)[whole.level_sets]),
        node_pairs=np.append(pair_numbers[nodes], np.count_nonzero(pairs_kept)).astype(np.int32),
        set_player=whole.set_player[kept],
        set_pairs=_starts(pairs).astype(np.int32),
        set_choices=_starts(choices),
        set_transitions=_starts(choices * pairs),
        choice_actions=whole.choice_actions[np.repeat(kept, np.diff(whole.set_choices))],
        pair_world=whole.pair_world[pairs_kept],
        pair_parent=np.where(parents < 0, -1, transition_numbers[parents]).astype(np.int32),
        children=children.astype(np.int32),
    )


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)])
