"""Endgames in which everything is known: solved by backward induction, and cut off.

Where one world is left, the rest of the game has perfect information: both players know what it is worth, whatever they
have played before. With every such endgame replaced by its worth, what remains of the tree is the part in which secrets
matter; it is often a small one, and an equilibrium of it is one of the whole game.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs.authoring import kernel

from .policy import Array, Policy
from .solvers import PredictiveCFRPlus
from .sweeps import Flat
from .tree import PublicTree


@kernel
def solve_endgames(tree: Flat, alone: Array, worth: Array, best: Array, first: int, last: int) -> None:
    """Backward induction: of the pairs that are `alone` in their public nodes, what they are `worth` to player_0, and
    of their information sets the `best` choice.
    """
    for s in range(last - 1, first - 1, -1):
        pair = tree.set_pairs[s]
        if not alone[pair]:
            continue
        sign = 1.0 - 2.0 * tree.set_player[s]
        highest = -np.inf
        for j in range(tree.set_choices[s + 1] - tree.set_choices[s]):
            child = tree.children[tree.set_transitions[s] + j]
            value = worth[child] if child >= 0 else tree.payoffs[~child]
            if sign * value > highest:
                highest, best[s] = sign * value, j
        worth[pair] = sign * highest


@final
@dataclass(frozen=True, eq=False)
class Trunk:
    """What is left of a public tree without its endgames."""

    tree: PublicTree
    """The trunk."""
    whole: PublicTree
    kept: Array
    """(S of the whole tree,) the information sets that are in the trunk."""
    best: Array
    """(S of the whole tree,) the best choice in those that are not."""

    @classmethod
    def of(cls, whole: PublicTree) -> Trunk:
        """Solve the endgames of a tree and cut them off.

        Raises:
            ValueError: Nothing is hidden in the game: it is all endgame.
        """
        alone = np.repeat(np.diff(whole.node_pairs) == 1, np.diff(whole.node_pairs))
        worth, best = np.empty(whole.num_pairs), np.zeros(whole.num_information_sets, np.int32)
        whole.sweeps.backward(solve_endgames, alone, worth, best)
        if alone[: whole.num_roots].any():
            raise ValueError(f"{whole.game!r}: a world is known from the start, there is nothing but endgame")
        kept = ~alone[whole.set_pairs[:-1]]
        return cls(_without(whole, alone, worth, kept), whole, kept, best)

    def extend(self, policy: Policy) -> Policy:
        """A policy of the trunk as one of the whole tree, with perfect play in the endgames."""
        whole = self.whole
        probabilities = np.zeros(whole.num_choices)
        probabilities[whole.set_choices[:-1] + self.best] = 1.0
        probabilities[np.repeat(self.kept, np.diff(whole.set_choices))] = policy.probabilities
        return Policy(whole, probabilities)


def solve(
    tree: PublicTree,
    until: float = 1e-6,
    iterations: int = 10_000,
    report: Callable[[int, float], bool | None] | None = None,
) -> Policy:
    """An equilibrium, nearly: predictive CFR+ on the trunk, backward induction in the endgames.

    Args:
        tree: The public tree of the game.
        until: The exploitability at which to stop.
        iterations: At most so many.
        report: As in `Solver.run`, every 25 iterations.
    """
    trunk = Trunk.of(tree)
    return trunk.extend(PredictiveCFRPlus(trunk.tree).run(iterations, until=until, every=25, report=report))


def _without(whole: PublicTree, alone: Array, worth: Array, kept: Array) -> PublicTree:
    """The tree of the information sets that are `kept`; what is `alone` is a payoff."""
    choices, pairs = np.diff(whole.set_choices)[kept], np.diff(whole.set_pairs)[kept]
    transitions = np.repeat(kept, np.diff(whole.set_transitions))
    children = whole.children[transitions].astype(np.int64)
    payoffs = np.union1d(whole.payoffs, worth[alone])
    number = np.cumsum(~alone) - 1  # of a pair in the trunk
    code = np.zeros(whole.num_pairs, np.int64)
    code[alone] = np.searchsorted(payoffs, worth[alone])
    ended, left = children < 0, children >= 0
    left[left] = ~alone[children[left]]
    turned = ~ended & ~left
    children[ended] = ~np.searchsorted(payoffs, whole.payoffs)[~children[ended]]
    children[turned] = ~code[children[turned]]
    children[left] = number[children[left]]
    parents = whole.pair_parent[~alone].astype(np.int64)
    moved = np.cumsum(transitions) - 1  # of a transition in the trunk
    levels = np.concatenate([[0], np.cumsum(kept)])[whole.level_sets]
    nodes = whole.node_pairs[:-1][np.diff(whole.node_pairs) > 1]
    return PublicTree(
        game=whole.game,
        starts=whole.starts,
        chances=whole.chances,
        payoffs=payoffs,
        level_sets=np.unique(levels),
        node_pairs=np.append(number[nodes], np.count_nonzero(~alone)).astype(np.int32),
        set_player=whole.set_player[kept],
        set_pairs=_starts(pairs).astype(np.int32),
        set_choices=_starts(choices),
        set_transitions=_starts(choices * pairs),
        choice_actions=whole.choice_actions[np.repeat(kept, np.diff(whole.set_choices))],
        pair_world=whole.pair_world[~alone],
        pair_parent=np.where(parents < 0, -1, moved[parents]).astype(np.int32),
        children=children.astype(np.int32),
    )


def _starts(sizes: Array) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)])
