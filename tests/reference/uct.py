"""UCT, slowly: UCTSEARCH of Browne et al. 2012 (algorithm 2) for any number of players, to compare the search with.

Read it beside the paper: `tree_policy`, `expand`, `best_child`, `default_policy` and `backup` are its functions. Where
the paper leaves a choice: an untried action is drawn from the stream, the lowest of equally good children is taken,
N(v) in the exploration term counts the simulations that have gone on from v, and nobody ever resigns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pbm_envs import Game

BITS = (1 << 64) - 1


class Stream:
    """SplitMix64 (Steele, Lea & Flood 2014) in Python integers."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def bits(self) -> int:
        """The next 64."""
        self.state = (self.state + 0x9E3779B97F4A7C15) & BITS
        mixed = self.state
        mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & BITS
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & BITS
        return mixed ^ mixed >> 31

    def draw(self, count: int) -> int:
        """An integer in 0..count-1."""
        return int((self.bits() >> 11) * 2.0**-53 * count)

    def seed(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        """The next bits as the stream of one game."""
        return np.array([self.bits()], np.uint64)


class Node:
    """A position that has been reached: v in the paper."""

    def __init__(self, game: Game, state: Any, parent: Node | None) -> None:
        self.state, self.parent = state, parent  # a batch of one
        self.player, self.over = int(state["to_move"][0]), bool(state["done"][0])
        self.untried = legal(game, state)
        self.children: dict[int, Node] = {}
        self.visits = 0  # N(v)
        self.total = np.zeros(game.num_players)  # Q(v), of each player


def legal(game: Game, state: Any) -> list[int]:
    """The legal actions, ascending, but for `resign`."""
    return [int(a) for a in np.flatnonzero(game.legal_action_mask(state)[0]) if a != game.resign_action]


class UCT:
    """One search."""

    def __init__(self, game: Game, c: float, seed: int, playouts: int = 1, avoid_losing_moves: bool = True) -> None:
        self.game, self.c, self.stream = game, c, Stream(seed)
        self.playouts, self.avoid_losing_moves = playouts, avoid_losing_moves

    def search(self, state: Any, simulations: int) -> Node:
        """The root after that many simulations."""
        root = Node(self.game, state, None)
        self.grow(root, simulations)
        return root

    def grow(self, root: Node, simulations: int) -> None:
        for _ in range(simulations):
            node = self.tree_policy(root)
            self.backup(node, self.default_policy(node))

    def tree_policy(self, node: Node) -> Node:
        while not node.over:
            if node.untried:
                return self.expand(node)
            node = self.best_child(node)
        return node

    def expand(self, node: Node) -> Node:
        action = node.untried.pop(self.stream.draw(len(node.untried)))
        state = node.state.copy()
        self.game.step(state, [action])
        node.children[action] = Node(self.game, state, node)
        return node.children[action]

    def best_child(self, node: Node) -> Node:
        simulations = sum(child.visits for child in node.children.values())

        def score(child: Node) -> float:
            mean = float(child.total[node.player]) / child.visits
            return mean + self.c * math.sqrt(math.log(simulations) / child.visits)

        return max((node.children[action] for action in sorted(node.children)), key=score)

    def default_policy(self, node: Node) -> Any:
        """(P,) mean returns of random games. A seed is drawn even if the game is over and none is played."""
        seed, returns = self.stream.seed(), np.zeros(self.game.num_players)
        for _ in range(self.playouts):
            state = node.state.copy()
            avoid = self.avoid_losing_moves and "avoid_losing_moves" in self.game.playout_options
            self.game.playout(state, seed, avoid_losing_moves=avoid)
            returns += state["returns"][0]
        return returns / self.playouts

    def backup(self, node: Node | None, returns: Any) -> None:
        while node is not None:
            node.visits += 1
            node.total += returns
            node = node.parent


def visits(game: Game, root: Any) -> list[int]:
    """How many simulations began with each action."""
    return [root.children[action].visits if action in root.children else 0 for action in range(game.num_actions)]
