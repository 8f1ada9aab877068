"""Backup: the values of leaves, and proven outcomes, on their way up the tree.

Values are vectors, one entry a player. MCTS-Solver (Winands, Bjoernsson & Saito 2008), for open games, with any number
of players.
"""

from __future__ import annotations

import numpy as np

from pbm_envs.kernels import kernel

from .tree import BEST, ILLEGAL, NOBODY, NONE, NOWHERE, SUM, TERMINAL, Array


@kernel
def settle(nodes: Array, edges: Array, sums: Array, g: int, n: int, action: int, outcome: Array) -> bool:
    """The outcome of an edge is proven. So is that of its node, if the mover wins by it or nothing is left open; and so
    on upwards. True if this proves the root.

    With nothing left open the mover takes the best. If equally good ones differ for the others (three players), nobody
    knows which: such a node is never proven.
    """
    child = TERMINAL
    while True:
        node = nodes[g, n]
        edge = edges[g, n, action]
        if edge["child"] < NONE or node["proven"]:
            return False
        edge["child"] = child
        node["unsettled"] -= 1
        player, best = node["player"], sums[g, n, BEST]
        if outcome[player] > best[player]:
            best[:] = outcome
            node["ambiguous"] = False
        elif outcome[player] == best[player]:
            for k in range(len(best)):
                node["ambiguous"] |= outcome[k] != best[k]
        if best[player] < 1 and (node["unsettled"] > 0 or node["ambiguous"]):
            return False
        node["proven"] = True
        if n == 0:
            return True
        outcome, child = best, ~n
        action, n = node["action"], node["parent"]


@kernel
def back_up(
    nodes: Array,
    edges: Array,
    sums: Array,
    priors: Array,
    available: Array,
    rave: Array,
    states: Array,
    sizes: Array,
    leaf_walks: Array,
    count: int,
    values: Array,
    traces: Array,
    shared: bool,
    solve: bool,
) -> int:
    """Add the values (R, P) of the leaves to all nodes and edges above them, and take the virtual losses back. How many
    roots are proven by it. `traces` (R, A): who played an action in the playout; for RAVE it counts at a node if that
    was who is to move there, or anyone where moves are `shared`.
    """
    proven, value = 0, np.empty(values.shape[1])
    for r in range(count):
        g, n, action = leaf_walks[r]["game"], leaf_walks[r]["node"], leaf_walks[r]["action"]
        child = edges[g, n, action]["child"]
        for k in range(len(value)):
            value[k] = sums[g, ~child, BEST, k] if ILLEGAL < child < NONE else values[r, k]
        while n != NOWHERE:
            node = nodes[g, n]
            edges[g, n, action]["total"] += 1.0 + value[node["player"]]
            for k in range(len(value)):
                sums[g, n, SUM, k] += value[k]
            if rave.size:
                player = node["player"]
                traces[r, action] = player
                for a in range(traces.shape[1]):  # a branch that is taken at random would take longer
                    counts = (traces[r, a] == player) | (shared & (traces[r, a] != NOBODY))
                    rave[g, n, a]["total"] += counts * value[player]
                    rave[g, n, a]["visits"] += counts
            action, n = node["action"], node["parent"]
        if solve and leaf_walks[r]["over"]:
            n, action = leaf_walks[r]["node"], leaf_walks[r]["action"]
            proven += settle(nodes, edges, sums, g, n, action, value)
    return proven
