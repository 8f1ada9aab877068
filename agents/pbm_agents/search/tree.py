"""The search tree as a struct of arrays, and the verbs of a simulation as kernels: choose, arrive, expand, back up.

    G  trees, one a game      N  nodes a tree, the root first      A  actions      P  players
    R  walks: simulations that are on their way, in any of the trees

    nodes (G, N)     edges (G, N, A)
    sums (G, N, 2, P): SUM of the returns of a node's simulations; BEST proven outcome for who is to move
    priors (G, N, A) if the evaluator gives priors      available (G, N, A) if states are hidden
    rave (G, N, A) if it is used                        states (G, N) of open games

An edge has statistics from its first visit, a node of its own from the second (from the first, if there are priors); so
memory is used for what is searched more than once. In an open game a node keeps its state, and a walk goes down the
known part of the tree in one call. Where states are hidden, each walk carries a determinized state of its own down the
tree of statistics, one ply a call: information-set MCTS with a single observer (Cowling, Powley & Whitehouse 2012),
whose `available` counts how often an action was legal at its node.

A walk leaves a *virtual loss* on each of its edges until it is backed up, so that the walks of one wave spread; a wave
of one walk is the sequential algorithm. MCTS-Solver (Winands, Bjoernsson & Saito 2008), for open games: `settle` takes
proven outcomes up the tree.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.kernels import kernel
from pbm_envs.randomness import Seeds, draw, following

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
"""Less than any score."""


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
        self.bytes = self.states.view(np.uint8).reshape(*self.states.shape, game.dtype.itemsize)
        self.sizes = np.zeros(trees, np.int64)  # 0: not in use

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
    nodes: Array, edges: Array, sums: Array, available: Array, rave: Array, sizes: Array, g: int, player: int
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
    available: Array,
    rave: Array,
    sizes: Array,
    states: Array,
    roots: Array,
    players: Array,
    masks: Array,
    resign: int,
) -> None:
    """The roots."""
    sizes[:] = 0
    for g in range(len(players)):
        create(nodes, edges, sums, available, rave, sizes, g, players[g])
        if states.size:
            open_node(nodes, edges, states, g, 0, roots[g], masks[g], resign)


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
            score = edge["total"] / count + spread / math.sqrt(count)
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
            chances = available[g, n, a] if hidden else node["visits"]
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
    seeds: Seeds,
    walks: Array,
    count: int,
    moving: Array,
    masks: Array,
    actions: Array,
    c: float,
    equivalence: float,
    resign: int,
) -> None:
    """Select an action for each walk: in an open game down to the first edge without a node to go on from; else one.
    `moving` (R, bytes) are the walks' states and `masks` (R, A) what is legal there.
    """
    hidden = available.size > 0
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


@kernel
def arrive(
    nodes: Array,
    edges: Array,
    sums: Array,
    available: Array,
    rave: Array,
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
    with_priors: bool,
) -> int:
    """After the step: walks that have come to a leaf (game over, outcome proven, first visit, or no room for a node) go
    to `leaves` after those that have `arrived` before; the others close ranks and go on from a node. How many go on.
    """
    going = 0
    for r in range(count):
        g, n, action = walks[r]["game"], walks[r]["node"], walks[r]["action"]
        edge = edges[g, n, action]
        child = edge["child"]
        full = child == NONE and (with_priors or sizes[g] == nodes.shape[1])
        if done[r] or child < NONE or edge["visits"] == 1 or full:
            leaf_walks[arrived] = walks[r]
            leaf_walks[arrived]["over"] = done[r]
            leaves[arrived, :] = moving[r, :]
            leaf_seeds[arrived] = following(seeds, g)
            arrived += 1
            continue
        if child == NONE:
            child = create(nodes, edges, sums, available, rave, sizes, g, to_move[r])
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
    available: Array,
    rave: Array,
    sizes: Array,
    states: Array,
    priors: Array,
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
        child = create(nodes, edges, sums, available, rave, sizes, g, to_move[r])
        nodes[g, child]["parent"], nodes[g, child]["action"] = n, action
        edge["child"] = child
        priors[g, child, :] = given[r]
        if states.size:
            open_node(nodes, edges, states, g, child, leaves[r], masks[r], resign)


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
    rave: Array,
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
                for a in range(traces.shape[1]):
                    if traces[r, a] == player or (shared and traces[r, a] != NOBODY):
                        rave[g, n, a]["total"] += value[player]
                        rave[g, n, a]["visits"] += 1
            action, n = node["action"], node["parent"]
        if solve and leaf_walks[r]["over"]:
            n, action = leaf_walks[r]["node"], leaf_walks[r]["action"]
            proven += settle(nodes, edges, sums, g, n, action, value)
    return proven


@kernel
def graft(
    nodes: Array,
    edges: Array,
    sums: Array,
    priors: Array,
    rave: Array,
    states: Array,
    g: int,
    n: int,
    to_nodes: Array,
    to_edges: Array,
    to_sums: Array,
    to_priors: Array,
    to_rave: Array,
    to_states: Array,
    to_g: int,
    most: int,
) -> int:
    """Copy the tree below node n, breadth first, to be tree `to_g` elsewhere: at most `most` nodes; how many."""
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
    return size
