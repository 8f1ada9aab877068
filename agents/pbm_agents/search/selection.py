"""Selection: the descent from a node to a leaf, by the action with the highest score.

A rule is a kernel `choose(tree, g, n, mask, tables)` that returns the action to take at node n of tree g. `make_select`
compiles the descent together with one rule, so that a rule costs no call; `choose_by_score` makes a rule from a score
kernel, built in (`uct`, `puct`) or the user's. Both return the same kernel for the same rule, and the cache on disk
identifies kernels by content: a second process compiles nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from pbm_envs.authoring import Seeds, Tables, draw, next_bits
from pbm_envs.toolbox import Array, log, stack_kernel

from .tree import (
    AN_EDGE,
    BELOW_ALL,
    ILLEGAL,
    NO_CHILD,
    NOT_OPENED,
    SUM,
    TREE,
    UNVISITED,
    Tree,
    add_edge,
    edge_at,
    is_leaf,
    open_node,
)

DOUBLE = np.float64
LEAST_KEY, GREATEST_KEY, SIGN = np.int64(-(2**63)), np.int64(2**63 - 1), np.int64(63)
"""Keys of scores are integers in the same order: the compiler makes SIMD instructions of their maximum."""


@cache
def make_select(choose: Callable[..., int], hidden: bool) -> Callable[..., bool]:
    """Return the kernel `select` for a rule, a kernel `choose(tree, g, n, mask, tables)`.

    If `hidden` is True, information sets are searched.
    """

    @stack_kernel
    def select(
        simulations: Array,
        count: int,
        states: Array,
        masks: Array,
        actions: Array,
        starting: bool,
        trees: Array,
        leaf_seeds: Seeds,
        *arrays: Array,
    ) -> bool:
        """Select an action for each of the first `count` simulations; return whether all of them reach leaves.

        With perfect information they descend to the first edge without a node to continue from, and `states` become
        those of the last nodes reached; else they descend one ply, and resigning is removed from `masks`. Each edge of
        the path gets a visit and a virtual loss. If `starting`, simulations begin at the roots of `trees` (count,).
        `trees` is (0,) if some have reached leaves before; if all reach leaves, `leaf_seeds` get their random streams.

        The other arrays are those of Buffers; `arrays` are those of a Tree, then the rule's `tables`.
        """
        tree, tables, at_leaves = Tree(*arrays[:TREE]), arrays[TREE:], True
        if starting:
            for r in range(len(trees)):
                simulations[r]["tree"], simulations[r]["node"] = trees[r], 0
        for r in range(count):
            simulation, state, mask = simulations[r], states[r], masks[r]
            g, below = simulation["tree"], simulation["node"]
            n = below
            while below > NO_CHILD:
                n = below
                if hidden:
                    count_available(tree, g, n, mask)
                elif tree.nodes[g, n]["untried"] == NOT_OPENED:
                    open_node(tree, g, n, state, mask)
                actions[r] = choose(tree, g, n, mask, tables)
                below = take(tree, g, n, actions[r], hidden)
            simulation["node"], simulation["action"] = n, actions[r]
            if not hidden:
                for k in range(len(state)):
                    state[k] = tree.states[g, n, k]
            at_leaves &= is_leaf(tree, g, edge_at(tree, g, n, actions[r]))
        if at_leaves:
            for r in range(len(trees)):
                leaf_seeds[r] = next_bits(tree.seeds, trees[r])
        return at_leaves

    return select


@stack_kernel
def take(tree: Tree, g: int, n: int, action: int, hidden: bool) -> int:
    """Give an edge a visit and a virtual loss; return the next node, or NO_CHILD or less at the path's end.

    The path ends where there is no node; with hidden information, after one ply.
    """
    node, at, below = tree.nodes[g, n], edge_at(tree, g, n, action), NO_CHILD
    node["visits"] += 1
    if at == UNVISITED:
        at = add_edge(tree, g, n, action)
        node["untried"] -= at != UNVISITED
    if at != UNVISITED:
        edge = tree.edges[g, at]
        edge["visits"] += 1
        edge["total"] -= 1.0
        if not hidden:
            below = int(edge["child"])
    return below


@stack_kernel
def count_available(tree: Tree, g: int, n: int, mask: Array) -> None:
    """Count the legal actions of this simulation's world as available, and the unvisited ones as untried."""
    untried, resign = 0, tree.settings[0]["resign_action"]
    if resign >= 0:
        mask[resign] = False
    for a in range(len(mask)):
        if mask[a]:
            tree.available[g, n, a] += 1
            untried += tree.places[g, n, a] == UNVISITED
    tree.nodes[g, n]["untried"] = untried


@stack_kernel
def can_take(tree: Tree, g: int, n: int, at: int, legal: bool, hidden: bool) -> bool:
    """Return whether a rule may choose the action whose edge is at this place.

    With hidden information the action must be legal in this simulation's world; else its outcome must not be proven,
    unless all are.
    """
    if hidden:
        return legal
    child = tree.edges[g, at]["child"]
    return bool(child >= NO_CHILD or (tree.nodes[g, n]["unproven"] == 0 and child != ILLEGAL))


@stack_kernel
def random_untried(tree: Tree, g: int, n: int, mask: Array, hidden: bool) -> int:
    """Draw a legal action without a visit, all with equal probability."""
    places = tree.places
    k = draw(tree.seeds, g, tree.nodes[g, n]["untried"])
    for a in range(places.shape[2]):
        if places[g, n, a] == UNVISITED and (not hidden or mask[a]):
            if k == 0:
                return a
            k -= 1
    return -1


@stack_kernel
def uct(visits: int, mean: float, prior: float, parent_visits: int, c: float) -> float:
    """Return the score of UCT (Kocsis & Szepesvari 2006)."""
    return mean + c * math.sqrt(log(parent_visits) / visits)


@stack_kernel
def puct(visits: int, mean: float, prior: float, parent_visits: int, c: float) -> float:
    """Return the score of PUCT (Silver et al. 2017)."""
    return mean + c * prior * math.sqrt(parent_visits) / (1 + visits)


@cache
def choose_by_score(score: Callable[..., float], hidden: bool, priors: bool, *, each_first: bool) -> Callable[..., int]:
    """Return the rule that takes the action with the highest score; ties go to the lowest action.

    Args:
        score: A kernel `score(visits, mean, prior, parent_visits, parameter)`; the parameter is in SETTINGS.
        hidden: True if information sets are searched.
        priors: True if the tree has priors; otherwise all legal actions have the same prior.
        each_first: True if each action is tried once, in random order, before scores count.
    """

    @stack_kernel
    def choose(tree: Tree, g: int, n: int, mask: Array, tables: Tables) -> int:
        """Return the action to take at node n of tree g."""
        edges, node, settings = tree.edges, tree.nodes[g, n], tree.settings[0]
        if each_first and node["untried"] > 0:
            return random_untried(tree, g, n, mask, hidden)
        parameter, unvisited, forced = settings["parameter"], 0.0, 0.0
        if not each_first:
            unvisited = tree.sums[g, n, SUM, node["player"]] / max(1, node["visits"])
        if priors:
            if settings["first_play_reduction"]:
                unvisited -= settings["first_play_reduction"] * math.sqrt(visited_share(tree, g, n))
            if n == 0:
                forced = settings["forced_playouts"] * node["visits"]
            prior = 0.0
        else:
            prior = 1.0 / legal_actions(tree, g, n, mask, hidden)
        parent_visits = node["visits"] + (0 if each_first else 1)
        best, highest, all_proven = -1, BELOW_ALL, node["unproven"] == 0
        for a in range(tree.places.shape[2]):  # the test of `can_take`, with the loop's invariants moved out
            edge = edges[g, edge_at(tree, g, n, a)]
            unproven = edge["child"] >= NO_CHILD or (all_proven and edge["child"] != ILLEGAL)
            if mask[a] if hidden else unproven:
                visits = edge["visits"]
                if priors:
                    prior = float(tree.priors[g, n, a])
                    if forced and 0 < visits < math.sqrt(forced * prior):
                        return a
                if hidden:
                    parent_visits = tree.available[g, n, a]
                mean = edge["total"] / visits if each_first or visits else unvisited
                value = score(visits, mean, prior, parent_visits, parameter)
                if value > highest or best < 0:
                    best, highest = a, value
        return best

    return choose


@stack_kernel
def legal_actions(tree: Tree, g: int, n: int, mask: Array, hidden: bool) -> int:
    """Return the number of actions that can be searched at a node."""
    if not hidden:
        return int(tree.nodes[g, n]["untried"] + tree.nodes[g, n]["edges"])
    count = 0
    for a in range(len(mask)):
        count += mask[a]
    return count


@stack_kernel
def visited_share(tree: Tree, g: int, n: int) -> float:
    """Return the sum of the priors of the actions that have a visit."""
    share = 0.0
    for a in range(tree.places.shape[2]):
        if tree.places[g, n, a] >= AN_EDGE:
            share += tree.priors[g, n, a]
    return share


@stack_kernel
def _same_order(bits: np.int64) -> np.int64:
    """Return the key of a score's bits, an integer in the order of the scores; and from a key the bits."""
    return np.int64(bits ^ ((bits >> SIGN) & GREATEST_KEY))


@cache
def choose_with_rave(priors: bool) -> Callable[..., int]:
    """Return the rule of UCT with RAVE (Gelly & Silver 2011), for perfect information.

    An action's score mixes its mean with that of the simulations in which it was played later; both have equal weight
    after `rave` visits. If `priors` is True, PUCT's term for them is added. The loops without branches become SIMD
    instructions.
    """

    @stack_kernel
    def choose(tree: Tree, g: int, n: int, mask: Array, tables: Tables) -> int:
        node, settings, places, rave = tree.nodes[g, n], tree.settings[0], tree.places[g, n], tree.rave[g, n]
        equivalence, first, count, size = settings["rave"], int(node["first"]), int(node["edges"]), len(places)
        visits, top, keys = node["visits"] + 1.0, LEAST_KEY, np.empty(size, np.int64)
        spread = settings["parameter"] * math.sqrt(log(visits))
        trust = settings["prior_weight"] * math.sqrt(visits)
        for a in range(size):  # as if no action had a visit, which is true of most
            score = rave[a]["total"] / (np.float64(rave[a]["visits"]) + 1.0) + spread
            if priors:
                score += trust * tree.priors[g, n, a]
            other = -np.int64(places[a] != UNVISITED)  # all bits, or none
            keys[a] = (_same_order(np.float64(score).view(np.int64)) & ~other) | (LEAST_KEY & other)
            top = max(top, keys[a])
        totals, counts, prior = np.empty(size, DOUBLE), np.empty(size, DOUBLE), np.empty(size, DOUBLE)
        later_totals, later_counts, scores = np.empty(size, DOUBLE), np.empty(size, DOUBLE), np.empty(size, DOUBLE)
        for k in range(count):
            edge, a = tree.edges[g, first + k], tree.edge_actions[g, first + k]
            totals[k], counts[k] = edge["total"], edge["visits"]
            later_totals[k], later_counts[k] = rave[a]["total"], rave[a]["visits"]
            if priors:
                prior[k] = tree.priors[g, n, a]
        for k in range(count):
            weight = math.sqrt(equivalence / (3 * counts[k] + equivalence))
            score = weight * (later_totals[k] / (later_counts[k] + 1.0)) + (1 - weight) * totals[k] / counts[k]
            score += spread / math.sqrt(counts[k] + 1.0)
            if priors:
                score += trust * prior[k] / (counts[k] + 1.0)
            scores[k] = score
        best, highest, all_proven = -1, BELOW_ALL, node["unproven"] == 0
        if top > LEAST_KEY:
            best = 0
            while keys[best] != top:
                best += 1
            highest = np.int64(_same_order(top)).view(np.float64)
        for k in range(count):
            if scores[k] >= highest and (all_proven or tree.edges[g, first + k]["child"] >= NO_CHILD):
                a = int(tree.edge_actions[g, first + k])
                if scores[k] > highest or a < best:
                    best, highest = a, scores[k]
        return best

    return choose
