"""The result of a search of one position, read from its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import Ints
from pbm_envs.toolbox import Array, Drawn, Floats, check_number, stack_kernel

from ..players.agent import Views, check_generator
from .gumbel import GumbelRoots
from .selection import puct
from .tree import BEST, ILLEGAL, NO_CHILD, SUM, TERMINAL, Tree, edge_at

SHOWN = 8
"""Moves in the table of a result."""


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search of one position. `print` it, or let a notebook display it.

    Attributes:
        game: The game.
        view: (1,) the position that was searched, as passed to `Search.run`.
        player: The player to move.
        best: The action to play: the most visited one, unless another is proven to be better. With Gumbel root
            selection, the one with the best prior and value among the most visited ones.
        visits: (A,) simulations that began with each action.
        values: (A,) their mean return for `player`, or the outcome once it is proven; nan without a visit.
        proven_actions: (A,) bool, True where the action's outcome is proven.
        value: (P,) mean returns of all simulations, or the outcome once it is proven.
        proven: True if the outcome of the position is proven: `value` is then the result of perfect play.
        principal_variation: The most visited line of play, beginning with `best`, in the tree with the most visits.
        simulations: Simulations of this run. With `reuse`, `visits` also counts those of earlier runs.
        seconds: Duration of the run, for all positions of its batch (in its thread).
        nodes: Nodes of the tree, or of all trees of the position.
        completed_policy: (A,) the priors, improved by the values that were found and by a mixed value for actions
            without a visit (Danihelka et al. 2022). None without Gumbel root selection.
        pruned_visits: (A,) the visits without forced ones that PUCT would not have made (Wu 2020). None without forced
            playouts.
    """

    game: Game
    view: Views
    player: int
    visits: Ints
    values: Floats
    proven_actions: NDArray[np.bool_]
    value: Floats
    proven: bool
    best: int
    principal_variation: tuple[int, ...]
    simulations: int
    seconds: float
    nodes: int
    completed_policy: Floats | None = None
    pruned_visits: Ints | None = None

    def policy(self, temperature: float = 1.0) -> Floats:
        """Return (A,) probabilities in proportion to `visits ** (1 / temperature)`; at 0, `best` has probability 1.

        `completed_policy` or `pruned_visits` replaces the visits if it is not None. An action that is proven to be
        worse than `best` has probability 0; if `best` is a proven win, so has every other action.

        Raises:
            ValueError: If the temperature is negative or not finite.
        """
        check_number("temperature", temperature, 0)
        if temperature == 0 or (self.proven_actions[self.best] and self.values[self.best] == 1):
            return np.eye(len(self.visits))[self.best]
        shares: Floats | Ints = self.visits if self.pruned_visits is None else self.pruned_visits
        if self.completed_policy is not None:
            shares = self.completed_policy
        chosen = (shares > 0) & ~(self.proven_actions & (self.values < self.values[self.best]))
        weights = np.where(chosen, shares / shares[chosen].max(), 0)
        weights[chosen] **= 1 / temperature
        return weights / weights.sum()

    def sample(self, rng: np.random.Generator, temperature: float = 1.0) -> int:
        """Draw an action from `policy(temperature)`."""
        check_generator(rng)
        return int(rng.choice(len(self.visits), p=self.policy(temperature)))

    def _rows(self) -> list[tuple[str, ...]]:
        """Return rows of move, visits, share, value and proven: the best move first, then by visits."""
        order = sorted(np.flatnonzero(self.visits).tolist(), key=lambda a: (a != self.best, -self.visits[a]))
        total = self.visits.sum()
        return [
            (
                self.game.action_to_string(a),
                f"{self.visits[a]:,}",
                f"{self.visits[a] / total:.1%}",
                f"{self.values[a]:+.3f}",
                "proven" if self.proven_actions[a] else "",
            )
            for a in order[:SHOWN]
        ]

    def _summary(self) -> str:
        value = ", ".join(f"player_{k} {v:+.3f}" for k, v in enumerate(self.value))
        return (
            f"{self.simulations:,} simulations in {self.seconds:.3f} s, {self.nodes:,} nodes; "
            f"player_{self.player} to move; value {'proven: ' * self.proven}{value}"
        )

    def _line(self) -> str:
        return " ".join(self.game.action_to_string(a) for a in self.principal_variation)

    def __str__(self) -> str:
        rows = [("move", "visits", "share", "value", ""), *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(5)]
        table = ["  ".join(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self._summary(), f"expected: {self._line()}", "", *table])

    def _repr_svg_(self) -> str:
        return self._picture()._repr_svg_()

    def _repr_png_(self) -> bytes | None:
        return self._picture()._repr_png_()

    def _picture(self) -> Drawn:
        """Draw the position with the visits of each move."""
        return self.game.show(self.view, self.visits)

    def _repr_html_(self) -> str:
        cells = "".join(
            "<tr>" + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        head = "".join(f"<th>{name}</th>" for name in ("move", "visits", "share", "value", ""))
        return (
            f"<div>{self._picture().in_html()}<p>{escape(self._summary())}<br>"
            f"expected: <code>{escape(self._line())}</code></p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div>"
        )


class SearchedTree(NamedTuple):
    """One of the trees of a position, with the simulations and seconds spent on it."""

    tree: Tree
    g: int
    simulations: int
    seconds: float
    gumbel: GumbelRoots | None = None

    @property
    def proven(self) -> bool:
        return bool(self.tree.nodes[self.g, 0]["proven"])


def read_result(game: Game, view: Views, trees: Sequence[SearchedTree]) -> SearchResult:
    """Return the combined statistics at the roots of the trees that were searched from `view` (1,)."""
    each = [_actions(one.tree, one.g, 0) for one in trees]
    visits, values, proven_actions = each[0] if len(each) == 1 else _add_up(each)
    first = trees[0]
    if first.gumbel is None:
        best, policy = best_action(visits, values, proven_actions), None
    else:
        best, policy = first.gumbel.read(first.tree, first.g, each[0][0], each[0][2])
        best = unless_proven_better(best, values, proven_actions)
    pruned = None
    if first.tree.settings[0]["forced_playouts"]:
        own = [_pruned(one.tree, one.g, *its[:2], best) for one, its in zip(trees, each, strict=True)]
        pruned = np.sum(own, axis=0, dtype=visits.dtype)
    longest = max(range(len(trees)), key=lambda k: (each[k][2][best], each[k][0][best]))
    return SearchResult(
        game=game,
        view=view.copy(),
        player=int(first.tree.nodes[first.g, 0]["player"]),
        visits=visits,
        values=values,
        proven_actions=proven_actions,
        value=_value(trees),
        proven=any(one.proven for one in trees),
        best=best,
        principal_variation=_line(trees[longest], best),
        simulations=sum(one.simulations for one in trees),
        seconds=max(one.seconds for one in trees),
        nodes=sum(int(one.tree.sizes[one.g]) for one in trees),
        completed_policy=policy,
        pruned_visits=pruned,
    )


def _add_up(each: Sequence[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    """Combine (A,) visits, values and proofs of several trees: sums of visits, mean values, and the union of proofs."""
    visits = np.sum([visits for visits, _, _ in each], axis=0, dtype=each[0][0].dtype)
    totals = np.sum([np.where(visits > 0, visits * values, 0) for visits, values, _ in each], axis=0)
    values = np.divide(totals, visits, out=np.full(len(visits), np.nan), where=visits > 0)
    proven_actions = np.any([proven for _, _, proven in each], axis=0)
    for _, outcomes, proven in each:
        values[proven] = outcomes[proven]
    return visits, values, proven_actions


def _value(trees: Sequence[SearchedTree]) -> Floats:
    """Return (P,) the mean returns of all simulations, or the outcome once one of the trees has proven it."""
    for one in trees:
        if one.proven:
            return np.array(one.tree.sums[one.g, 0, BEST])
    total = np.sum([one.tree.sums[one.g, 0, SUM] for one in trees], axis=0)
    return np.array(total / max(1, sum(int(one.tree.nodes[one.g, 0]["visits"]) for one in trees)))


def _pruned(tree: Tree, g: int, visits: Ints, values: Floats, best: int) -> Ints:
    """Return (A,) the root's visits without forced ones, which are removed until PUCT would prefer the action to the
    best one. The best action keeps its visits; an action with one visit left gets none.
    """
    total, priors, settings = int(tree.nodes[g, 0]["visits"]), tree.priors[g, 0].astype(np.float64), tree.settings[0]
    kept = visits.copy()

    def score(a: Any, count: Any) -> float:
        return puct(count, values[a], priors[a], total, settings["parameter"])

    highest = score(best, visits[best])
    for a in np.flatnonzero(visits):
        if a != best:
            least = max(0, visits[a] - int(np.sqrt(settings["forced_playouts"] * priors[a] * total)))
            while kept[a] > least and score(a, kept[a] - 1) < highest:
                kept[a] -= 1
            if kept[a] <= 1:
                kept[a] = 0
    return kept


def _line(one: SearchedTree, best: int) -> tuple[int, ...]:
    """Return the line of best actions of a tree that begins with `best`."""
    line = np.empty(int(one.tree.sizes[one.g]) + 1, np.int64)
    return tuple(line[: read_line(one.g, best, line, *one.tree)].tolist())


def _actions(tree: Tree, g: int, n: int) -> tuple[Array, Array, Array]:
    """Return (A,) visits, values for the player to move, and proofs of the actions at node n."""
    count = tree.places.shape[2]
    found = np.empty(count, np.int32), np.empty(count), np.empty(count, np.bool_)
    read_actions(g, n, *found, *tree)
    return found


@stack_kernel
def read_actions(g: int, n: int, visits: Array, values: Array, proven: Array, *arrays: Array) -> None:
    """Write (A,) visits, values for the player to move (nan without a visit), and proofs of the actions at node n."""
    tree = Tree(*arrays)
    player = tree.nodes[g, n]["player"]
    for a in range(len(visits)):
        edge = tree.edges[g, edge_at(tree, g, n, a)]
        child = edge["child"]
        visits[a] = edge["visits"]
        values[a] = edge["total"] / edge["visits"] if edge["visits"] else np.nan
        if ILLEGAL < child < NO_CHILD:
            values[a] = tree.sums[g, ~child, BEST, player]
        proven[a] = child == TERMINAL or ILLEGAL < child < NO_CHILD


@stack_kernel
def read_line(g: int, action: int, line: Array, *arrays: Array) -> int:
    """Write the line of best actions that begins with `action` at the root; return its length."""
    tree, n, length = Tree(*arrays), 0, 0
    count = tree.places.shape[2]
    visits, values, proven = np.empty(count, np.int32), np.empty(count, np.float64), np.empty(count, np.bool_)
    while True:
        line[length] = action
        length += 1
        child = tree.edges[g, edge_at(tree, g, n, action)]["child"]
        if child == NO_CHILD or child == TERMINAL:
            return length
        n = child if child > 0 else ~child
        read_actions(g, n, visits, values, proven, *arrays)
        action = best_action(visits, values, proven)
        if visits[action] == 0:
            return length


@stack_kernel
def best_action(visits: Array, values: Array, proven: Array) -> int:
    """Return the most visited unproven action, or a proven one that wins or beats its mean; ties go to the lowest.

    If no unproven action has a visit, return the best proven one, and among equally good ones the most visited.
    """
    best, known = -1, -1
    for a in range(len(visits)):
        if proven[a]:
            better = known < 0 or values[a] > values[known]
            if better or (values[a] == values[known] and visits[a] > visits[known]):
                known = a
        elif visits[a] and (best < 0 or visits[a] > visits[best]):
            best = a
    return max(known, 0) if best < 0 else unless_proven_better(best, values, proven)


@stack_kernel
def unless_proven_better(best: int, values: Array, proven: Array) -> int:
    """Return this action, or the first of those that are proven to win or to be better than its mean."""
    known = -1
    for a in range(len(values)):
        if proven[a] and (known < 0 or values[a] > values[known]):
            known = a
    return known if known >= 0 and (values[known] > values[best] or values[known] == 1) else best
