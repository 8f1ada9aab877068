"""Four searches, slowly, for any number of players, to compare ours with.

`UCT` is UCTSEARCH of Browne et al. 2012 (algorithm 2), `ismcts` is SO-ISMCTS of Cowling, Powley & Whitehouse 2012,
`puct` is the search of AlphaZero (Silver et al. 2017) without noise, and `Gumbel` that of Danihelka, Guez,
Schrittwieser & Silver 2022. Read them beside the papers. Where these leave a choice: an untried action is drawn from
the stream, the lowest of equally good actions is taken, N(v) in UCT's exploration term counts the simulations that
continue from v, and nobody resigns.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from pbm_envs import Game

BITS = (1 << 64) - 1
C_VISIT = 50
"""Of Gumbel's search, as in the paper."""
PriorsAndValues = Callable[[Any, Any], tuple[Any, Any]]


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
    """A position that has been reached: v in Browne et al."""

    def __init__(self, game: Game, state: Any, parent: Node | None) -> None:
        self.game, self.state, self.parent = game, state, parent  # a batch of one
        self.player, self.over = int(state["to_move"][0]), bool(state["done"][0])
        self.untried = legal(game, state)
        self.children: dict[int, Node] = {}
        self.visits = 0  # N(v)
        self.total = np.zeros(game.num_players)  # Q(v), of each player

    def child(self, action: int) -> Node:
        """The position after the action; it becomes part of the tree."""
        if action not in self.children:
            after = self.state.copy()
            self.game.step(after, [action])
            self.children[action] = Node(self.game, after, self)
        return self.children[action]

    def mean(self, player: int) -> float:
        return float(self.total[player]) / self.visits


def backup(node: Node | None, returns: Any) -> None:
    while node is not None:
        node.visits += 1
        node.total += returns
        node = node.parent


def legal(game: Game, state: Any) -> list[int]:
    """The legal actions, ascending, but for `resign`."""
    return [int(a) for a in np.flatnonzero(game.legal_action_mask(state)[0]) if a != game.resign_action]


def visits(game: Game, root: Any) -> list[int]:
    """How many simulations began with each action."""
    return [root.children[action].visits if action in root.children else 0 for action in range(game.num_actions)]


class UCT:
    """`tree_policy`, `best_child` and `default_policy` are functions of the paper; so is `backup`."""

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
            backup(node, self.default_policy(node))

    def tree_policy(self, node: Node) -> Node:
        while not node.over:
            if node.untried:
                return node.child(node.untried.pop(self.stream.draw(len(node.untried))))
            node = self.best_child(node)
        return node

    def best_child(self, node: Node) -> Node:
        simulations = sum(child.visits for child in node.children.values())

        def score(child: Node) -> float:
            return child.mean(node.player) + self.c * math.sqrt(math.log(simulations) / child.visits)

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


class Information:
    """What may be known after a sequence of moves, which both players of Curio see."""

    def __init__(self, players: int) -> None:
        self.children: dict[int, Information] = {}
        self.available: Counter[int] = Counter()  # choices here at which an action was legal
        self.visits = 0
        self.total = np.zeros(players)


def ismcts(game: Game, view: Any, c: float, seed: int, simulations: int) -> Information:
    """The root after that many simulations."""
    stream, root = Stream(seed), Information(game.num_players)
    for _ in range(simulations):
        state = game.determinize(view, stream.seed())
        path, expanded = [root], False
        while not state["done"][0] and not expanded:
            node, actions = path[-1], legal(game, state)
            node.available.update(actions)
            untried = [action for action in actions if action not in node.children]
            if untried:
                action = untried[stream.draw(len(untried))]
                node.children[action], expanded = Information(game.num_players), True
            else:
                action = most_promising(node, actions, int(state["to_move"][0]), c)
            game.step(state, [action])
            path.append(node.children[action])
        game.playout(state, stream.seed())
        for node in path:
            node.visits += 1
            node.total += state["returns"][0]
    return root


def most_promising(node: Information, actions: list[int], player: int, c: float) -> int:
    """Of the actions that are legal in this world."""

    def score(action: int) -> float:
        child = node.children[action]
        mean = float(child.total[player]) / child.visits
        return mean + c * math.sqrt(math.log(node.available[action]) / child.visits)

    return max(actions, key=score)


def puct(
    game: Game,
    state: Any,
    evaluator: PriorsAndValues,
    c: float,
    simulations: int,
    reduction: float = 0.0,
    forced: float = 0.0,
) -> Node:
    """The root after that many simulations; `reduction` is that for first plays, `forced` that for forced playouts.

    A child that has not been visited is taken to be worth what its parent has been worth so far. Nothing is drawn.
    """
    root = Node(game, state, None)
    priors = {root: evaluate(game, root, evaluator)[0]}
    for _ in range(simulations):
        node = root
        while not node.over and node in priors:
            node = node.child(best_action(node, priors[node], c, reduction, forced if node is root else 0.0))
        if node.over:
            values = node.state["returns"][0]
        else:
            priors[node], values = evaluate(game, node, evaluator)
        backup(node, values)
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
        value = child.mean(node.player) if child else first
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


class Gumbel:
    """Sequential halving (section 2 and algorithm 2), completed values with the mixed value of appendix D, and the
    deterministic selection below the root of section 5. Returns from -1 to 1 are taken to the paper's 0 to 1.
    """

    def __init__(self, game: Game, state: Any, evaluator: PriorsAndValues, c_scale: float) -> None:
        self.game, self.evaluator, self.c_scale = game, evaluator, c_scale
        self.priors: dict[Node, Any] = {}
        self.values: dict[Node, Any] = {}
        self.root = Node(game, state, None)
        self.look_at(self.root)

    def look_at(self, node: Node) -> None:
        if not node.over and node not in self.priors:
            self.priors[node], self.values[node] = evaluate(self.game, node, self.evaluator)

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
        node = self.root.child(action)
        while node.visits and not node.over:
            node = node.child(self.below_root(node))
        self.look_at(node)
        backup(node, node.state["returns"][0] if node.over else self.values[node])

    def below_root(self, node: Node) -> int:
        """The action for which the visits would come nearest to the improved policy."""
        policy, visits = self.policy(node), {a: child.visits for a, child in node.children.items()}
        count = 1 + sum(visits.values())
        return max(node.untried, key=lambda a: (policy[a] - visits.get(a, 0) / count, -a))

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
        means = {a: child.mean(node.player) for a, child in node.children.items()}
        mixed = self.values[node][node.player]
        if counts:
            share = sum(self.priors[node][a] for a in counts)
            mean = sum(self.priors[node][a] * means[a] for a in counts) / share
            mixed = (mixed + sum(counts.values()) * mean) / (1 + sum(counts.values()))
        scale = (C_VISIT + max(counts.values(), default=0)) * self.c_scale
        return {a: scale * (1 + means.get(a, mixed)) / 2 for a in node.untried}
