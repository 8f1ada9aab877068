"""Gumbel AlphaZero's search, slowly: Danihelka, Guez, Schrittwieser & Silver 2022, for any number of players.

Sequential halving (section 2 and algorithm 2 of the paper), completed values with the mixed value of appendix D, and
the deterministic selection below the root of section 5. Returns from -1 to 1 are taken to the paper's 0 to 1; c_visit
is 50.
The lowest of equally good actions is taken, and nobody ever resigns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pbm_envs import Game
from tests.reference.puct import PriorsAndValues, evaluate
from tests.reference.uct import Node

C_VISIT = 50


class GumbelSearch:
    """One search: `root` after `run`, the action to take and the improved policy."""

    def __init__(self, game: Game, state: Any, evaluator: PriorsAndValues, c_scale: float) -> None:
        self.game, self.evaluator, self.c_scale = game, evaluator, c_scale
        self.priors: dict[Node, Any] = {}
        self.values: dict[Node, Any] = {}
        self.root = self.node(state, None)

    def node(self, state: Any, parent: Node | None) -> Node:
        node = Node(self.game, state, parent)
        if not node.over:
            self.priors[node], self.values[node] = evaluate(self.game, node, self.evaluator)
        return node

    def run(self, considered: int, simulations: int, gumbels: Any) -> int:
        """The action to take after so many simulations; `gumbels` (A,) are added to the logarithms of the priors."""
        root, left = self.root, simulations
        first = {a: gumbels[a] + math.log(self.priors[root][a]) for a in root.untried}
        remaining = min(considered, len(first))
        rounds = max(1, math.ceil(math.log2(remaining)))
        visits = 0  # that the remaining actions have
        while left:
            for _ in range(max(1, simulations // (rounds * remaining))):
                for _ in range(min(left, remaining)):
                    self.simulate(self.best(first, visits))
                    left -= 1
                visits += 1
            remaining = max(min(2, remaining), remaining // 2)
        return self.best(first, max(child.visits for child in root.children.values()))

    def best(self, first: dict[int, float], visits: int) -> int:
        """By Gumbel number, prior and value, of the actions with so many visits. (Looking anew before every simulation,
        as mctx does: values weigh more the more visits there are.)
        """
        weighted, children = self.weighted(self.root), self.root.children
        counts = {a: children[a].visits if a in children else 0 for a in first}
        return max((a for a in first if counts[a] == visits), key=lambda a: (first[a] + weighted[a], -a))

    def simulate(self, action: int) -> None:
        """Once from the root by this action, to a new node or the end of the game, and back."""
        node = self.child(self.root, action)
        while node.visits and not node.over:
            node = self.child(node, self.below_root(node))
        values = node.state["returns"][0] if node.over else self.values[node]
        above: Node | None = node
        while above is not None:
            above.visits += 1
            above.total += values
            above = above.parent

    def child(self, node: Node, action: int) -> Node:
        if action not in node.children:
            after = node.state.copy()
            self.game.step(after, [action])
            node.children[action] = self.node(after, node)
        return node.children[action]

    def below_root(self, node: Node) -> int:
        """The action for which the visits would come nearest to the improved policy."""
        policy, visits = self.policy(node), {a: child.visits for a, child in node.children.items()}
        return max(
            node.untried, key=lambda a: (policy[a] - visits.get(a, 0) / (1 + sum(visits.values())), -a)
        )  # fmt: skip

    def policy(self, node: Node) -> dict[int, float]:
        """By action, the softmax of the logarithms of the priors and the weighted values."""
        weighted = self.weighted(node)
        logits = {a: math.log(self.priors[node][a]) + weighted[a] for a in node.untried}
        most = max(logits.values())
        weights = {a: math.exp(logit - most) for a, logit in logits.items()}
        return {a: weight / sum(weights.values()) for a, weight in weights.items()}

    def weighted(self, node: Node) -> dict[int, float]:
        """By action, sigma of its completed value."""
        counts = {a: child.visits for a, child in node.children.items()}
        means = {a: child.total[node.player] / child.visits for a, child in node.children.items()}
        mixed = self.values[node][node.player]
        if counts:
            share = sum(self.priors[node][a] for a in counts)
            mean = sum(self.priors[node][a] * means[a] for a in counts) / share
            mixed = (mixed + sum(counts.values()) * mean) / (1 + sum(counts.values()))
        scale = (C_VISIT + max(counts.values(), default=0)) * self.c_scale
        return {a: scale * (1 + means.get(a, mixed)) / 2 for a in node.untried}


def search(
    game: Game,
    state: Any,
    evaluator: PriorsAndValues,
    *,
    considered: int,
    simulations: int,
    c_scale: float,
    gumbels: Any,
) -> tuple[list[int], int, Any]:
    """Visits (A,), the action to take, and the improved policy (A,)."""
    tried = GumbelSearch(game, state, evaluator, c_scale)
    action = tried.run(considered, simulations, gumbels)
    policy = np.zeros(game.num_actions)
    for a, share in tried.policy(tried.root).items():
        policy[a] = share
    children = tried.root.children
    return [children[a].visits if a in children else 0 for a in range(game.num_actions)], action, policy
