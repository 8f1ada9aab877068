"""PUCT, slowly: the search of AlphaZero (Silver et al. 2017) without noise, for any number of players.

A child that has not been visited is taken to be worth what its parent has been worth so far; the lowest of equally good
actions is taken; nobody ever resigns. Nothing is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pbm_envs import Game
from tests.reference.uct import Node

PriorsAndValues = Callable[[Any, Any], tuple[Any, Any]]


def search(
    game: Game,
    state: Any,
    evaluator: PriorsAndValues,
    c: float,
    simulations: int,
    reduction: float = 0.0,
    forced: float = 0.0,
) -> Node:
    """The root after that many simulations; `reduction` is that for first plays, `forced` that for forced playouts."""
    root = Node(game, state, None)
    priors = {root: evaluate(game, root, evaluator)[0]}
    for _ in range(simulations):
        node, expanded = root, False
        while not node.over and not expanded:
            action = best_action(node, priors[node], c, reduction, forced if node is root else 0.0)
            expanded = action not in node.children
            if expanded:
                after = node.state.copy()
                game.step(after, [action])
                node.children[action] = Node(game, after, node)
            node = node.children[action]
        if node.over:
            values = node.state["returns"][0]
        else:
            priors[node], values = evaluate(game, node, evaluator)
        above: Node | None = node
        while above is not None:
            above.visits += 1
            above.total += values
            above = above.parent
    return root


def best_action(node: Node, priors: Any, c: float, reduction: float = 0.0, forced: float = 0.0) -> int:
    simulations = sum(child.visits for child in node.children.values())
    backed_up = sum(child.total[node.player] for child in node.children.values())
    for action in node.untried:
        if action in node.children and node.children[action].visits < math.sqrt(forced * priors[action] * simulations):
            return action
    best, highest = -1, -math.inf
    for action in node.untried:  # that is, the legal ones
        child = node.children.get(action)
        count = child.visits if child else 0
        first = backed_up / max(1, simulations) - reduction * math.sqrt(sum(priors[a] for a in node.children))
        value = child.total[node.player] / count if child else first
        score = value + c * priors[action] * math.sqrt(simulations + 1) / (1 + count)
        if score > highest:
            best, highest = action, score
    return best


def pruned(root: Node, priors: Any, c: float, forced: float) -> dict[int, int]:
    """Visits by action, without forced ones (Wu 2020): one after the other is taken away, as long as PUCT would not
    choose the action then.
    """
    counts = {action: child.visits for action, child in root.children.items()}
    total = sum(counts.values())
    best = max(sorted(counts), key=lambda action: counts[action])

    def score(action: int, count: int) -> float:
        value = root.children[action].total[root.player] / counts[action]
        return float(value + c * priors[action] * math.sqrt(total) / (1 + count))

    left = dict(counts)
    for action in counts.keys() - {best}:
        for _ in range(int(math.sqrt(forced * priors[action] * total))):
            if left[action] == 0 or score(action, left[action] - 1) >= score(best, counts[best]):
                break
            left[action] -= 1
        if left[action] <= 1:
            left[action] = 0
    return left


def evaluate(game: Game, node: Node, evaluator: PriorsAndValues) -> tuple[Any, Any]:
    """(A,) priors, which sum to 1 over the legal actions, and (P,) values by seat of those from the mover on."""
    view = game.view(node.state, node.player)
    mask = game.legal_action_mask(view)
    priors, values = evaluator(game.observe(view), mask)
    by_seat = np.roll(values[0], node.player)
    return np.where(mask[0], priors[0], 0) / priors[0][mask[0]].sum(), by_seat
