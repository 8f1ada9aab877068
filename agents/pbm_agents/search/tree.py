"""The search tree: a NamedTuple of arrays, and kernels that add and copy nodes.

    G  trees, one for each position      N  nodes of a tree, the root first      A  actions      P  players
    R  simulations under way at once, in any of the trees

An edge is added at its first visit, and gets a node of its own at the second (at the first, if the evaluator gives
priors), so that memory is used only where more than one simulation passes. The edges of a node are contiguous, in a
block with room for 2, 4, 8, ... of them; the root's block has room for all actions. With perfect information a node
stores its state, and a simulation descends the known part of the tree in one call. With hidden information each
simulation carries its own determinized state down the tree of statistics, one ply per call: information-set MCTS with a
single observer (Cowling, Powley & Whitehouse 2012), in which `available` counts how often an action was legal at its
node.

The phases of a simulation are kernels: `select` (selection), `advance` and `expand` (expansion), `backup` (backup).
Python calls them with the arrays of a tree as the last arguments, `select(..., *tree)`, and they rebuild the Tree:
passing the NamedTuple itself would cost half a microsecond more per call.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import kernel
from pbm_envs.toolbox import Array, stack_kernel

NODE = np.dtype(
    [
        ("parent", "i4"),  # NO_PARENT above the root
        ("action", "i4"),  # the parent's edge that leads here
        ("visits", "i4"),
        ("untried", "i4"),  # legal actions without a visit; NOT_OPENED before the first selection here
        ("unproven", "i4"),  # legal actions whose outcome is not proven
        ("first", "i4"),  # the index of its first edge
        ("edges", "i4"),  # the number of its edges
        ("player", "i1"),  # the player to move
        ("proven", "?"),  # the outcome is proven to be BEST
        ("ambiguous", "?"),  # other outcomes are as good as BEST for the player to move
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("total", "f8"),  # returns of the player to move, minus one for each simulation under way (virtual loss)
        ("visits", "i4"),  # including simulations under way
        ("child", "i4"),  # the node below, or a code: see ILLEGAL
    ],
    align=True,
)
RAVE = np.dtype([("total", "f4"), ("visits", "i4")], align=True)
SIMULATION = np.dtype(
    [
        ("tree", "i8"),  # indices of one type: each kernel is compiled once
        ("node", "i8"),  # the node reached
        ("action", "i8"),  # the action taken there
        ("done", "?"),  # at a leaf: True if the game is over after that action
    ],
    align=True,
)
SETTINGS = np.dtype(
    [
        ("parameter", "f8"),  # of the score: the weight of exploration in UCT and PUCT
        ("rave", "f8"),  # equivalence parameter of RAVE
        ("prior_weight", "f8"),  # weight of priors used with RAVE
        ("first_play_reduction", "f8"),  # in PUCT
        ("forced_playouts", "f8"),  # in PUCT at the root
        ("value_weight", "f8"),  # in Gumbel root selection
        ("resign_action", "i4"),  # never searched
        ("to_move", "i4"),  # offset of this field in the bytes of a state
        ("done", "i4"),  # offset of this field in the bytes of a state
        ("moves_player_independent", "?"),  # as in Game
        ("solver", "?"),  # True if outcomes are proven
        ("evaluated_nodes", "?"),  # True if an evaluator gives priors: each leaf gets a node
    ],
    align=True,
)

NO_PARENT = -1
NOT_OPENED = -1
NO_CHILD = -1
TERMINAL, ILLEGAL = -(2**31), -(2**31) + 1
"""Values of `child` of an edge:

    child > 0                   the node to continue from (node 0 is the root, which is no child)
    NO_CHILD                    no node yet
    ILLEGAL < child < NO_CHILD  ~child is a node whose outcome is proven
    TERMINAL                    the game is over there, so the outcome is proven
    ILLEGAL                     only in the shared edge of actions that are not legal
    in a free block             in its first edge: the next free block of that size, 0 at the end (`free_block`)

One number encodes all this so that an edge has 16 bytes, four per cache line: selection reads every edge of each node
on a path, and is limited by memory speed. Therefore "may still be selected" has to be one comparison,
`child >= NO_CHILD`, and "proven" the opposite one: selection, backup and results rely on this order.
"""
SUM, BEST, EVALUATED = range(3)
UNVISITED, NOT_LEGAL, AN_EDGE = range(3)
"""Values of `places` for an action without an edge (the first two), and for the action with the first edge. The first
two are also the indices of the shared edges of such actions, so that `edge_at` needs no test."""
END, LONGEST_BLOCK = 0, 24
"""Entries of `blocks`: the end of all blocks, and the greatest k with a list of free blocks."""
EDGES_OF_NODE, EDGES_OF_UCT_NODE = 16, 64
"""Edges allocated per node. Most nodes have few, but plain UCT tries all actions once."""
MOST = 2**31 - 1
"""The most edges of a tree: their indices have 32 bits."""
BELOW_ALL = -1e30
"""A number below any score or outcome."""


class Tree(NamedTuple):
    """Search trees of one game. Arrays that a search does not need are empty."""

    nodes: Array
    """(G, N) of NODE."""
    places: Array
    """(G, N, A) unsigned: UNVISITED, NOT_LEGAL, or AN_EDGE for the action with the first edge of the node, AN_EDGE + 1
    for the second, and so on.
    """
    edges: Array
    """(G, E) of EDGE: the shared edges UNVISITED and NOT_LEGAL, then the root's, then blocks."""
    edge_actions: Array
    """(G, E) unsigned: the action of each edge."""
    blocks: Array
    """(G, LONGEST_BLOCK + 1): at END the end of all blocks; at k > 0 the first free block of 2**k edges, 0 for none."""
    sums: Array
    """(G, N, 2, P): SUM of the returns of a node's simulations; BEST proven outcome for the player to move. With Gumbel
    root selection (G, N, 3, P): the evaluator's values of the node are in EVALUATED.
    """
    priors: Array
    """(G, N, A) float32, if the evaluator gives priors, or if priors are used with RAVE."""
    available: Array
    """(G, N, A) int32, with hidden information: the number of simulations in which an action was legal."""
    rave: Array
    """(G, N, A) of RAVE, if RAVE is used."""
    states: Array
    """(G, N, bytes) uint8, with perfect information: the state of each node."""
    sizes: Array
    """(G,) nodes in use; 0 for an unused tree."""
    seeds: Array
    """(G,) uint64, the random stream of each tree."""
    settings: Array
    """(1,) of SETTINGS."""


TREE = len(Tree._fields)


class Layout(NamedTuple):
    """The contents of the nodes of a search in addition to visits and sums of returns."""

    hidden: bool = False
    """Counts of availability instead of a state, since information sets are searched."""
    priors: bool = False
    """Priors from an evaluator, or used with RAVE."""
    rave: bool = False
    evaluated: bool = False
    """The evaluator's values of the node."""
    accumulators: tuple[int, int] = (0, 0)
    """Sums of a network's first layer: numbers of perspectives and of units."""


def allocate_tree(game: Game, trees: int, capacity: int, layout: Layout) -> Tree:
    """Return memory for G `trees` of N = `capacity` nodes each. Pages are used when they are first written."""
    edges, none, hidden = (trees, capacity, game.num_actions), (0, 0, 0), layout.hidden
    states = np.zeros((0, 0) if hidden else (trees, capacity), game.dtype)
    settings = np.zeros(1, SETTINGS)
    fields, first_block = game.dtype.fields, AN_EDGE + game.num_actions
    assert fields is not None
    settings["resign_action"] = game.resign_action
    settings["to_move"], settings["done"] = fields["to_move"][1], fields["done"][1]
    settings["moves_player_independent"] = game.moves_player_independent
    room = trees, min(first_block + int(edges_a_node(game, layout) * capacity), MOST)
    action = np.uint16 if game.num_actions < 1 << 15 else np.uint32
    return Tree(
        nodes=np.empty((trees, capacity), NODE),
        places=np.empty(edges, action),
        edges=np.empty(room, EDGE),
        edge_actions=np.empty(room, action),
        blocks=np.zeros((trees, LONGEST_BLOCK + 1), np.int64),
        sums=np.empty((trees, capacity, 2 + layout.evaluated, game.num_players)),
        priors=np.empty(edges if layout.priors else none, np.float32),
        available=np.empty(edges if hidden else none, np.int32),
        rave=np.empty(edges if layout.rave else none, RAVE),
        states=states.view(np.uint8).reshape(*states.shape, game.dtype.itemsize),
        sizes=np.zeros(trees, np.int64),
        seeds=np.zeros(trees, np.uint64),
        settings=settings,
    )


def edges_a_node(game: Game, layout: Layout) -> int:
    """Return the number of edges allocated per node. Searches with RAVE or priors do not try all actions."""
    informed = layout.rave or layout.priors
    return EDGES_OF_NODE if informed else min(EDGES_OF_UCT_NODE, max(EDGES_OF_NODE, 2 * game.num_actions))


def node_bytes(game: Game, layout: Layout) -> int:
    """Return the memory of a node and of the edges allocated for it, in bytes."""
    number = 2 if game.num_actions < 1 << 15 else 4
    action = number + 4 * (layout.hidden + layout.priors)
    fixed = NODE.itemsize + 16 * game.num_players + edges_a_node(game, layout) * (EDGE.itemsize + number)
    per_action, sums = action + RAVE.itemsize * layout.rave, 4 * math.prod(layout.accumulators)
    return fixed + sums + game.num_actions * per_action + game.dtype.itemsize * (not layout.hidden)


@stack_kernel
def add_node(tree: Tree, g: int, player: int) -> int:
    """Add a node with this player to move to tree g; return its number."""
    n = tree.sizes[g]
    tree.sizes[g] = n + 1
    node = tree.nodes[g, n]
    node["parent"], node["action"] = NO_PARENT, NO_PARENT
    node["visits"], node["untried"], node["unproven"] = 0, NOT_OPENED, 0
    node["first"], node["edges"] = AN_EDGE if n == 0 else 0, 0
    node["player"], node["proven"], node["ambiguous"] = player, False, False
    tree.sums[g, n, SUM, :] = 0.0
    tree.sums[g, n, BEST, :] = BELOW_ALL
    places, rave = tree.places, tree.rave
    for a in range(places.shape[2]):
        places[g, n, a] = UNVISITED
    if tree.available.size:
        tree.available[g, n, :] = 0
    if rave.size:
        for a in range(rave.shape[2]):
            rave[g, n, a]["total"], rave[g, n, a]["visits"] = 0.0, 0
    return n


@stack_kernel
def edge_at(tree: Tree, g: int, n: int, action: int) -> int:
    """Return the index in `edges` of tree g of the edge of an action: UNVISITED or NOT_LEGAL if it has none."""
    place = int(tree.places[g, n, action])
    return place if place < AN_EDGE else tree.nodes[g, n]["first"] + place - AN_EDGE


@stack_kernel
def add_edge(tree: Tree, g: int, n: int, action: int) -> int:
    """Add an edge for an action and return its index; if there is no room, change nothing and return UNVISITED."""
    node, edges, actions = tree.nodes[g, n], tree.edges, tree.edge_actions
    count, first = node["edges"], node["first"]
    if n > 0 and (count == 0 or (count > 1 and count & (count - 1) == 0)):  # no block yet, or a full one
        k = 1
        while 1 << k <= count:
            k += 1
        block = take_block(tree, g, k)
        if block == UNVISITED:
            return UNVISITED
        for e in range(count):
            edges[g, block + e] = edges[g, first + e]
            actions[g, block + e] = actions[g, first + e]
        if count > 0:
            free_block(tree, g, k - 1, first)
        first = block
        node["first"] = first
    edge = edges[g, first + count]
    edge["total"], edge["visits"], edge["child"] = 0.0, 0, NO_CHILD
    actions[g, first + count] = action
    tree.places[g, n, action] = AN_EDGE + count
    node["edges"] = count + 1
    return first + count


@stack_kernel
def take_block(tree: Tree, g: int, k: int) -> int:
    """Return the start of a block of 2**k edges, a freed one if possible; UNVISITED if there is no room."""
    edges, blocks = tree.edges, tree.blocks
    block = blocks[g, k]
    if block > 0:
        blocks[g, k] = edges[g, block]["child"]  # the next free one: see ILLEGAL
        return block
    block = blocks[g, END]
    if block + (1 << k) > edges.shape[1]:
        return UNVISITED
    blocks[g, END] += 1 << k
    return block


@stack_kernel
def free_block(tree: Tree, g: int, k: int, block: int) -> None:
    """Put an unused block of 2**k edges at the head of the list of free ones."""
    tree.edges[g, block]["child"] = tree.blocks[g, k]
    tree.blocks[g, k] = block


def edges_of(tree: Tree, g: int, n: int) -> Array:
    """Return a copy of the edges of a node by action, (A,) of EDGE."""
    places = tree.places[g, n].astype(np.int64)
    copied: Array = tree.edges[g, np.where(places < AN_EDGE, places, tree.nodes[g, n]["first"] + places - AN_EDGE)]
    return copied


@stack_kernel
def open_node(tree: Tree, g: int, n: int, state: Array, mask: Array) -> None:
    """Write the state of a node, with perfect information, and its legal actions. Resigning is never searched."""
    places, resign = tree.places, tree.settings[0]["resign_action"]
    for k in range(len(state)):
        tree.states[g, n, k] = state[k]
    legal = 0
    for a in range(places.shape[2]):
        if mask[a] and a != resign:
            legal += 1
        else:
            places[g, n, a] = NOT_LEGAL
    tree.nodes[g, n]["untried"] = legal
    tree.nodes[g, n]["unproven"] = legal


@stack_kernel
def add_roots(tree: Tree, states: Array, masks: Array) -> None:
    """Start a new tree for each of `states` (G, bytes), in which `masks` (G, A) are legal."""
    tree.sizes[:] = 0
    for g in range(len(states)):
        clear_edges(tree, g)
        add_node(tree, g, states[g, tree.settings[0]["to_move"]])
        if tree.states.size:
            open_node(tree, g, 0, states[g], masks[g])


@stack_kernel
def clear_edges(tree: Tree, g: int) -> None:
    """Remove all edges of a tree."""
    for k in range(tree.blocks.shape[1]):
        tree.blocks[g, k] = 0
    tree.blocks[g, END] = AN_EDGE + tree.places.shape[2]
    for k in range(AN_EDGE):
        edge = tree.edges[g, k]
        edge["total"], edge["visits"], edge["child"] = 0.0, 0, NO_CHILD if k == UNVISITED else ILLEGAL


@stack_kernel
def is_leaf(tree: Tree, g: int, at: int) -> bool:
    """Return whether a simulation ends after the edge at this index even if the game is not over.

    It does if the outcome is proven, if this is the edge's first visit, if there is no room for the edge, or if the
    edge has no node and cannot get one now.
    """
    child, visits = tree.edges[g, at]["child"], tree.edges[g, at]["visits"]
    room = not tree.settings[0]["evaluated_nodes"] and tree.sizes[g] < tree.nodes.shape[1]
    return at < AN_EDGE or child < NO_CHILD or visits == 1 or (child == NO_CHILD and not room)


@kernel
def copy_subtree(tree: Tree, g: int, n: int, target: Tree, to: int, limit: int) -> None:
    """Copy the subtree of node n of tree g, with perfect information, to tree `to` of `target`.

    The copy is breadth first, with at most `limit` nodes. Parents in the source are overwritten.
    """
    copied = np.empty(limit, np.int64)
    copied[0], size, k = n, 1, 0
    clear_edges(target, to)
    while k < size:
        old = copied[k]
        target.nodes[to, k] = tree.nodes[g, old]
        node = target.nodes[to, k]
        node["first"], node["edges"] = AN_EDGE if k == 0 else 0, 0
        target.sums[to, k, :, :] = tree.sums[g, old, :, :]
        target.states[to, k, :] = tree.states[g, old, :]
        if tree.priors.size:
            target.priors[to, k, :] = tree.priors[g, old, :]
        if tree.rave.size:
            target.rave[to, k, :] = tree.rave[g, old, :]
        for a in range(tree.places.shape[2]):
            place = tree.places[g, old, a]
            target.places[to, k, a] = UNVISITED if place >= AN_EDGE else place
            if place < AN_EDGE:
                continue
            edge = tree.edges[g, edge_at(tree, g, old, a)]
            child = edge["child"]
            at = UNVISITED
            if k == 0 or target.blocks[to, END] < target.edges.shape[1] // 2:
                at = add_edge(target, to, k, a)
            if at == UNVISITED:
                node["untried"] += 1
                node["unproven"] += child < NO_CHILD
                continue
            target.edges[to, at] = edge
            if child > 0 or ILLEGAL < child < NO_CHILD:
                if size == limit:
                    target.edges[to, at]["child"] = NO_CHILD
                    node["unproven"] += child < 0
                    continue
                below = child if child > 0 else ~child
                copied[size] = below
                tree.nodes[g, below]["parent"] = k
                target.edges[to, at]["child"] = size if child > 0 else ~size
                size += 1
        k += 1
    target.nodes[to, 0]["parent"], target.nodes[to, 0]["action"] = NO_PARENT, NO_PARENT
    target.sizes[to] = size
