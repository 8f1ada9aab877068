"""Information-set MCTS, slowly: SO-ISMCTS of Cowling, Powley & Whitehouse 2012, to compare the search with.

A node is a sequence of moves, which both players of Curio see. Nobody ever resigns; the rest as in `uct`.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from pbm_envs import Game
from tests.reference.uct import Stream, legal


class Node:
    """What may be known after a sequence of moves."""

    def __init__(self, players: int) -> None:
        self.children: dict[int, Node] = {}
        self.available: Counter[int] = Counter()  # choices here at which an action was legal
        self.visits = 0
        self.total = np.zeros(players)


def search(game: Game, view: Any, c: float, seed: int, simulations: int) -> Node:
    """The root after that many simulations."""
    stream, root = Stream(seed), Node(game.num_players)
    for _ in range(simulations):
        state = game.determinize(view, stream.seed())
        path, expanded = [root], False
        while not state["done"][0] and not expanded:
            node, actions = path[-1], legal(game, state)
            node.available.update(actions)
            untried = [action for action in actions if action not in node.children]
            if untried:
                action = untried[stream.draw(len(untried))]
                node.children[action], expanded = Node(game.num_players), True
            else:
                action = best_action(node, actions, int(state["to_move"][0]), c)
            game.step(state, [action])
            path.append(node.children[action])
        game.playout(state, stream.seed())
        for node in path:
            node.visits += 1
            node.total += state["returns"][0]
    return root


def best_action(node: Node, actions: list[int], player: int, c: float) -> int:
    """Of the actions that are legal in this world."""

    def score(action: int) -> float:
        child = node.children[action]
        mean = float(child.total[player]) / child.visits
        return mean + c * math.sqrt(math.log(node.available[action]) / child.visits)

    return max(actions, key=score)
