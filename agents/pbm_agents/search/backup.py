"""Backup: the values of leaves, and proven outcomes, on their way up the tree.

Values are vectors, one entry a player. Proofs are those of MCTS-Solver (Winands, Bjoernsson & Saito 2008), with perfect
information and any number of players.
"""

from __future__ import annotations

from pbm_envs.authoring import NOBODY
from pbm_envs.toolbox import Array, stack_kernel

from .tree import BEST, ILLEGAL, NO_CHILD, NO_PARENT, SUM, TERMINAL, UNVISITED, Tree, edge_at


@stack_kernel
def backup(simulations: Array, count: int, values: Array, last_players: Array, value: Array, *arrays: Array) -> int:
    """Add the values of the leaves to all nodes and edges above them, take the virtual losses back, and prove what the
    ends of games prove.

    Args:
        simulations: (R,) of SIMULATION.
        count: How many of them are at leaves.
        values: (R, P) of the leaves.
        last_players: (R, A) for RAVE: who has played an action in the playout, as in `Game.playout`. Overwritten.
        value: (P,) float64, overwritten: room for one leaf's values.
        arrays: Those of a Tree.

    Returns:
        How many roots are proven by it.
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
            if at != UNVISITED:  # there was room for it
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
    """Count the simulation for each action played below node n: by the player to move there, or by anyone where moves
    do the same whoever plays them.
    """
    rave, player, anyone = tree.rave, tree.nodes[g, n]["player"], tree.settings[0]["moves_player_independent"]
    for a in range(len(last_players)):  # without a branch, which would be taken at random and take longer
        counts = (last_players[a] == player) | (anyone & (last_players[a] != NOBODY))
        rave[g, n, a]["total"] += counts * value
        rave[g, n, a]["visits"] += counts


@stack_kernel
def prove(tree: Tree, g: int, n: int, action: int, outcome: Array) -> bool:
    """The outcome of an edge is proven. So is that of its node, if the player to move wins by it or all legal actions
    are proven; and so on upwards. True if this proves the root.

    When all actions are proven, the player to move takes the best. If equally good ones differ for the others (three
    players), nobody knows which: such a node is never proven.
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
