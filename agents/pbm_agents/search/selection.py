"""Selection: which action a walk takes at a node."""

from __future__ import annotations

import math

from pbm_envs.kernels import kernel
from pbm_envs.randomness import Seeds, draw

from .tree import ILLEGAL, NONE, SUM, UNHEARD, UNKNOWN, Array, ends, open_node


@kernel
def choose_untried(
    edges: Array, g: int, n: int, mask: Array, hidden: bool, resign: int, untried: int, seeds: Seeds
) -> int:
    """One of the legal actions without a visit, all equally likely."""
    k = draw(seeds, g, untried)
    for a in range(edges.shape[2]):
        legal = (mask[a] and a != resign) if hidden else edges[g, n, a]["child"] == NONE
        if legal and edges[g, n, a]["visits"] == 0:
            if k == 0:
                return a
            k -= 1
    return -1


@kernel
def choose_uct(edges: Array, g: int, n: int, visits: int, c: float, settled: bool) -> int:
    """UCT (Kocsis & Szepesvari 2006) in an open game: the lowest action of the highest score. Settled edges only if
    asked for.
    """
    best, highest = -1, UNHEARD
    spread = c * math.sqrt(math.log(visits))
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        if edge["child"] >= NONE or (settled and edge["child"] != ILLEGAL):
            count = edge["visits"]
            score = (edge["total"] + spread * math.sqrt(count)) / count
            if score > highest:
                best, highest = a, score
    return best


@kernel
def choose_available(edges: Array, available: Array, g: int, n: int, mask: Array, resign: int, c: float) -> int:
    """UCT among the actions that are legal in this walk's state, by how often each was legal."""
    best, highest = -1, UNHEARD
    for a in range(edges.shape[2]):
        if mask[a] and a != resign:
            edge = edges[g, n, a]
            count = edge["visits"]
            score = edge["total"] / count + c * math.sqrt(math.log(available[g, n, a]) / count)
            if score > highest:
                best, highest = a, score
    return best


@kernel
def choose_puct(
    nodes: Array,
    edges: Array,
    sums: Array,
    priors: Array,
    available: Array,
    g: int,
    n: int,
    mask: Array,
    hidden: bool,
    resign: int,
    c: float,
    settled: bool,
) -> int:
    """PUCT (Silver et al. 2017). An action without a visit has the value of its node so far."""
    best, highest = -1, UNHEARD
    node = nodes[g, n]
    mean = sums[g, n, SUM, node["player"]] / max(1, node["visits"])
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        legal = mask[a] and a != resign
        if not hidden:
            legal = edge["child"] >= NONE or (settled and edge["child"] != ILLEGAL)
        if legal:
            count = edge["visits"]
            value = edge["total"] / count if count else mean
            chances = available[g, n, a] if hidden else node["visits"] + 1  # this one included
            score = value + c * priors[g, n, a] * math.sqrt(chances) / (1 + count)
            if score > highest:
                best, highest = a, score
    return best


@kernel
def choose_rave(
    edges: Array, rave: Array, g: int, n: int, visits: int, c: float, equivalence: float, settled: bool
) -> int:
    """UCT with RAVE (Gelly & Silver 2011) in an open game: the mean of an action, and that of the simulations in which
    it was played later, which weighs as much when there are `equivalence` / 3 visits.
    """
    best, highest = -1, UNHEARD
    spread = c * math.sqrt(math.log(visits + 1.0))
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        if edge["child"] >= NONE or (settled and edge["child"] != ILLEGAL):
            count = edge["visits"]
            later = rave[g, n, a]
            score = later["total"] / (later["visits"] + 1)
            if count:
                weight = math.sqrt(equivalence / (3 * count + equivalence))
                score = weight * score + (1 - weight) * edge["total"] / count
                score += spread / math.sqrt(count + 1.0)
            else:
                score += spread
            if score > highest:
                best, highest = a, score
    return best


@kernel
def choose(
    nodes: Array,
    edges: Array,
    sums: Array,
    priors: Array,
    available: Array,
    rave: Array,
    states: Array,
    sizes: Array,
    seeds: Seeds,
    walks: Array,
    count: int,
    moving: Array,
    masks: Array,
    actions: Array,
    c: float,
    equivalence: float,
    resign: int,
) -> bool:
    """Select an action for each walk: in an open game down to the first edge without a node to go on from; else one.
    `moving` (R, bytes) are the walks' states and `masks` (R, A) what is legal there. True if all come to leaves by it.
    """
    hidden, leaves = available.size > 0, True
    for r in range(count):
        g, n = walks[r]["game"], walks[r]["node"]
        while True:
            node = nodes[g, n]
            if hidden:
                untried = 0
                for a in range(masks.shape[1]):
                    if masks[r, a] and a != resign:
                        available[g, n, a] += 1
                        untried += edges[g, n, a]["visits"] == 0
            else:
                if node["untried"] == UNKNOWN:
                    open_node(nodes, edges, states, g, n, moving[r], masks[r], resign)
                untried = node["untried"]
            settled = not hidden and node["unsettled"] == 0
            if priors.size:
                action = choose_puct(nodes, edges, sums, priors, available, g, n, masks[r], hidden, resign, c, settled)
            elif rave.size:
                action = choose_rave(edges, rave, g, n, node["visits"], c, equivalence, settled)
            elif untried:
                action = choose_untried(edges, g, n, masks[r], hidden, resign, untried, seeds)
            elif hidden:
                action = choose_available(edges, available, g, n, masks[r], resign, c)
            else:
                action = choose_uct(edges, g, n, node["visits"], c, settled)
            edge = edges[g, n, action]
            if not hidden and edge["visits"] == 0:
                node["untried"] -= 1
            node["visits"] += 1
            edge["visits"] += 1
            edge["total"] -= 1.0
            if hidden or edge["child"] <= NONE:
                break
            n = edge["child"]
        walks[r]["node"], walks[r]["action"] = n, action
        actions[r] = action
        if not hidden:
            moving[r, :] = states[g, n, :]
        room = priors.size == 0 and sizes[g] < nodes.shape[1]
        leaves &= ends(edge["child"], edge["visits"], room)
    return leaves
