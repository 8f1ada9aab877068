"""Monte Carlo counterfactual regret minimization (Lanctot, Waugh, Zinkevich & Bowling 2009) on a public tree.

A traversal begins in a random set-up and updates the information sets of one player that it visits. It costs far less
than a sweep over the whole tree, and its regrets are right on average only.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np

from pbm_envs.authoring import check_range, kernel, seeds, uniform
from pbm_envs.toolbox import Array, check_number, stack_kernel

from .solvers import Solver
from .sweeps import Flat, Regrets, most_choices
from .tree import Policy, PublicTree, proportional


@stack_kernel
def match(totals: Array, first: int, count: int, policy: Array) -> None:
    """Write to `policy` the probabilities of the choices `first` to `first + count`, by their positive regrets."""
    positive = 0.0
    for j in range(count):
        policy[j] = max(totals[first + j], 0.0)
        positive += policy[j]
    for j in range(count):
        policy[j] = policy[j] / positive if positive > 0 else 1.0 / count


@stack_kernel
def pick(weights: Array, count: int, random: float) -> int:
    """Return an index below `count`, drawn by `weights`, which sum to one, and a `random` number in [0, 1)."""
    chosen = 0
    while chosen < count - 1 and random >= weights[chosen]:
        random -= weights[chosen]
        chosen += 1
    return chosen


@kernel
def sample_externally(
    tree: Flat,
    pair_set: Array,
    chances: Array,
    regrets: Regrets,
    depth: int,
    count: int,
    random: Array,
    advantages: Array,
    visits: Array,
) -> int:
    """Run `count` traversals for each player that visit all of its choices, and one choice of the opponent.

    Args:
        tree: The public tree.
        pair_set: (P,) the information set of each pair.
        chances: (roots,) the probability of each pair before the first move.
        regrets: Changed in place.
        depth: The number of plies of the longest game.
        count: The number of traversals per player.
        random: (1,) the seed, which advances.
        advantages: (C,) policies are proportional to their positive parts; `regrets.totals`, or what a network says.
        visits: (S,) the number of traversals of its own player that visited an information set, changed in place.

    Returns:
        The number of pairs that were visited.
    """
    width = most_choices(tree, 0, len(tree.set_player))
    policies, values = np.empty((depth, width)), np.empty((depth, width))
    pairs, nexts, visited = np.empty(depth, np.int64), np.empty(depth, np.int64), 0
    for traversal in range(2 * count):
        player = traversal % 2
        sign = 1.0 - 2.0 * player
        level, pair = -1, pick(chances, len(chances), uniform(random, 0))
        value, down = 0.0, True
        while True:
            if down:  # enter a pair
                level += 1
                visited += 1
                s = pair_set[pair]
                first, choices = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
                pairs[level] = pair
                match(advantages, first, choices, policies[level])
                nexts[level] = 0
                if tree.set_player[s] != player:
                    for j in range(choices):
                        regrets.average[first + j] += policies[level, j]
                    nexts[level] = pick(policies[level], choices, uniform(random, 0))
            else:  # `value` is that of the choice below
                s = pair_set[pairs[level]]
                first, choices = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
                over = tree.set_player[s] != player
                if not over:
                    values[level, nexts[level]] = value
                    nexts[level] += 1
                    over = nexts[level] == choices
                    if over:
                        visits[s] += 1
                        value = 0.0
                        for j in range(choices):
                            value += policies[level, j] * values[level, j]
                        for j in range(choices):
                            regrets.totals[first + j] += values[level, j] - value
                if over:
                    level -= 1
                    if level < 0:
                        break
                    continue
            child = tree.children[tree.set_transitions[s] + (pairs[level] - tree.set_pairs[s]) * choices + nexts[level]]
            down = child >= 0
            if down:
                pair = child
            else:
                value = sign * tree.payoffs[~child]
    return visited


@kernel
def sample_outcomes(
    tree: Flat,
    pair_set: Array,
    chances: Array,
    regrets: Regrets,
    depth: int,
    count: int,
    random: Array,
    exploration: float,
) -> int:
    """Run `count` traversals for each player that visit one choice everywhere.

    The arguments are those of `sample_externally`. The player of the traversal chooses at random with the
    probability `exploration`.
    """
    width = most_choices(tree, 0, len(tree.set_player))
    policies, sampled = np.empty((depth, width)), np.empty(width)
    sets, chosen, visited = np.empty(depth, np.int64), np.empty(depth, np.int64), 0
    own, other, drawn = np.empty(depth + 1), np.empty(depth + 1), np.empty(depth + 1)
    for traversal in range(2 * count):
        player = traversal % 2
        pair, plies = pick(chances, len(chances), uniform(random, 0)), 0
        own[0] = other[0] = drawn[0] = 1.0
        while True:
            s = pair_set[pair]
            first, choices = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
            policy, mine = policies[plies], tree.set_player[s] == player
            match(regrets.totals, first, choices, policy)
            for j in range(choices):
                sampled[j] = (1 - exploration) * policy[j] + exploration / choices if mine else policy[j]
            j = pick(sampled, choices, uniform(random, 0))
            sets[plies], chosen[plies] = s, j
            own[plies + 1] = own[plies] * policy[j] if mine else own[plies]
            other[plies + 1] = other[plies] if mine else other[plies] * policy[j]
            drawn[plies + 1] = drawn[plies] * sampled[j]
            plies += 1
            child = tree.children[tree.set_transitions[s] + (pair - tree.set_pairs[s]) * choices + j]
            if child < 0:
                break
            pair = child
        visited += plies
        value = (1.0 - 2.0 * player) * tree.payoffs[~child]  # an estimate, divided by the probability of the sample
        for k in range(plies - 1, -1, -1):
            s, j = sets[k], chosen[k]
            first, choices = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
            below = value * drawn[k] / drawn[k + 1]
            value = policies[k, j] * below
            if tree.set_player[s] == player:
                weight = other[k] / drawn[k]
                for i in range(choices):
                    regrets.totals[first + i] += weight * ((below if i == j else 0.0) - value)
                    regrets.average[first + i] += own[k] / drawn[k] * policies[k, i]
    return visited


class SampledRegretMinimizer(Solver):
    """Monte Carlo counterfactual regret minimization; a step is a number of traversals for each player."""

    def __init__(self, tree: PublicTree, traversals: int = 1000, seed: int = 0) -> None:
        """Take the number of traversals of a step for each player, and a seed."""
        check_range("traversals", traversals, 1)
        super().__init__(tree)
        self.traversals = traversals
        self.visited = 0
        """The number of pairs of a public node and a world that were visited so far."""
        self._regrets = Regrets(np.zeros(tree.num_choices), np.zeros(tree.num_choices))
        self._pair_set = np.repeat(np.arange(tree.num_information_sets, dtype=np.int32), np.diff(tree.set_pairs))
        self._chances = np.asarray(tree.chances[tree.pair_world[: tree.num_roots]], np.float64)
        self._random = seeds(np.random.default_rng(seed), 1)
        self._visits = np.zeros(tree.num_information_sets)

    @abstractmethod
    def _sample(self) -> int:
        """Run the traversals of a step; return the number of pairs visited."""

    def step(self) -> None:
        """Run the traversals of one step."""
        self.iterations += 1
        self.visited += self._sample()

    def policy(self) -> Policy:
        """Return the average policy."""
        return Policy(self.tree, proportional(self.tree, self._regrets.average))

    def last(self) -> Policy:
        """Return the policy of the present regrets, the last iterate."""
        return Policy(self.tree, proportional(self.tree, np.maximum(self._regrets.totals, 0.0)))


@final
class ExternalSampling(SampledRegretMinimizer):
    """External-sampling MCCFR: all choices of one player, one of chance and of the opponent."""

    def _sample(self) -> int:
        tree = self.tree
        arguments = (self._pair_set, self._chances, self._regrets, tree.depth, self.traversals, self._random)
        return sample_externally(tree.flat, *arguments, self._regrets.totals, self._visits)


@final
class OutcomeSampling(SampledRegretMinimizer):
    """Outcome-sampling MCCFR: one game per traversal, in which the player explores."""

    def __init__(self, tree: PublicTree, traversals: int = 1000, seed: int = 0, exploration: float = 0.6) -> None:
        """Take the arguments of `SampledRegretMinimizer` and the probability of a random choice."""
        check_number("exploration", exploration, 1e-6, 1)
        super().__init__(tree, traversals, seed)
        self.exploration = float(exploration)

    def _sample(self) -> int:
        tree = self.tree
        arguments = (self._pair_set, self._chances, self._regrets, tree.depth, self.traversals, self._random)
        return sample_outcomes(tree.flat, *arguments, self.exploration)
