"""Kernels that sweep over a public tree, and the threads that run them.

A sweep visits the information sets in order (forward: from a pair to its children) or in reverse (backward). Arrays of
numbers have an entry for each pair (P,) or each choice (C,) of the tree. The values of a player are *counterfactual*:
weighted by the probability that chance and the opponent lead there (Zinkevich et al. 2007), so that they can be summed
over the worlds of an information set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np

from pbm_envs.authoring import kernel
from pbm_envs.toolbox import Array, stack_kernel

Stage: TypeAlias = "list[tuple[int, int]]"
"""Ranges of information sets that may be swept in parallel."""

SMALL = 1 << 12
"""Depths with fewer information sets than this are swept by one thread."""


class Flat(NamedTuple):
    """The arrays of a public tree that the kernels use."""

    set_player: Array
    set_pairs: Array
    set_choices: Array
    set_transitions: Array
    children: Array
    payoffs: Array


class Sweep(NamedTuple):
    """A sweep of a player over a public tree, forward and backward."""

    player: int
    policy: Array
    """(C,) the policy of both players."""
    counterfactual: Array
    """(P,) the probability that chance and the opponent of `player` lead to a pair."""
    own: Array
    """(P,) the probability that `player` leads to it."""
    values: Array
    """(P,) the counterfactual values of `player`."""


class Regrets(NamedTuple):
    """The sums of regret minimization, for each choice (C,)."""

    totals: Array
    """Cumulative regret: the gain if the choice had always been played."""
    average: Array
    """The weighted sum of the policies so far."""


class RegretWeights(NamedTuple):
    """The weights of an iteration of regret minimization."""

    average: float
    """Weight of its policy in the average."""
    positive: float
    """Factor applied to positive totals afterwards."""
    negative: float
    """Factor applied to negative totals afterwards; 0 resets them (CFR+)."""
    prediction: float
    """Weight of the latest regret as a prediction of the next one."""


@stack_kernel
def push_forward(tree: Flat, sweep: Sweep, first: int, last: int) -> None:
    """Write `counterfactual` and `own` of the children of each pair."""
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
    """Write the counterfactual value of each choice in an information set of the player; return their number."""
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
    """Write the counterfactual values of an information set's pairs if its player follows the policy."""
    choice, count = tree.set_choices[s], tree.set_choices[s + 1] - tree.set_choices[s]
    transition = tree.set_transitions[s]
    sign = 1.0 - 2.0 * sweep.player
    mine = tree.set_player[s] == sweep.player
    for pair in range(tree.set_pairs[s], tree.set_pairs[s + 1]):
        reached, total = sign * sweep.counterfactual[pair], 0.0
        for j in range(count):
            child = tree.children[transition]
            transition += 1
            # the values below already contain the probability of the opponent's choice
            if child < 0:
                total += sweep.policy[choice + j] * reached * tree.payoffs[~child]
            elif mine:
                total += sweep.policy[choice + j] * sweep.values[child]
            else:
                total += sweep.values[child]
        sweep.values[pair] = total


@stack_kernel
def pull_values(tree: Flat, sweep: Sweep, first: int, last: int) -> None:
    """Write the `values` of the player if both follow the policy."""
    for s in range(last - 1, first - 1, -1):
        write_mixture(tree, sweep, s)


@stack_kernel
def most_choices(tree: Flat, first: int, last: int) -> int:
    """Return the largest number of choices in the information sets `first` to `last`."""
    most = 1
    for s in range(first, last):
        most = max(most, tree.set_choices[s + 1] - tree.set_choices[s])
    return most


@kernel
def pull_best(tree: Flat, sweep: Sweep, best: Array, losses: Array, first: int, last: int) -> None:
    """Write the `values` of the player's best response, its choices (`best`), and the policy's shortfall in
    counterfactual value (`losses`); the latter two in the player's information sets only.
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
def match_regrets(tree: Flat, sweep: Sweep, regrets: Regrets, weights: RegretWeights, first: int, last: int) -> None:
    """Run a step of counterfactual regret minimization for the player: add the policy to the average and the regrets
    to the totals, and make the policy proportional to the positive totals.
    """
    policy, totals, average = sweep.policy, regrets.totals, regrets.average
    sums = np.empty(most_choices(tree, first, last))
    for s in range(last - 1, first - 1, -1):
        write_mixture(tree, sweep, s)
        if tree.set_player[s] != sweep.player:
            continue
        count = sum_worlds(tree, sweep, s, sums)
        choice, share = tree.set_choices[s], weights.average * sweep.own[tree.set_pairs[s]]
        mean, positive = 0.0, 0.0
        for j in range(count):
            mean += policy[choice + j] * sums[j]
        for j in range(count):
            average[choice + j] += share * policy[choice + j]
            latest = sums[j] - mean
            total = totals[choice + j] + latest
            total *= weights.positive if total > 0 else weights.negative
            totals[choice + j] = total
            sums[j] = max(total + weights.prediction * latest, 0.0)
            positive += sums[j]
        for j in range(count):
            policy[choice + j] = sums[j] / positive if positive > 0 else 1.0 / count


@kernel
def descend_mirror(
    tree: Flat, sweep: Sweep, following: Array, step: float, temperature: float, first: int, last: int
) -> None:
    """Write to `following` the player's policy after a step of magnetic mirror descent towards the uniform policy."""
    sums = np.empty(most_choices(tree, first, last))
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


@final
class Sweeps:
    """A runner of kernels over the information sets of a tree, depth by depth, with large depths in several threads."""

    def __init__(self, flat: Flat, level_sets: Array, threads: int | None = None) -> None:
        self.flat = flat
        self.threads = threads or os.cpu_count() or 1
        self._stages = list(self._split(level_sets.tolist()))

    def forward(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call `function(flat, *arguments, first, last)` for all information sets, parents before children."""
        self._run(self._stages, function, arguments)

    def backward(self, function: Callable[..., None], *arguments: Any) -> None:
        """Call as `forward` does, but children before parents."""
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
        """Yield the stages: large depths in one part per thread, other depths together in one part."""
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
