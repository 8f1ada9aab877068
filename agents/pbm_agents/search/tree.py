"""The search tree as a struct of arrays, and how it grows.

    G  trees, one a game      N  nodes a tree, the root first      A  actions      P  players
    R  walks: simulations that are on their way, in any of the trees

Every verb of a simulation is a kernel that takes the arrays of a tree first, always in this order:

    nodes (G, N)      edges (G, N, A)
    sums (G, N, 2, P)       SUM of the returns of a node's simulations; BEST proven outcome for who is to move
    priors (G, N, A)        if the evaluator gives priors       available (G, N, A)  if states are hidden
    rave (G, N, A)          if it is used                       states (G, N, bytes)  of open games
    sizes (G,)              nodes in use

An edge has statistics from its first visit, a node of its own from the second (from the first, if there are priors); so
memory is used for what is searched more than once. In an open game a node keeps its state, and a walk goes down the
known part of the tree in one call. Where states are hidden, each walk carries a determinized state of its own down the
tree of statistics, one ply a call: information-set MCTS with a single observer (Cowling, Powley & Whitehouse 2012),
whose `available` counts how often an action was legal at its node.

A walk leaves a *virtual loss* on each of its edges until it is backed up, so that the walks of one wave spread; a wave
of one walk is the sequential algorithm.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.kernels import kernel
from pbm_envs.randomness import Seeds, following

Array = NDArray[Any]

NODE = np.dtype(
    [
        ("parent", "i4"),  # NOWHERE above the root
        ("action", "i4"),  # the parent's edge that leads here
        ("visits", "i4"),
        ("untried", "i4"),  # legal actions without a visit; UNKNOWN before the node's first choice
        ("unsettled", "i4"),  # legal actions whose outcome is not proven
        ("player", "i1"),  # who is to move
        ("proven", "?"),  # its outcome is BEST
        ("ambiguous", "?"),  # other outcomes are as good as BEST for who is to move
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("total", "f8"),  # returns of the player to move, less one for each walk on its way
        ("visits", "i4"),  # walks on their way included
        ("child", "i4"),  # a node; NONE; ~node, if that is proven; TERMINAL; ILLEGAL
    ],
    align=True,
)
WALK = np.dtype(
    [
        ("game", "i4"),
        ("node", "i4"),
        ("action", "i4"),
        ("over", "?"),  # of a leaf: the game has ended there
    ],
    align=True,
)

RAVE = np.dtype([("total", "f4"), ("visits", "i4")], align=True)

NOWHERE = -1
UNKNOWN = -1
NOBODY = -1
NONE = -1
SUM, BEST = 0, 1
TERMINAL, ILLEGAL = -(2**31), -(2**31) + 1
UNHEARD = -1e30
"""Less than any score or outcome."""


class Tree:
    """Room for `trees` searches of `capacity` nodes each. Pages of memory are used when they are first written."""

    def __init__(self, game: Game, trees: int, capacity: int, *, hidden: bool, priors: bool, rave: bool) -> None:
        whole, none = (trees, capacity, game.num_actions), (0, 0, 0)
        self.game, self.trees, self.capacity, self.hidden = game, trees, capacity, hidden
        self.nodes = np.empty((trees, capacity), NODE)
        self.edges = np.empty(whole, EDGE)
        self.sums = np.empty((trees, capacity, 2, game.num_players))
        self.priors = np.empty(whole if priors else none, np.float32)
        self.available = np.empty(whole if hidden else none, np.int32)
        self.rave = np.empty(whole if rave else none, RAVE)
        self.states = np.zeros((0, 0) if hidden else (trees, capacity), game.dtype)
        self.sizes = np.zeros(trees, np.int64)  # 0: not in use
        raw = self.states.view(np.uint8).reshape(*self.states.shape, game.dtype.itemsize)
        self.arrays = (
            self.nodes,
            self.edges,
            self.sums,
            self.priors,
            self.available,
            self.rave,
            raw,
            self.sizes,
        )
        """What the kernels take first."""

    @property
    def used(self) -> int:
        """Trees of the last search."""
        return int(np.count_nonzero(self.sizes))

    @staticmethod
    def node_bytes(game: Game, *, hidden: bool, priors: bool, rave: bool) -> int:
        """Memory of one node."""
        edge = EDGE.itemsize + 4 * hidden + 4 * priors + RAVE.itemsize * rave
        return NODE.itemsize + 16 * game.num_players + game.num_actions * edge + game.dtype.itemsize * (not hidden)


@kernel
def create(
    nodes: Array,
    edges: Array,
    sums: Array,
    priors: Array,
    available: Array,
    rave: Array,
    states: Array,
    sizes: Array,
    g: int,
    player: int,
) -> int:
    """A new node of tree g, of which nothing is known but who is to move."""
    n = sizes[g]
    sizes[g] = n + 1
    node = nodes[g, n]
    node["parent"], node["action"] = NOWHERE, NOWHERE
    node["visits"], node["untried"], node["unsettled"] = 0, UNKNOWN, 0
    node["player"], node["proven"], node["ambiguous"] = player, False, False
    sums[g, n, SUM, :] = 0.0
    sums[g, n, BEST, :] = UNHEARD
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        edge["total"], edge["visits"], edge["child"] = 0.0, 0, NONE
    if available.size:
        available[g, n, :] = 0
    if rave.size:
        for a in range(rave.shape[2]):
            rave[g, n, a]["total"], rave[g, n, a]["visits"] = 0.0, 0
    return n


@kernel
def open_node(
    nodes: Array, edges: Array, states: Array, g: int, n: int, state: Array, mask: Array, resign: int
) -> None:
    """Keep the state of a node of an open game, and which actions are legal there. Nobody resigns in a search."""
    states[g, n, :] = state
    legal = 0
    for a in range(edges.shape[2]):
        if mask[a] and a != resign:
            legal += 1
        else:
            edges[g, n, a]["child"] = ILLEGAL
    nodes[g, n]["untried"] = legal
    nodes[g, n]["unsettled"] = legal


@kernel
def plant(
    nodes: Array,
    edges: Array,
    sums: Array,
    priors: Array,
    available: Array,
    rave: Array,
    states: Array,
    sizes: Array,
    roots: Array,
    players: Array,
    masks: Array,
    resign: int,
) -> None:
    """The roots."""
    sizes[:] = 0
    for g in range(len(players)):
        create(nodes, edges, sums, priors, available, rave, states, sizes, g, players[g])
        if states.size:
            open_node(nodes, edges, states, g, 0, roots[g], masks[g], resign)


@kernel
def ends(child: int, visits: int, room: bool) -> bool:
    """Does a walk end by this edge, even if the game does not: outcome proven, first visit, or no room for a node?"""
    return child < NONE or visits == 1 or (child == NONE and not room)


@kernel
def arrive(
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
    to_move: Array,
    done: Array,
    leaf_walks: Array,
    arrived: int,
    leaves: Array,
    leaf_seeds: Seeds,
) -> int:
    """After the step: walks that have come to a leaf (game over, or `ends`) go to `leaves` after those that have
    `arrived` before; the others close ranks and go on from a node. How many go on.
    """
    going = 0
    for r in range(count):
        g, n, action = walks[r]["game"], walks[r]["node"], walks[r]["action"]
        edge = edges[g, n, action]
        child = edge["child"]
        if done[r] or ends(child, edge["visits"], priors.size == 0 and sizes[g] < nodes.shape[1]):
            leaf_walks[arrived] = walks[r]
            leaf_walks[arrived]["over"] = done[r]
            leaves[arrived, :] = moving[r, :]
            leaf_seeds[arrived] = following(seeds, g)
            arrived += 1
            continue
        if child == NONE:
            child = create(nodes, edges, sums, priors, available, rave, states, sizes, g, to_move[r])
            nodes[g, child]["parent"], nodes[g, child]["action"] = n, action
            edge["child"] = child
        walks[going]["game"], walks[going]["node"] = g, child
        moving[going, :] = moving[r, :]
        going += 1
    return going


@kernel
def expand(
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
    leaves: Array,
    to_move: Array,
    masks: Array,
    given: Array,
    resign: int,
) -> None:
    """Give each leaf that has none a node with the priors `given` (R, A)."""
    for r in range(count):
        g, n, action = leaf_walks[r]["game"], leaf_walks[r]["node"], leaf_walks[r]["action"]
        edge = edges[g, n, action]
        if leaf_walks[r]["over"] or edge["child"] != NONE or sizes[g] == nodes.shape[1]:
            continue
        child = create(nodes, edges, sums, priors, available, rave, states, sizes, g, to_move[r])
        nodes[g, child]["parent"], nodes[g, child]["action"] = n, action
        edge["child"] = child
        priors[g, child, :] = given[r]
        if states.size:
            open_node(nodes, edges, states, g, child, leaves[r], masks[r], resign)


@kernel
def graft(
    nodes: Array,
    edges: Array,
    sums: Array,
    priors: Array,
    available: Array,
    rave: Array,
    states: Array,
    sizes: Array,
    g: int,
    n: int,
    to_nodes: Array,
    to_edges: Array,
    to_sums: Array,
    to_priors: Array,
    to_available: Array,
    to_rave: Array,
    to_states: Array,
    to_sizes: Array,
    to_g: int,
    most: int,
) -> None:
    """Copy the tree below node n, breadth first, to be tree `to_g` elsewhere: at most `most` nodes."""
    source = np.empty(most, np.int64)
    source[0], size, k = n, 1, 0
    while k < size:
        old = source[k]
        to_nodes[to_g, k] = nodes[g, old]
        to_edges[to_g, k, :] = edges[g, old, :]
        to_sums[to_g, k, :, :] = sums[g, old, :, :]
        to_states[to_g, k, :] = states[g, old, :]
        if priors.size:
            to_priors[to_g, k, :] = priors[g, old, :]
        if rave.size:
            to_rave[to_g, k, :] = rave[g, old, :]
        for a in range(edges.shape[2]):
            child = edges[g, old, a]["child"]
            if child > 0 or ILLEGAL < child < NONE:
                if size == most:
                    to_edges[to_g, k, a]["child"] = NONE
                    to_nodes[to_g, k]["unsettled"] += child < 0
                    continue
                below = child if child > 0 else ~child
                source[size] = below
                nodes[g, below]["parent"] = k
                to_edges[to_g, k, a]["child"] = size if child > 0 else ~size
                size += 1
        k += 1
    to_nodes[to_g, 0]["parent"], to_nodes[to_g, 0]["action"] = NOWHERE, NOWHERE
    to_sizes[to_g] = size
