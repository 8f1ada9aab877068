"""Kernels that sweep over a public tree, and the threads that they run in.

A sweep goes over the information sets in their order (forward: from a pair to its children) or against it (backward).
All arrays of numbers are of the pairs (P,) or of the choices (C,) of the tree. What a player counts on at a pair is
*counterfactual*: it is weighted with the probability that chance and the opponent lead there (Zinkevich et al. 2007),
so that it can be added up over the worlds of an information set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs.authoring import kernel
from pbm_envs.toolbox import stack_kernel

Array = NDArray[Any]
Stage: TypeAlias = "list[tuple[int, int]]"
"""Ranges of information sets that may be swept at the same time."""

SMALL = 1 << 12
"""Information sets of a depth that are not worth a second thread."""


class Flat(NamedTuple):
    """What the kernels need of a public tree."""

    set_player: Array
    set_pairs: Array
    set_choices: Array
    set_transitions: Array
    children: Array
    payoffs: Array


class Sweep(NamedTuple):
    """One sweep of a player over a public tree, forward and back."""

    player: int
    policy: Array
    """(C,) of both players."""
    counterfactual: Array
    """(P,) the probability that chance and the opponent of `player` lead to a pair."""
    own: Array
    """(P,) the probability that `player` does."""
    values: Array
    """(P,) the counterfactual values of `player`."""


class Regrets(NamedTuple):
    """What regret minimization keeps of each choice (C,)."""

    totals: Array
    """By how much it would have been better."""
    average: Array
    """The sum of the policies so far, weighted."""


@stack_kernel
def push_forward(tree: Flat, sweep: Sweep, first: int, last: int) -> None:
    """From each pair to its children: `counterfactual` and `own`."""
    counterfactual, own = sweep.counterfactual, sweep.own
    for s in range(first, last):
        choice, count = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
        transition = tree.set_transitions[s]
        mine = tree.set_player[s] == sweep.player
        for pair in range(tree.set_pairs[s], tree.set_pairs[s + 1]):
            reached, went = counterfactual[pair], own[pair]
            for j in range(count):
                child = tree.children[transition]
                transition += 1
                if child >= 0:
                    probability = sweep.policy[choice + j]
                    counterfactual[child] = reached if mine else reached * probability
                    own[child] = went * probability if mine else went


@stack_kernel
def sum_worlds(tree: Flat, sweep: Sweep, s: int, sums: Array) -> int:
    """Of an information set of the player, the counterfactual value of each choice; how many choices."""
    count = tree.set_choices[s + 1] - tree.set_choices[s]
    transition = tree.set_transitions[s]
    sign = 1.0 - 2.0 * sweep.player
    sums[:count] = 0.0
    for pair in range(tree.set_pairs[s], tree.set_pairs[s + 1]):
        reached = sign * sweep.counterfactual[pair]
        for j in range(count):
            child = tree.children[transition]
            transition += 1
            sums[j] += sweep.values[child] if child >= 0 else reached * tree.payoffs[~child]
    return count


@stack_kernel
def write_mixture(tree: Flat, sweep: Sweep, s: int) -> None:
    """The counterfactual values of an information set's pairs, whoever moves there by the policy."""
    choice, count = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
    transition = tree.set_transitions[s]
    sign = 1.0 - 2.0 * sweep.player
    mine = tree.set_player[s] == sweep.player
    for pair in range(tree.set_pairs[s], tree.set_pairs[s + 1]):
        reached, total = sign * sweep.counterfactual[pair], 0.0
        for j in range(count):
            child = tree.children[transition]
            transition += 1
            # where the opponent moves, the probability is in what is counted on below already
            if child < 0:
                total += sweep.policy[choice + j] * reached * tree.payoffs[~child]
            elif mine:
                total += sweep.policy[choice + j] * sweep.values[child]
            else:
                total += sweep.values[child]
        sweep.values[pair] = total


@stack_kernel
def pull_values(tree: Flat, sweep: Sweep, first: int, last: int) -> None:
    """`values` of the player if both play the policy."""
    for s in range(last - 1, first - 1, -1):
        write_mixture(tree, sweep, s)


@stack_kernel
def most_choices(tree: Flat, first: int, last: int) -> int:
    """The most choices of any of these information sets."""
    most = 1
    for s in range(first, last):
        most = max(most, tree.set_choices[s + 1] - tree.set_choices[s])
    return most


@kernel
def pull_best(tree: Flat, sweep: Sweep, best: Array, losses: Array, first: int, last: int) -> None:
    """`values` of the player if the opponent plays the policy and the player the best there is. Of this player's
    information sets, `best` is the choice, and `losses` what the policy loses there in counterfactual value.
    """
    sums = np.empty(most_choices(tree, first, last))
    for s in range(last - 1, first - 1, -1):
        if tree.set_player[s] != sweep.player:
            write_mixture(tree, sweep, s)
            continue
        count = sum_worlds(tree, sweep, s, sums)
        chosen, mean = 0, 0.0
        for j in range(count):
            mean += sweep.policy[tree.set_choices[s] + j] * sums[j]
            if sums[j] > sums[chosen]:
                chosen = j
        best[s] = chosen
        losses[s] = sums[chosen] - mean
        transition = tree.set_transitions[s] + chosen
        for pair in range(tree.set_pairs[s], tree.set_pairs[s + 1]):
            child = tree.children[transition]
            transition += count
            if child >= 0:
                sweep.values[pair] = sweep.values[child]
            else:
                sweep.values[pair] = (1.0 - 2.0 * sweep.player) * sweep.counterfactual[pair] * tree.payoffs[~child]


@kernel
def match_regrets(tree: Flat, sweep: Sweep, regrets: Regrets, weights: Array, first: int, last: int) -> None:
    """One step of counterfactual regret minimization for the player: add to the average the policy, to the totals what
    each choice would have been better, and set the policy in proportion to the positive ones.

    `weights`: of this step in the average; by which positive and negative totals are then multiplied; 1 if negative
    ones are forgotten at once (CFR+), else 0; and how often what was just added is expected to come again.
    """
    policy, totals, average = sweep.policy, regrets.totals, regrets.average
    sums = np.empty(most_choices(tree, first, last))
    for s in range(last - 1, first - 1, -1):
        write_mixture(tree, sweep, s)
        if tree.set_player[s] != sweep.player:
            continue
        count = sum_worlds(tree, sweep, s, sums)
        choice, share = tree.set_choices[s], weights[0] * sweep.own[tree.set_pairs[s]]
        mean, positive = 0.0, 0.0
        for j in range(count):
            mean += policy[choice + j] * sums[j]
        for j in range(count):
            average[choice + j] += share * policy[choice + j]
            latest = sums[j] - mean
            total = totals[choice + j] + latest
            if total > 0:
                total *= weights[1]
            elif weights[3] > 0:
                total = 0.0
            else:
                total *= weights[2]
            totals[choice + j] = total
            sums[j] = max(total + weights[4] * latest, 0.0)
            positive += sums[j]
        for j in range(count):
            policy[choice + j] = sums[j] / positive if positive > 0 else 1.0 / count


@kernel
def descend_mirror(tree: Flat, sweep: Sweep, following: Array, weights: Array, first: int, last: int) -> None:
    """One step of magnetic mirror descent for the player, towards the uniform policy: `following` is the policy then.

    `weights`: step size, temperature.
    """
    sums = np.empty(most_choices(tree, first, last))
    step, temperature = weights[0], weights[1]
    for s in range(last - 1, first - 1, -1):
        write_mixture(tree, sweep, s)
        if tree.set_player[s] != sweep.player:
            continue
        count = sum_worlds(tree, sweep, s, sums)
        choice, reached = tree.set_choices[s], 0.0
        for pair in range(tree.set_pairs[s], tree.set_pairs[s + 1]):
            reached += sweep.counterfactual[pair]
        greatest = -np.inf
        for j in range(count):
            gain = step * sums[j] / reached if reached > 0 else 0.0
            sums[j] = (np.log(max(sweep.policy[choice + j], 1e-300)) + gain) / (1 + step * temperature)
            greatest = max(greatest, sums[j])
        total = 0.0
        for j in range(count):
            sums[j] = np.exp(sums[j] - greatest)
            total += sums[j]
        for j in range(count):
            following[choice + j] = sums[j] / total


@stack_kernel
def sum_draws(tree: Flat, policy: Array, reached: Array) -> float:
    """The probability that the game ends with 0 for both, from that of coming to each pair, `reached` (P,)."""
    total = 0.0
    for s in range(len(tree.set_player)):
        choice, count = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
        transition = tree.set_transitions[s]
        for pair in range(tree.set_pairs[s], tree.set_pairs[s + 1]):
            for j in range(count):
                child = tree.children[transition]
                transition += 1
                if child < 0 and tree.payoffs[~child] == 0:
                    total += reached[pair] * policy[choice + j]
    return total


@stack_kernel
def normalize(tree: Flat, average: Array, policy: Array) -> None:
    """`policy` in proportion to `average`; uniform where that is zero."""
    for s in range(len(tree.set_player)):
        first, last = tree.set_choices[s], tree.set_choices[s + 1]
        total = 0.0
        for j in range(first, last):
            total += average[j]
        for j in range(first, last):
            policy[j] = average[j] / total if total > 0 else 1.0 / (last - first)


@final
class Sweeps:
    """Runs kernels over the information sets of a tree: depth by depth, large depths in several threads."""

    def __init__(self, flat: Flat, level_sets: Array, threads: int | None = None) -> None:
        self.flat = flat
        self.threads = threads or os.cpu_count() or 1
        self._stages = list(self._split(level_sets.tolist()))

    def forward(self, function: Callable[..., None], *arguments: Any) -> None:
        """`function(flat, *arguments, first, last)` over all information sets, parents before children."""
        self._run(self._stages, function, arguments)

    def backward(self, function: Callable[..., None], *arguments: Any) -> None:
        """As `forward`, children before parents."""
        self._run(self._stages[::-1], function, arguments)

    def _run(self, stages: list[Stage], function: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        if len(stages) == 1:
            function(self.flat, *arguments, *stages[0][0])
            return
        with ThreadPoolExecutor(self.threads) as pool:
            for parts in stages:
                for job in [pool.submit(function, self.flat, *arguments, *part) for part in parts]:
                    job.result()

    def _split(self, levels: list[int]) -> Iterator[Stage]:
        """The parts that are swept at the same time, stage after stage: small depths in one part, together."""
        first = 0
        for low, high in pairwise(levels):
            if self.threads == 1 or high - low < SMALL:
                continue
            if low > first:
                yield [(first, low)]
            ends = np.linspace(low, high, self.threads + 1).astype(int).tolist()
            yield list(pairwise(ends))
            first = high
        if first < levels[-1] or not levels[-1]:
            yield [(first, levels[-1])]
