"""Expansion: nodes for the edges that simulations go on from, or that an evaluator has given priors."""

from __future__ import annotations

from pbm_envs.authoring import Seeds, next_bits
from pbm_envs.toolbox import Array, stack_kernel

from .tree import EVALUATED, NO_CHILD, UNVISITED, Tree, add_node, edge_at, is_leaf, open_node


@stack_kernel
def advance(simulations: Array, states: Array, count: int, arrived: int, leaf_seeds: Seeds, *arrays: Array) -> int:
    """Go on after the games' step: a simulation that has come to a leaf (the game is over, or `is_leaf`) is set aside,
    the others close ranks and go on from a node.

    Args:
        simulations: (2 R,) of SIMULATION: first those under way, from R on those that have come to leaves.
        states: (2 R, bytes) their states after the step.
        count: How many are under way.
        arrived: How many have come to leaves before.
        leaf_seeds: (R,) gets a random stream for each leaf.
        arrays: Those of a Tree.

    Returns:
        How many go on.
    """
    tree, going, leaf = Tree(*arrays), 0, len(simulations) // 2 + arrived
    first_leaf = leaf - arrived
    to_move, done = tree.settings[0]["to_move"], tree.settings[0]["done"]
    for r in range(count):
        g, n, action = simulations[r]["tree"], simulations[r]["node"], simulations[r]["action"]
        at = edge_at(tree, g, n, action)
        edge = tree.edges[g, at]
        over = states[r, done] != 0
        if over or is_leaf(tree, g, at):
            simulations[leaf] = simulations[r]
            simulations[leaf]["done"] = over
            for k in range(states.shape[1]):
                states[leaf, k] = states[r, k]
            leaf_seeds[leaf - first_leaf] = next_bits(tree.seeds, g)
            leaf += 1
            continue
        if edge["child"] == NO_CHILD:
            add_child(tree, g, n, action, states[r, to_move])
        simulations[going]["tree"], simulations[going]["node"] = g, edge["child"]
        for k in range(states.shape[1]):
            states[going, k] = states[r, k]
        going += 1
    return going


@stack_kernel
def expand(
    simulations: Array, count: int, states: Array, masks: Array, priors: Array, values: Array, *arrays: Array
) -> None:
    """Give each leaf that has none a node with its priors, while there is room, and write its values there if they are
    kept.

    Args:
        simulations: (R,) of SIMULATION.
        count: How many of them are at leaves.
        states: (R, bytes) the leaves.
        masks: (R, A) what is legal there.
        priors: (R, A) what the evaluator says of them.
        values: (R, P) likewise.
        arrays: Those of a Tree.
    """
    tree = Tree(*arrays)
    keep_values = tree.sums.shape[2] > EVALUATED
    for r in range(count):
        g, n, action = simulations[r]["tree"], simulations[r]["node"], simulations[r]["action"]
        at = edge_at(tree, g, n, action)
        child = int(tree.edges[g, at]["child"])
        if simulations[r]["done"]:
            continue
        if child == NO_CHILD and at != UNVISITED and tree.sizes[g] < tree.nodes.shape[1]:
            child = add_child(tree, g, n, action, states[r, tree.settings[0]["to_move"]])
            for a in range(priors.shape[1]):
                tree.priors[g, child, a] = priors[r, a]
            if tree.states.size:
                open_node(tree, g, child, states[r], masks[r])
        if keep_values and child > 0:
            for k in range(values.shape[1]):
                tree.sums[g, child, EVALUATED, k] = values[r, k]


@stack_kernel
def put_priors(simulations: Array, count: int, priors: Array, *arrays: Array) -> None:
    """Write the priors (R, A) of the nodes that so many simulations have just come to."""
    tree = Tree(*arrays)
    for r in range(count):
        g, n = simulations[r]["tree"], simulations[r]["node"]
        for a in range(priors.shape[1]):
            tree.priors[g, n, a] = priors[r, a]


@stack_kernel
def add_child(tree: Tree, g: int, n: int, action: int, player: int) -> int:
    """A new node below node n by this action, with this player to move."""
    child = add_node(tree, g, player)
    tree.nodes[g, child]["parent"], tree.nodes[g, child]["action"] = n, action
    tree.edges[g, edge_at(tree, g, n, action)]["child"] = child
    return child
