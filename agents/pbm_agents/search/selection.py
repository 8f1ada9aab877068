"""Selection: from a node down to a leaf, by the action with the highest score."""

from __future__ import annotations

import math

from pbm_envs.core.kernels import stack_kernel
from pbm_envs.core.randomness import draw, next_bits
from pbm_envs.core.types import Array, Record, Seeds

from .tree import (
    AN_EDGE,
    BELOW_ALL,
    ILLEGAL,
    NO_CHILD,
    NOT_LEGAL,
    NOT_OPENED,
    SUM,
    UNVISITED,
    Tree,
    add_edge,
    edge_at,
    is_leaf,
    open_node,
)


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
    """Select an action for each of the first `count` simulations: with perfect information down to the first edge
    without a node to go on from, else one ply down.

    Args:
        simulations: (R,) of SIMULATION, which get `node` and `action`.
        count: How many of them are under way.
        states: (R, bytes) their states; with perfect information, the states of the nodes they come to are put there.
        masks: (R, A) what is legal there.
        actions: (R,) where the actions are put.
        starting: The simulations begin at the roots of `trees`; else they go on from where they are.
        trees: (count,) the trees that the simulations are in; (0,) if some have come to leaves before.
        leaf_seeds: (R,) gets a random stream for each of `trees`, if all simulations come to leaves.
        arrays: Those of a Tree.

    Returns:
        Whether all of them come to leaves by these actions.
    """
    tree, at_leaves = Tree(*arrays), True
    if starting:
        begin(simulations, trees)
    for r in range(count):
        descend(tree, simulations[r], states[r], masks[r])
        at_leaves &= note_action(tree, simulations[r], states[r], actions, r)
    if at_leaves:
        branch_off(tree, trees, leaf_seeds)
    return at_leaves


@stack_kernel
def begin(simulations: Array, trees: Array) -> None:
    """Put simulations at the roots of these trees."""
    for r in range(len(trees)):
        simulations[r]["tree"], simulations[r]["node"] = trees[r], 0


@stack_kernel
def branch_off(tree: Tree, trees: Array, leaf_seeds: Seeds) -> None:
    """A random stream for a leaf of each of these trees."""
    for r in range(len(trees)):
        leaf_seeds[r] = next_bits(tree.seeds, trees[r])


@stack_kernel
def note_action(tree: Tree, simulation: Record, state: Array, actions: Array, r: int) -> bool:
    """Write the action that simulation `r` takes, and with perfect information the state in which it does; whether it
    leads to a leaf.
    """
    g, n, action = simulation["tree"], simulation["node"], simulation["action"]
    actions[r] = action
    if tree.available.size == 0:
        for k in range(len(state)):
            state[k] = tree.states[g, n, k]
    return is_leaf(tree, g, edge_at(tree, g, n, action))


@stack_kernel
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
        below = take(tree, simulation, n, select_action(tree, g, n, mask, untried))
        if below <= NO_CHILD:
            return
        n = below


@stack_kernel
def take(tree: Tree, simulation: Record, n: int, action: int) -> int:
    """Give the edge of a path a visit and a virtual loss. The node to go on from, or NO_CHILD or less: `simulation` is
    then told where it is and what it takes there.
    """
    g, hidden, below = simulation["tree"], tree.available.size > 0, NO_CHILD
    node, at = tree.nodes[g, n], edge_at(tree, g, n, action)
    node["visits"] += 1
    if at == UNVISITED:
        at = add_edge(tree, g, n, action)
        if at != UNVISITED and not hidden:
            node["untried"] -= 1
    if at != UNVISITED:
        edge = tree.edges[g, at]
        edge["visits"] += 1
        edge["total"] -= 1.0
        below = NO_CHILD if hidden else int(edge["child"])
    if below <= NO_CHILD:
        simulation["node"], simulation["action"] = n, action
    return below


@stack_kernel
def count_available(tree: Tree, g: int, n: int, mask: Array) -> int:
    """Count the legal actions as available; how many of them have no visit."""
    untried, resign = 0, tree.settings[0]["resign_action"]
    for a in range(len(mask)):
        if mask[a] and a != resign:
            tree.available[g, n, a] += 1
            untried += tree.places[g, n, a] == UNVISITED
    return untried


@stack_kernel
def select_action(tree: Tree, g: int, n: int, mask: Array, untried: int) -> int:
    """The action to take at a node, by the formula that fits what the tree holds."""
    if tree.rave.size:
        return uct_with_rave(tree, g, n)
    if tree.priors.size:
        return puct(tree, g, n, mask)
    if untried:
        return random_untried(tree, g, n, mask, untried)
    if tree.available.size:
        return uct_among_available(tree, g, n, mask)
    return uct(tree, g, n)


@stack_kernel
def random_untried(tree: Tree, g: int, n: int, mask: Array, untried: int) -> int:
    """One of the legal actions without a visit, all equally likely."""
    places, resign, hidden = tree.places, tree.settings[0]["resign_action"], tree.available.size > 0
    k = draw(tree.seeds, g, untried)
    for a in range(places.shape[2]):
        if places[g, n, a] == UNVISITED and (not hidden or (mask[a] and a != resign)):
            if k == 0:
                return a
            k -= 1
    return -1


@stack_kernel
def uct(tree: Tree, g: int, n: int) -> int:
    """UCT (Kocsis & Szepesvari 2006) with perfect information: the lowest action of the highest score. Actions whose
    outcome is proven only if all are.
    """
    edges, node = tree.edges, tree.nodes[g, n]
    best, highest = -1, BELOW_ALL
    all_proven = node["unproven"] == 0
    spread = tree.settings[0]["c"] * math.sqrt(math.log(node["visits"]))
    for a in range(tree.places.shape[2]):
        edge = edges[g, edge_at(tree, g, n, a)]
        if edge["child"] >= NO_CHILD or (all_proven and edge["child"] != ILLEGAL):
            count = edge["visits"]
            score = (edge["total"] + spread * math.sqrt(count)) / count
            if score > highest:
                best, highest = a, score
    return best


@stack_kernel
def uct_among_available(tree: Tree, g: int, n: int, mask: Array) -> int:
    """UCT among the actions that are legal in this simulation's state, by how often each was legal."""
    edges, available, settings = tree.edges, tree.available, tree.settings[0]
    c, resign = settings["c"], settings["resign_action"]
    best, highest = -1, BELOW_ALL
    for a in range(tree.places.shape[2]):
        if mask[a] and a != resign:
            edge = edges[g, edge_at(tree, g, n, a)]
            count = edge["visits"]
            score = edge["total"] / count + c * math.sqrt(math.log(available[g, n, a]) / count)
            if score > highest:
                best, highest = a, score
    return best


@stack_kernel
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
    for a in range(tree.places.shape[2]):
        edge = edges[g, edge_at(tree, g, n, a)]
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


@stack_kernel
def visited_share(tree: Tree, g: int, n: int) -> float:
    """The sum of the priors of the actions that have a visit."""
    share = 0.0
    for a in range(tree.places.shape[2]):
        if tree.places[g, n, a] >= AN_EDGE:
            share += tree.priors[g, n, a]
    return share


@stack_kernel
def uct_with_rave(tree: Tree, g: int, n: int) -> int:
    """UCT with RAVE (Gelly & Silver 2011) with perfect information: the mean of an action, and that of the simulations
    in which it was played later, which weighs as much when there are `equivalence` / 3 visits. Where there are priors,
    with the term of PUCT for them.
    """
    edges, rave, priors, node = tree.edges, tree.rave, tree.priors, tree.nodes[g, n]
    c, equivalence, with_priors = tree.settings[0]["c"], tree.settings[0]["equivalence"], priors.size > 0
    places, first = tree.places, node["first"] - AN_EDGE
    best, highest = -1, BELOW_ALL
    all_proven = node["unproven"] == 0
    visits = node["visits"] + 1.0
    spread, trust = c * math.sqrt(math.log(visits)), tree.settings[0]["prior_weight"] * math.sqrt(visits)
    for a in range(places.shape[2]):
        place = int(places[g, n, a])
        if place == NOT_LEGAL:
            continue
        later = rave[g, n, a]
        score, count = later["total"] / (later["visits"] + 1), 0
        if place >= AN_EDGE:
            edge = edges[g, first + place]
            if edge["child"] < NO_CHILD and not all_proven:
                continue
            count = edge["visits"]
            weight = math.sqrt(equivalence / (3 * count + equivalence))
            score = weight * score + (1 - weight) * edge["total"] / count
            score += spread / math.sqrt(count + 1.0)
        else:
            score += spread
        if with_priors:
            score += trust * priors[g, n, a] / (count + 1.0)
        if score > highest:
            best, highest = a, score
    return best
