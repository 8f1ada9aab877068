"""Gumbel root selection: sequential halving at the root, and completed values (Danihelka et al. 2022).

At the root a few actions are considered: those with the highest sums of a Gumbel number and the logarithm of the prior.
All of them get the same number of simulations; after each round the better half remains. Below the root, a simulation
takes the action whose visits are furthest below its share in the policy that the search has found so far.

Values of actions without a visit are *completed* by a mixture of the evaluator's value of the node and the values of
the visited actions. Priors and completed values together form a policy that improves on the priors even after one or
two simulations: the target that a network learns from (`SearchResult.policy`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from pbm_envs.authoring import Ints, Mask, Record, Seeds, Tables
from pbm_envs.toolbox import Array, Floats, stack_kernel

from .selection import can_take
from .tree import BELOW_ALL, BEST, EVALUATED, ILLEGAL, NO_CHILD, Tree, edge_at

VISITS = 50
"""c_visit of the paper: the weight of values grows with the visits of the most visited action."""
TINY = 1e-30
"""Least prior: smaller ones are raised to it."""


@lru_cache(maxsize=64)
def visits_to_have(considered: int, simulations: int) -> tuple[int, ...]:
    """Return, for each simulation of sequential halving (Karnin et al. 2013), the visits of its action before it.

    >>> visits_to_have(4, 8)  # of four actions at first
    (0, 0, 0, 0, 1, 1, 2, 2)
    """
    rounds = max(1, math.ceil(math.log2(considered)))
    visits, sequence, left = [0] * considered, list[int](), considered
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (rounds * left))):
            sequence += visits[:left]
            for k in range(left):
                visits[k] += 1
        left = max(min(2, considered), left // 2)
    return tuple(sequence[:simulations])


class Candidates(NamedTuple):
    """The arrays that selection at the roots reads."""

    scores: Array
    """(G, A) float64: logarithms of priors plus Gumbel numbers."""
    expected: Array
    """(G, simulations) int64: the visits of the action that each simulation takes."""


class GumbelRoots:
    """The candidates at the roots of some trees, and the results read from there at the end."""

    def __init__(self, tree: Tree, masks: Mask, considered: int, simulations: int, noise: float) -> None:
        """Choose the candidates of the first G trees; `masks` (G, A) are the actions searched at their roots."""
        count = len(masks)
        priors = np.where(masks, np.maximum(tree.priors[:count, 0], TINY), 1.0).astype(np.float64)
        numbers = noise * gumbel_numbers(tree.seeds[:count], masks.shape[1]) if noise else 0.0
        logits = np.where(masks, np.log(priors), -np.inf)
        legal = masks.sum(axis=1)
        self.candidates = Candidates(
            scores=logits - logits.max(axis=1, keepdims=True) + numbers,
            expected=np.array([visits_to_have(max(1, min(considered, int(n))), simulations) for n in legal], np.int64),
        )
        self._masks, self._logits = masks, logits

    def read(self, tree: Tree, g: int, visits: Ints, proven: Mask) -> tuple[int, Floats]:
        """Return the best action of tree g and the policy (A,) of priors and completed values.

        The best action has the highest score among the most visited unproven actions, or among all if all are proven.

        Args:
            tree: The trees.
            g: The number of the tree.
            visits: (A,) the visits at its root.
            proven: (A,) True where the action's outcome is proven.
        """
        scores = self.candidates.scores[g]
        values = np.empty(len(scores))
        complete_values(g, values, *tree)
        open_actions = self._masks[g] & ~proven
        if open_actions.any():
            visits = np.where(open_actions, visits, -1)
        best = int(np.where(visits == visits.max(), scores + values, -np.inf).argmax())
        logits = np.where(self._masks[g], self._logits[g] + values, -np.inf)
        policy: Floats = np.exp(logits - logits.max())
        return best, policy / policy.sum()


def gumbel_numbers(seeds: Seeds, count: int) -> Floats:
    """Return (len(seeds), count) independent numbers of the standard Gumbel distribution."""
    return np.array([np.random.default_rng(int(seed)).gumbel(size=count) for seed in seeds])


@cache
def choose_with_gumbel(hidden: bool) -> Callable[..., int]:
    """Return the rule, whose tables are the arrays of Candidates."""

    @stack_kernel
    def choose(tree: Tree, g: int, n: int, mask: Array, tables: Tables) -> int:
        """Return the action to take at node n of tree g."""
        if n > 0:
            return interior_action(tree, g, n, mask, hidden)
        candidates = Candidates(*tables)
        expected = candidates.expected[g, tree.nodes[g, 0]["visits"]]
        return root_action(tree, g, mask, hidden, candidates.scores[g], expected)

    return choose


@stack_kernel
def root_action(tree: Tree, g: int, mask: Array, hidden: bool, scores: Array, expected: int) -> int:
    """Return the action with the highest score among those with `expected` visits at the root.

    If all of these are proven, the actions with the nearest number of visits are considered instead.
    """
    weight, mixed = value_weight(tree, g, 0), mixed_value(tree, g, 0)
    best, highest, nearest = -1, BELOW_ALL, 1 << 30
    for a in range(tree.places.shape[2]):
        at = edge_at(tree, g, 0, a)
        if can_take(tree, g, 0, at, mask[a], hidden):
            edge = tree.edges[g, at]
            distance = abs(edge["visits"] - expected)
            if distance > nearest:
                continue
            score = scores[a] + weight * (edge["total"] / edge["visits"] if edge["visits"] else mixed)
            if distance < nearest or score > highest:
                best, highest, nearest = a, score, distance
    return best


@stack_kernel
def interior_action(tree: Tree, g: int, n: int, mask: Array, hidden: bool) -> int:
    """Return the action whose visits are furthest below its share in the completed policy."""
    edges, priors = tree.edges, tree.priors
    weight, mixed = value_weight(tree, g, n), mixed_value(tree, g, n)
    highest, visits = BELOW_ALL, 0
    for a in range(tree.places.shape[2]):
        at = edge_at(tree, g, n, a)
        if can_take(tree, g, n, at, mask[a], hidden):
            edge = edges[g, at]
            visits += edge["visits"]
            highest = max(highest, edge["total"] / edge["visits"] if edge["visits"] else mixed)
    unvisited, total = math.exp(weight * (mixed - highest)), 0.0
    for a in range(tree.places.shape[2]):
        at = edge_at(tree, g, n, a)
        if can_take(tree, g, n, at, mask[a], hidden):
            edge = edges[g, at]
            total += completed_weight(edge, priors[g, n, a], weight, highest, unvisited)
    best, best_score = -1, BELOW_ALL
    for a in range(tree.places.shape[2]):
        at = edge_at(tree, g, n, a)
        if can_take(tree, g, n, at, mask[a], hidden):
            edge = edges[g, at]
            share = completed_weight(edge, priors[g, n, a], weight, highest, unvisited) / total
            score = share - edge["visits"] / (1.0 + visits)
            if score > best_score:
                best, best_score = a, score
    return best


@stack_kernel
def completed_weight(edge: Record, prior: float, weight: float, highest: float, unvisited: float) -> float:
    """Return an action's prior times the exponential of its weighted value (`unvisited` if it has no visit)."""
    if edge["visits"] == 0:
        return max(prior, TINY) * unvisited
    return max(prior, TINY) * math.exp(weight * (edge["total"] / edge["visits"] - highest))


@stack_kernel
def value_weight(tree: Tree, g: int, n: int) -> float:
    """Return the weight of returns against logarithms of priors: half the paper's, where values are from 0 to 1."""
    most = 0
    for a in range(tree.places.shape[2]):
        most = max(most, tree.edges[g, edge_at(tree, g, n, a)]["visits"])
    return 0.5 * tree.settings[0]["value_weight"] * (VISITS + most)


@stack_kernel
def mixed_value(tree: Tree, g: int, n: int) -> float:
    """Return the value of actions without a visit: a mixture of the evaluator's and the visited actions' values.

    The visited actions' values are averaged by prior; their mean is weighted by the total number of visits.
    """
    priors = tree.priors
    visits, share, weighted = 0, 0.0, 0.0
    for a in range(tree.places.shape[2]):
        edge = tree.edges[g, edge_at(tree, g, n, a)]
        if edge["visits"]:
            prior = max(priors[g, n, a], TINY)
            visits += edge["visits"]
            share += prior
            weighted += prior * edge["total"] / edge["visits"]
    value = tree.sums[g, n, EVALUATED, tree.nodes[g, n]["player"]]
    return (value + visits * weighted / share) / (visits + 1.0) if visits else value


@stack_kernel
def complete_values(g: int, values: Array, *arrays: Array) -> None:
    """Write the weighted `values` (A,) at the root of tree g: means, proven outcomes, or else the mixed value."""
    tree = Tree(*arrays)
    weight, mixed, player = value_weight(tree, g, 0), mixed_value(tree, g, 0), tree.nodes[g, 0]["player"]
    for a in range(len(values)):
        edge = tree.edges[g, edge_at(tree, g, 0, a)]
        child = edge["child"]
        value = edge["total"] / edge["visits"] if edge["visits"] else mixed
        if ILLEGAL < child < NO_CHILD:
            value = tree.sums[g, ~child, BEST, player]
        values[a] = weight * value
