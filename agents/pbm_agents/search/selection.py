"""Selection: from a node down to a leaf, by the action with the highest score."""

from __future__ import annotations

import math

from pbm_envs.core.kernels import kernel_without_allocation
from pbm_envs.core.randomness import draw
from pbm_envs.core.types import Array, Record

from .tree import BELOW_ALL, ILLEGAL, NO_CHILD, NOT_OPENED, SUM, Tree, is_leaf, open_node


@kernel_without_allocation
def select(simulations: Array, count: int, states: Array, masks: Array, actions: Array, *arrays: Array) -> bool:
    """Select an action for each of the first `count` simulations: with perfect information down to the first edge
    without a node to go on from, else one ply down.

    Args:
        simulations: (R,) of SIMULATION, which get `node` and `action`.
        count: How many of them are under way.
        states: (R, bytes) their states; with perfect information, the states of the nodes they come to are put there.
        masks: (R, A) what is legal there.
        actions: (R,) where the actions are put.
        arrays: Those of a Tree.

    Returns:
        Whether all of them come to leaves by these actions.
    """
    tree, at_leaves = Tree(*arrays), True
    hidden = tree.available.size > 0
    for r in range(count):
        descend(tree, simulations[r], states[r], masks[r])
        g, n, action = simulations[r]["tree"], simulations[r]["node"], simulations[r]["action"]
        actions[r] = action
        if not hidden:
            for k in range(states.shape[1]):
                states[r, k] = tree.states[g, n, k]
        edge = tree.edges[g, n, action]
        at_leaves &= is_leaf(tree, g, edge["child"], edge["visits"])
    return at_leaves


@kernel_without_allocation
def descend(tree: Tree, simulation: Record, state: Array, mask: Array) -> None:
    """Take a simulation down a path from its node to the last known one, and select its action there. Each edge of the
    path gets a visit and a virtual loss.
    """
    g, n = simulation["tree"], simulation["node"]
    hidden = tree.available.size > 0
    while True:
        node = tree.nodes[g, n]
        if hidden:
            untried = count_available(tree, g, n, mask)
        else:
            if node["untried"] == NOT_OPENED:
                open_node(tree, g, n, state, mask)
            untried = node["untried"]
        action = select_action(tree, g, n, mask, untried)
        edge = tree.edges[g, n, action]
        if not hidden and edge["visits"] == 0:
            node["untried"] -= 1
        node["visits"] += 1
        edge["visits"] += 1
        edge["total"] -= 1.0
        if hidden or edge["child"] <= NO_CHILD:
            simulation["node"], simulation["action"] = n, action
            return
        n = edge["child"]


@kernel_without_allocation
def count_available(tree: Tree, g: int, n: int, mask: Array) -> int:
    """Count the legal actions as available; how many of them have no visit."""
    untried, resign = 0, tree.settings[0]["resign_action"]
    for a in range(len(mask)):
        if mask[a] and a != resign:
            tree.available[g, n, a] += 1
            untried += tree.edges[g, n, a]["visits"] == 0
    return untried


@kernel_without_allocation
def select_action(tree: Tree, g: int, n: int, mask: Array, untried: int) -> int:
    """The action to take at a node, by the formula that fits what the tree holds."""
    if tree.rave.size:
        return rave_with_priors(tree, g, n) if tree.priors.size else uct_with_rave(tree, g, n)
    if tree.priors.size:
        return puct(tree, g, n, mask)
    if untried:
        return random_untried(tree, g, n, mask, untried)
    if tree.available.size:
        return uct_among_available(tree, g, n, mask)
    return uct(tree, g, n)


@kernel_without_allocation
def random_untried(tree: Tree, g: int, n: int, mask: Array, untried: int) -> int:
    """One of the legal actions without a visit, all equally likely."""
    edges, resign, hidden = tree.edges, tree.settings[0]["resign_action"], tree.available.size > 0
    k = draw(tree.seeds, g, untried)
    for a in range(edges.shape[2]):
        legal = (mask[a] and a != resign) if hidden else edges[g, n, a]["child"] == NO_CHILD
        if legal and edges[g, n, a]["visits"] == 0:
            if k == 0:
                return a
            k -= 1
    return -1


@kernel_without_allocation
def uct(tree: Tree, g: int, n: int) -> int:
    """UCT (Kocsis & Szepesvari 2006) with perfect information: the lowest action of the highest score. Actions whose
    outcome is proven only if all are.
    """
    edges, node = tree.edges, tree.nodes[g, n]
    best, highest = -1, BELOW_ALL
    all_proven = node["unproven"] == 0
    spread = tree.settings[0]["c"] * math.sqrt(math.log(node["visits"]))
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        if edge["child"] >= NO_CHILD or (all_proven and edge["child"] != ILLEGAL):
            count = edge["visits"]
            score = (edge["total"] + spread * math.sqrt(count)) / count
            if score > highest:
                best, highest = a, score
    return best


@kernel_without_allocation
def uct_among_available(tree: Tree, g: int, n: int, mask: Array) -> int:
    """UCT among the actions that are legal in this simulation's state, by how often each was legal."""
    edges, available, settings = tree.edges, tree.available, tree.settings[0]
    c, resign = settings["c"], settings["resign_action"]
    best, highest = -1, BELOW_ALL
    for a in range(edges.shape[2]):
        if mask[a] and a != resign:
            edge = edges[g, n, a]
            count = edge["visits"]
            score = edge["total"] / count + c * math.sqrt(math.log(available[g, n, a]) / count)
            if score > highest:
                best, highest = a, score
    return best


@kernel_without_allocation
def puct(tree: Tree, g: int, n: int, mask: Array) -> int:
    """PUCT (Silver et al. 2017). An action without a visit has the value of its node so far, less the reduction for
    first plays times the square root of the priors of the visited actions. At the root forced playouts come first (Wu
    2020): of an action that has some visits, but fewer than `sqrt(forced_playouts * prior * visits of the root)`.
    """
    edges, priors, available, settings = tree.edges, tree.priors, tree.available, tree.settings[0]
    c, resign, hidden = settings["c"], settings["resign_action"], available.size > 0
    best, highest = -1, BELOW_ALL
    node = tree.nodes[g, n]
    all_proven = not hidden and node["unproven"] == 0
    mean = tree.sums[g, n, SUM, node["player"]] / max(1, node["visits"])
    if settings["first_play_reduction"]:
        mean -= settings["first_play_reduction"] * math.sqrt(visited_share(tree, g, n))
    forced = settings["forced_playouts"] * node["visits"] if n == 0 else 0.0
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        legal = mask[a] and a != resign
        if not hidden:
            legal = edge["child"] >= NO_CHILD or (all_proven and edge["child"] != ILLEGAL)
        if legal:
            count = edge["visits"]
            if forced and 0 < count < math.sqrt(forced * priors[g, n, a]):
                return a
            value = edge["total"] / count if count else mean
            chances = available[g, n, a] if hidden else node["visits"] + 1  # this one included
            score = value + c * priors[g, n, a] * math.sqrt(chances) / (1 + count)
            if score > highest:
                best, highest = a, score
    return best


@kernel_without_allocation
def visited_share(tree: Tree, g: int, n: int) -> float:
    """The sum of the priors of the actions that have a visit."""
    share = 0.0
    for a in range(tree.edges.shape[2]):
        if tree.edges[g, n, a]["visits"]:
            share += tree.priors[g, n, a]
    return share


@kernel_without_allocation
def uct_with_rave(tree: Tree, g: int, n: int) -> int:
    """UCT with RAVE (Gelly & Silver 2011) with perfect information: the mean of an action, and that of the simulations
    in which it was played later, which weighs as much when there are `equivalence` / 3 visits.
    """
    edges, rave, node = tree.edges, tree.rave, tree.nodes[g, n]
    c, equivalence = tree.settings[0]["c"], tree.settings[0]["equivalence"]
    best, highest = -1, BELOW_ALL
    all_proven = node["unproven"] == 0
    spread = c * math.sqrt(math.log(node["visits"] + 1.0))
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        if edge["child"] >= NO_CHILD or (all_proven and edge["child"] != ILLEGAL):
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


@kernel_without_allocation
def rave_with_priors(tree: Tree, g: int, n: int) -> int:
    """RAVE with the term of PUCT for exploration: an action's mean as in `uct_with_rave`, and its prior."""
    edges, rave, priors, node = tree.edges, tree.rave, tree.priors, tree.nodes[g, n]
    settings = tree.settings[0]
    c, equivalence = settings["c"], settings["equivalence"]
    best, highest = -1, BELOW_ALL
    all_proven = node["unproven"] == 0
    visits = node["visits"] + 1.0
    spread, trust = c * math.sqrt(math.log(visits)), settings["prior_weight"] * math.sqrt(visits)
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        if edge["child"] >= NO_CHILD or (all_proven and edge["child"] != ILLEGAL):
            count = edge["visits"]
            later = rave[g, n, a]
            score = later["total"] / (later["visits"] + 1)
            if count:
                weight = math.sqrt(equivalence / (3 * count + equivalence))
                score = weight * score + (1 - weight) * edge["total"] / count
                score += spread / math.sqrt(count + 1.0)
            else:
                score += spread
            score += trust * priors[g, n, a] / (count + 1.0)
            if score > highest:
                best, highest = a, score
    return best
