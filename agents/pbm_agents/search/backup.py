"""Kernels for simulations that have left the known tree: expansion, and backup of values and proofs.

Their arrays are those of `Buffers` (or some of the rows) and of a Tree. Values are vectors with one entry per player.
Proofs follow MCTS-Solver (Winands, Bjoernsson & Saito 2008), for perfect information and any number of players.
"""

from __future__ import annotations

import numpy as np

from pbm_envs.authoring import NOBODY, Seeds, next_bits
from pbm_envs.toolbox import Array, stack_kernel

from .tree import (
    BEST,
    EVALUATED,
    ILLEGAL,
    NO_CHILD,
    NO_PARENT,
    SUM,
    TERMINAL,
    UNVISITED,
    Tree,
    add_node,
    edge_at,
    is_leaf,
    open_node,
)


@stack_kernel
def advance(simulations: Array, states: Array, count: int, arrived: int, leaf_seeds: Seeds, *arrays: Array) -> int:
    """Sort the first `count` simulations after the games' step; return how many continue.

    Simulations at a leaf (the game is over, or `is_leaf`) are moved to the second half of the buffers, after the
    `arrived` ones already there, and get a random stream. The others are compacted, each at its next node.
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
    """Add a node with these priors for each of the first `count` leaves that has none, while there is room.

    Where nodes keep their evaluation, `values` are written there too.
    """
    tree = Tree(*arrays)
    keep_values = tree.sums.shape[2] > EVALUATED
    for r in range(count):
        g, n, action = simulations[r]["tree"], simulations[r]["node"], simulations[r]["action"]
        if simulations[r]["done"]:
            continue
        before = tree.sizes[g]
        child = expand_leaf(tree, g, n, action, states[r], masks[r])
        if tree.sizes[g] > before:
            for a in range(priors.shape[1]):
                tree.priors[g, child, a] = priors[r, a]
        if keep_values and child > 0:
            for k in range(values.shape[1]):
                tree.sums[g, child, EVALUATED, k] = values[r, k]


@stack_kernel
def expand_leaf(tree: Tree, g: int, n: int, action: int, state: Array, mask: Array) -> int:
    """Return the child of node n by this action, added if missing and there is room; else NO_CHILD or less."""
    at = edge_at(tree, g, n, action)
    child = int(tree.edges[g, at]["child"])
    if child == NO_CHILD and at != UNVISITED and tree.sizes[g] < tree.nodes.shape[1]:
        child = add_child(tree, g, n, action, state[tree.settings[0]["to_move"]])
        if tree.states.size:
            open_node(tree, g, child, state, mask)
    return child


@stack_kernel
def put_priors(simulations: Array, count: int, priors: Array, *arrays: Array) -> None:
    """Write the priors of the nodes that the first `count` simulations have just reached."""
    tree = Tree(*arrays)
    for r in range(count):
        g, n = simulations[r]["tree"], simulations[r]["node"]
        for a in range(priors.shape[1]):
            tree.priors[g, n, a] = priors[r, a]


@stack_kernel
def add_child(tree: Tree, g: int, n: int, action: int, player: int) -> int:
    """Add a child of node n by this action, with this player to move; return its number."""
    child = add_node(tree, g, player)
    tree.nodes[g, child]["parent"], tree.nodes[g, child]["action"] = n, action
    tree.edges[g, edge_at(tree, g, n, action)]["child"] = child
    return child


@stack_kernel
def backup(simulations: Array, count: int, values: Array, last_players: Array, value: Array, *arrays: Array) -> int:
    """Back up the values (R, P) of the first `count` leaves; return the number of roots that this proves.

    Values are added to the nodes and edges of each path, and virtual losses are removed. `last_players` (R, A), for
    RAVE, holds the player of each action in the playout, as in `Game.playout`. It and `value` (P,) are overwritten.
    """
    tree = Tree(*arrays)
    sums, proven = tree.sums, 0
    for r in range(count):
        g, n, action = simulations[r]["tree"], simulations[r]["node"], simulations[r]["action"]
        child = tree.edges[g, edge_at(tree, g, n, action)]["child"]
        for k in range(len(value)):
            value[k] = sums[g, ~child, BEST, k] if ILLEGAL < child < NO_CHILD else values[r, k]
        while n != NO_PARENT:
            node = tree.nodes[g, n]
            player = node["player"]
            at = edge_at(tree, g, n, action)
            if at != UNVISITED:  # there was room for the edge
                tree.edges[g, at]["total"] += 1.0 + value[player]
            for k in range(len(value)):
                sums[g, n, SUM, k] += value[k]
            if tree.rave.size:
                last_players[r, action] = player
                add_to_rave(tree, g, n, last_players[r], value[player])
            action, n = node["action"], node["parent"]
        if tree.settings[0]["solver"] and simulations[r]["done"]:
            proven += prove(tree, g, simulations[r]["node"], simulations[r]["action"], value)
    return proven


@stack_kernel
def add_to_rave(tree: Tree, g: int, n: int, last_players: Array, value: float) -> None:
    """Count the simulation for each action played below node n by the player to move there.

    Where a move has the same effect for all players, it counts whichever player made it.
    """
    rave, player, anyone = tree.rave[g, n], tree.nodes[g, n]["player"], tree.settings[0]["moves_player_independent"]
    for a in range(len(last_players)):  # no branch, and numbers of 32 bits: this becomes SIMD instructions
        counts = np.int32((last_players[a] == player) | (anyone & (last_players[a] != NOBODY)))
        rave[a]["total"] += counts * value
        rave[a]["visits"] += counts


@stack_kernel
def prove(tree: Tree, g: int, n: int, action: int, outcome: Array) -> bool:
    """Mark the outcome of an edge as proven and propagate the proof upwards; return whether the root is proven.

    A node is proven if an action wins for the player to move, or if all legal actions are proven: that player then
    takes the best one. If equally good actions differ for the other players (three players), it is never proven.
    """
    child = TERMINAL
    while True:
        node = tree.nodes[g, n]
        at = edge_at(tree, g, n, action)
        edge = tree.edges[g, at]
        if at == UNVISITED or edge["child"] < NO_CHILD or node["proven"]:
            return False
        edge["child"] = child
        node["unproven"] -= 1
        player, best = node["player"], tree.sums[g, n, BEST]
        if outcome[player] > best[player]:
            for k in range(len(best)):
                best[k] = outcome[k]
            node["ambiguous"] = False
        elif outcome[player] == best[player]:
            for k in range(len(best)):
                node["ambiguous"] |= outcome[k] != best[k]
        if best[player] < 1 and (node["unproven"] > 0 or node["ambiguous"]):
            return False
        node["proven"] = True
        if n == 0:
            return True
        outcome, child = best, ~n
        action, n = node["action"], node["parent"]
