"""The search tree: one value, a NamedTuple of arrays, and how nodes are made and copied.

    G  trees, one for each position      N  nodes of a tree, the root first      A  actions      P  players
    R  simulations under way at once, in any of the trees

An edge has statistics from its first visit and a node of its own from the second (from the first, if the evaluator
gives priors), so memory is used for what is searched more than once. With perfect information a node keeps its state,
and a simulation descends the known part of the tree in one call. With hidden information each simulation carries a
determinized state of its own down the tree of statistics, one ply a call: information-set MCTS with a single observer
(Cowling, Powley & Whitehouse 2012), whose `available` counts how often an action was legal at its node.

The verbs of a simulation are kernels: `select` (selection), `advance` and `expand` (expansion), `backup` (backup).
Python calls them with the arrays of a tree as the last arguments, `select(..., *tree)`, and they put the tree together
again: passing the NamedTuple itself would cost half a microsecond more a call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pbm_envs import Game
from pbm_envs.core.kernels import kernel, kernel_without_allocation
from pbm_envs.core.types import Array

NODE = np.dtype(
    [
        ("parent", "i4"),  # NO_PARENT above the root
        ("action", "i4"),  # the parent's edge that leads here
        ("visits", "i4"),
        ("untried", "i4"),  # legal actions without a visit; NOT_OPENED before the first selection here
        ("unproven", "i4"),  # legal actions whose outcome is not proven
        ("player", "i1"),  # the player to move
        ("proven", "?"),  # the outcome is proven to be BEST
        ("ambiguous", "?"),  # other outcomes are as good as BEST for the player to move
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("total", "f8"),  # returns of the player to move, less one for each simulation under way (virtual loss)
        ("visits", "i4"),  # simulations under way included
        ("child", "i4"),  # a node; NO_CHILD; ~node, if that is proven; TERMINAL; ILLEGAL
    ],
    align=True,
)
RAVE = np.dtype([("total", "f4"), ("visits", "i4")], align=True)
SIMULATION = np.dtype(
    [
        ("tree", "i8"),  # indices of one type: each kernel is compiled once
        ("node", "i8"),  # where it is
        ("action", "i8"),  # which it takes there
        ("done", "?"),  # at a leaf: the game is over after that action
    ],
    align=True,
)
SETTINGS = np.dtype(
    [
        ("c", "f8"),  # weight of exploration
        ("equivalence", "f8"),  # parameter of RAVE
        ("prior_weight", "f8"),  # of priors beside RAVE
        ("first_play_reduction", "f8"),  # in PUCT
        ("forced_playouts", "f8"),  # in PUCT at the root
        ("value_weight", "f8"),  # with Gumbel numbers at the root
        ("resign_action", "i4"),  # which is never searched
        ("to_move", "i4"),  # where in a state's bytes this field is
        ("done", "i4"),  # and this one
        ("moves_player_independent", "?"),  # as in Game
        ("solver", "?"),  # prove outcomes
    ],
    align=True,
)

NO_PARENT = -1
NOT_OPENED = -1
NO_CHILD = -1
TERMINAL, ILLEGAL = -(2**31), -(2**31) + 1
SUM, BEST, EVALUATED = range(3)
BELOW_ALL = -1e30
"""Less than any score or outcome."""


class Tree(NamedTuple):
    """Some search trees of one game. Arrays that a search does not need have no elements."""

    nodes: Array
    """(G, N) of NODE."""
    edges: Array
    """(G, N, A) of EDGE."""
    sums: Array
    """(G, N, 2, P): SUM of the returns of a node's simulations; BEST proven outcome for the player to move. (G, N, 3,
    P) with Gumbel numbers at the root: what the node was EVALUATED at.
    """
    priors: Array
    """(G, N, A) float32, if the evaluator gives priors, or if there are priors beside RAVE."""
    available: Array
    """(G, N, A) int32, with hidden information: simulations in which an action was legal."""
    rave: Array
    """(G, N, A) of RAVE, if it is used."""
    states: Array
    """(G, N, bytes) uint8, with perfect information: the state of each node."""
    sizes: Array
    """(G,) nodes in use; 0 for a tree that is not in use."""
    seeds: Array
    """(G,) uint64, the random stream of each tree."""
    settings: Array
    """(1,) of SETTINGS."""


def allocate_tree(
    game: Game, trees: int, capacity: int, *, hidden: bool, priors: bool, rave: bool, evaluated: bool = False
) -> Tree:
    """Memory for some trees; its pages are used when they are first written.

    Args:
        game: The game that will be searched.
        trees: How many positions at once (G).
        capacity: Nodes a tree (N).
        hidden: Whether states are hidden: a node then has counts of availability and no state.
        priors: Whether there are priors: of an evaluator, or beside RAVE.
        rave: Whether RAVE is used.
        evaluated: Whether nodes keep what they were evaluated at.
    """
    edges, none = (trees, capacity, game.num_actions), (0, 0, 0)
    states = np.zeros((0, 0) if hidden else (trees, capacity), game.dtype)
    settings = np.zeros(1, SETTINGS)
    fields = game.dtype.fields
    assert fields is not None
    settings["resign_action"] = game.resign_action
    settings["to_move"], settings["done"] = fields["to_move"][1], fields["done"][1]
    settings["moves_player_independent"] = game.moves_player_independent
    return Tree(
        nodes=np.empty((trees, capacity), NODE),
        edges=np.empty(edges, EDGE),
        sums=np.empty((trees, capacity, 2 + evaluated, game.num_players)),
        priors=np.empty(edges if priors else none, np.float32),
        available=np.empty(edges if hidden else none, np.int32),
        rave=np.empty(edges if rave else none, RAVE),
        states=states.view(np.uint8).reshape(*states.shape, game.dtype.itemsize),
        sizes=np.zeros(trees, np.int64),
        seeds=np.zeros(trees, np.uint64),
        settings=settings,
    )


def node_bytes(game: Game, *, hidden: bool, priors: bool, rave: bool) -> int:
    """Memory of one node, in bytes."""
    edge = EDGE.itemsize + 4 * hidden + 4 * priors + RAVE.itemsize * rave
    return NODE.itemsize + 16 * game.num_players + game.num_actions * edge + game.dtype.itemsize * (not hidden)


@kernel_without_allocation
def add_node(tree: Tree, g: int, player: int) -> int:
    """A new node of tree g, of which nothing is known but the player to move."""
    n = tree.sizes[g]
    tree.sizes[g] = n + 1
    node = tree.nodes[g, n]
    node["parent"], node["action"] = NO_PARENT, NO_PARENT
    node["visits"], node["untried"], node["unproven"] = 0, NOT_OPENED, 0
    node["player"], node["proven"], node["ambiguous"] = player, False, False
    tree.sums[g, n, SUM, :] = 0.0
    tree.sums[g, n, BEST, :] = BELOW_ALL
    edges, rave = tree.edges, tree.rave
    for a in range(edges.shape[2]):
        edge = edges[g, n, a]
        edge["total"], edge["visits"], edge["child"] = 0.0, 0, NO_CHILD
    if tree.available.size:
        tree.available[g, n, :] = 0
    if rave.size:
        for a in range(rave.shape[2]):
            rave[g, n, a]["total"], rave[g, n, a]["visits"] = 0.0, 0
    return n


@kernel_without_allocation
def open_node(tree: Tree, g: int, n: int, state: Array, mask: Array) -> None:
    """Keep the state of a node, with perfect information, and which actions are legal there. Resigning is never
    searched.
    """
    edges, resign = tree.edges, tree.settings[0]["resign_action"]
    for k in range(len(state)):
        tree.states[g, n, k] = state[k]
    legal = 0
    for a in range(edges.shape[2]):
        if mask[a] and a != resign:
            legal += 1
        else:
            edges[g, n, a]["child"] = ILLEGAL
    tree.nodes[g, n]["untried"] = legal
    tree.nodes[g, n]["unproven"] = legal


@kernel_without_allocation
def add_roots(tree: Tree, states: Array, masks: Array) -> None:
    """Start a new tree for each of `states` (G, bytes), in which `masks` (G, A) are legal."""
    tree.sizes[:] = 0
    for g in range(len(states)):
        add_node(tree, g, states[g, tree.settings[0]["to_move"]])
        if tree.states.size:
            open_node(tree, g, 0, states[g], masks[g])


@kernel_without_allocation
def is_leaf(tree: Tree, g: int, child: int, visits: int) -> bool:
    """Whether a simulation ends after the edge with this child and so many visits even if the game goes on: its
    outcome is proven, this is its first visit, or it has no node and can get none now.
    """
    room = (tree.priors.size == 0 or tree.rave.size > 0) and tree.sizes[g] < tree.nodes.shape[1]
    return child < NO_CHILD or visits == 1 or (child == NO_CHILD and not room)


@kernel
def copy_subtree(tree: Tree, g: int, n: int, target: Tree, to: int, limit: int) -> None:
    """Copy what is below node n of tree g, with perfect information, to be tree `to` of `target`: breadth first, at
    most `limit` nodes. Parents in the source are overwritten.
    """
    copied = np.empty(limit, np.int64)
    copied[0], size, k = n, 1, 0
    while k < size:
        old = copied[k]
        target.nodes[to, k] = tree.nodes[g, old]
        target.edges[to, k, :] = tree.edges[g, old, :]
        target.sums[to, k, :, :] = tree.sums[g, old, :, :]
        target.states[to, k, :] = tree.states[g, old, :]
        if tree.priors.size:
            target.priors[to, k, :] = tree.priors[g, old, :]
        if tree.rave.size:
            target.rave[to, k, :] = tree.rave[g, old, :]
        for a in range(tree.edges.shape[2]):
            child = tree.edges[g, old, a]["child"]
            if child > 0 or ILLEGAL < child < NO_CHILD:
                if size == limit:
                    target.edges[to, k, a]["child"] = NO_CHILD
                    target.nodes[to, k]["unproven"] += child < 0
                    continue
                below = child if child > 0 else ~child
                copied[size] = below
                tree.nodes[g, below]["parent"] = k
                target.edges[to, k, a]["child"] = size if child > 0 else ~size
                size += 1
        k += 1
    target.nodes[to, 0]["parent"], target.nodes[to, 0]["action"] = NO_PARENT, NO_PARENT
    target.sizes[to] = size
