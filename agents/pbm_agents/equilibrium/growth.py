"""How a public tree grows: level by level, the worlds of many public nodes at a time, by the game's own batch kernels.

Only the states of the level that is being expanded, and of the one below it, are kept.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import States, take_rows
from pbm_envs.toolbox import as_bytes

from ..common.progress import progress_bar
from .grouping import extend_histories, split_runs

Array = NDArray[Any]

ROWS = 1 << 17
"""Worlds after a move that one job works on, about."""
LARGEST = 2**31 - 1
"""Of the numbers of pairs and transitions."""


class TreeTooLargeError(ValueError):
    """A public tree would need more memory than it may use."""


@dataclass(frozen=True, eq=False)
class Level:
    """The decision nodes at one depth. All arrays are in the order of the worlds (pairs of a node and a world)."""

    states: States
    """(P,) the state of each world there."""
    worlds: Array
    """(P,) which set-up it began with."""
    histories: Array
    """(P, 2) hashes of all that each player has seen."""
    parents: Array
    """(P,) the transition that led there."""
    nodes: Array
    """(N + 1,) where each public node starts."""
    sets: Array
    """(S + 1,) where each information set starts."""

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(array.nbytes for array in vars(self).values())


@dataclass(frozen=True, eq=False)
class Expansion:
    """What became of some of a level's public nodes."""

    actions: Array
    """The legal actions of each information set, one after the other."""
    sizes: Array
    """How many that are, of each set."""
    children: Array
    """Of each transition: the place in `below`, or ~(place in `payoffs`)."""
    payoffs: Array
    """What player_0 gets where the game ends, without repetitions."""
    below: Level
    """`parents` are places in `children`."""


def used_bits(dtype: np.dtype[np.void]) -> Array:
    """(words,) of a record of `dtype`, with the bits set that belong to its fields."""
    used = np.zeros((1, dtype.itemsize), np.uint8)
    for field, offset, *_ in (dtype.fields or {}).values():
        used[:, offset : offset + field.itemsize] = 0xFF
    return as_words(used.view(dtype).reshape(1))[0]


def as_words(records: States) -> Array:
    """(R, words) the same bytes, as the widest words that fit."""
    size = next(size for size in (8, 4, 2, 1) if records.dtype.itemsize % size == 0)
    return records.view(f"u{size}").reshape(len(records), records.dtype.itemsize // size)


def with_views(histories: Array, views: States) -> Array:
    """`histories` (R,) after these views (R,): equal ones stay so where the views are equal too."""
    clean = np.zeros(len(views), views.dtype)
    clean[:] = views
    histories = histories.copy()
    extend_histories(as_words(clean), used_bits(views.dtype), histories)
    return histories


@final
class Grower:
    """Expands the levels of one game's tree."""

    def __init__(self, game: Game, memory: int, threads: int | None) -> None:
        self.game = game
        self.memory = memory
        self.threads = threads or os.cpu_count() or 1
        self.kept = 0
        """Bytes in use."""
        self.reached = "no information sets yet"
        """How large the tree is so far."""
        self._used = used_bits(game.dtype)

    def first(self, states: States, known: Array | None = None) -> Level:
        """The roots: set-ups that no player can tell apart at the start lie in one node. `known` (W, 2): `histories`
        of what the players had seen before, if this is not the start.
        """
        done = states["done"]
        if done.any():
            raise ValueError("a game that is over before its first move has no tree")
        histories = np.zeros((len(states), 2), np.uint64) if known is None else known.copy()
        runs = np.array([0, len(states)])
        order, starts = self._split(states, histories, runs)
        worlds, parents = np.arange(len(states), dtype=np.int32), np.full(len(states), -1)
        return self._level(states, worlds, histories[order], parents, order, starts)

    def expand(self, level: Level) -> Iterator[Expansion]:
        """Everything below a level, part by part, in order."""
        with ThreadPoolExecutor(self.threads) as pool:
            pending: list[Future[Expansion]] = []
            for first, last in self._parts(level):
                pending.append(pool.submit(self._expand, level, first, last))
                if len(pending) > self.threads:
                    yield pending.pop(0).result()
            while pending:
                yield pending.pop(0).result()

    def _parts(self, level: Level) -> Iterator[tuple[int, int]]:
        """Ranges of nodes with about ROWS rows below them, guessed from a few."""
        nodes = level.nodes
        some = level.states[:: max(1, len(level.states) // 256)]
        branching = max(1.0, float(self.game.legal_action_mask(some).sum(axis=1).mean()))
        first = 0
        while first < len(nodes) - 1:
            last = int(np.searchsorted(nodes, nodes[first] + ROWS / branching, side="right")) - 1
            last = min(max(last, first + 1), len(nodes) - 1)
            yield first, last
            first = last

    def _expand(self, level: Level, first: int, last: int) -> Expansion:
        game = self.game
        pairs = slice(level.nodes[first], level.nodes[last])
        low, high = np.searchsorted(level.sets, [pairs.start, pairs.stop])
        states, sets = level.states[pairs], level.sets[low : high + 1] - pairs.start
        nodes = level.nodes[first : last + 1] - pairs.start
        masks = game.legal_action_mask(states)
        of_sets = masks[sets[:-1]]
        sizes = np.diff(sets)
        if len(sets) <= len(states) and not np.array_equal(masks, np.repeat(of_sets, sizes, axis=0)):
            raise ValueError(f"{game!r}: legal actions differ where the player to move cannot tell states apart")
        rows, actions = np.nonzero(masks)
        self._check_memory(len(rows) * (2 * game.dtype.itemsize + 64))
        following = take_rows(states, rows)
        game.step(following, actions)
        over = following["done"]
        children, payoffs = np.empty(len(rows), np.int32), np.zeros(0)
        if over.any():
            returns = following["returns"][over]
            if (returns.sum(axis=1) != 0).any():
                raise ValueError(f"{game!r}: returns do not sum to zero")
            payoffs, codes = np.unique(returns[:, 0], return_inverse=True)
            children[over] = ~codes
        node_of = np.repeat(np.arange(len(nodes) - 1), np.diff(nodes))
        keys = node_of[rows] * game.num_actions + actions
        below = self._group(level, pairs, rows, keys, following)
        children[below.parents] = np.arange(len(below.parents), dtype=np.int32)
        return Expansion(np.nonzero(of_sets)[1], of_sets.sum(axis=1), children, payoffs, below)

    def _group(self, level: Level, pairs: slice, rows: Array, keys: Array, states: States) -> Level:
        """The decision nodes below some pairs. Of each transition: which of the pairs it leaves, a key of its node and
        action, and the state.
        """
        alive = np.flatnonzero(~states["done"])
        by_run = alive[np.argsort(keys[alive], kind="stable")]
        if not len(by_run):
            runs = np.zeros(1, np.int64)
        else:
            runs = np.concatenate([[0], np.flatnonzero(np.diff(keys[by_run])) + 1, [len(by_run)]])
        if len(runs) == len(by_run) + 1:  # every world is alone: there is nothing to tell apart
            histories, order, starts = np.zeros((len(by_run), 2), np.uint64), by_run, np.full(len(by_run), 2)
        else:
            histories = level.histories[pairs][rows[by_run]]
            order, starts = self._split(states, histories, runs, by_run)
            histories, order = histories[order], by_run[order]
        return self._level(states, level.worlds[pairs][rows], histories, np.arange(len(rows)), order, starts)

    def _split(self, states: States, histories: Array, runs: Array, rows: Array | None = None) -> tuple[Array, Array]:
        """Add what `states[rows]` show to `histories` where several worlds are in a run; the order of the rows and
        where nodes and sets start, as in `split_runs`.
        """
        count = len(histories)
        together = np.repeat(np.diff(runs) > 1, np.diff(runs))
        several = np.flatnonzero(together)
        chosen = several if rows is None else rows[several]
        records = take_rows(states, chosen)
        for player in range(2):
            seen = histories[several, player]
            views = np.zeros(len(records), records.dtype)
            self.game.view(records, player, out=views)
            extend_histories(as_words(views), self._used, seen)
            histories[several, player] = seen
        order, roots, starts = (np.empty(count, np.int64) for _ in range(3))
        movers = (states if rows is None else take_rows(states, rows))["to_move"].astype(np.int64)
        split_runs(runs.astype(np.int64), histories, movers, order, roots, np.empty(count, np.uint64), starts)
        return order, starts

    @staticmethod
    def _level(
        states: States, worlds: Array, histories: Array, parents: Array, order: Array, starts: Array, sort: bool = True
    ) -> Level:
        """The rows in `order`; `histories` and `starts` are in it already unless `sort`."""
        end = [len(order)]
        return Level(
            states=take_rows(states, order),
            worlds=worlds[order],
            histories=histories,
            parents=parents[order],
            nodes=np.concatenate([np.flatnonzero(starts == 2), end]),
            sets=np.concatenate([np.flatnonzero(starts), end]),
        )

    def _check_memory(self, more: int) -> None:
        if self.kept + more * self.threads > self.memory:
            raise TreeTooLargeError(
                f"the public tree of {self.game!r} needs more than {self.memory / 2**30:.3g} GiB: "
                f"it was cut off at {self.reached}"
            )


@final
class Collector:
    """What is kept of the levels of a tree: lists of the parts of each array."""

    def __init__(self, game: Game) -> None:
        self.parts: dict[str, list[Array]] = defaultdict(list)
        self.payoffs: list[float] = []
        self.level_sets = [0]
        self.pairs = self.choices = self.transitions = 0
        self.nbytes = 0
        self._action_type = np.min_scalar_type(-game.num_actions)

    @property
    def num_sets(self) -> int:
        """Information sets so far."""
        return self.level_sets[-1]

    def add_level(self, level: Level) -> None:
        """The decision nodes of a level, of which only the player to move is known yet."""
        self._keep("node_pairs", level.nodes[:-1] + self.pairs, np.int32)
        self._keep("set_pairs", level.sets[:-1] + self.pairs, np.int32)
        self._keep("set_player", level.states["to_move"][level.sets[:-1]], np.int8)
        self._keep("pair_world", level.worlds, np.int32)
        self._keep("pair_parent", level.parents, np.int32)
        self.pairs += len(level.worlds)
        self.level_sets.append(self.level_sets[-1] + len(level.sets) - 1)
        if self.pairs >= LARGEST:
            raise TreeTooLargeError(f"the public tree has more than {LARGEST:,} pairs of a node and a world")

    def add_expansion(self, part: Expansion, set_sizes: Array, first_below: int) -> int:
        """The transitions of a part of the level that was added last; `set_sizes` are the worlds of its sets and
        `first_below` the number of the first pair below it. Returns the number of its first transition.
        """
        codes = np.array([self._code(float(payoff)) for payoff in part.payoffs], np.int64)
        children = part.children.astype(np.int64)
        over = children < 0
        children[~over] += first_below
        children[over] = ~codes[~children[over]]
        first = self.transitions
        starts = np.cumsum(np.concatenate([[first], set_sizes * part.sizes]))
        self._keep("children", children, np.int32)
        self._keep("set_transitions", starts[:-1], np.int64)
        self._keep("set_choices", self.choices + np.cumsum(part.sizes) - part.sizes, np.int64)
        self._keep("choice_actions", part.actions, self._action_type)
        self.choices += len(part.actions)
        self.transitions += len(children)
        if self.transitions >= LARGEST:
            raise TreeTooLargeError(f"the public tree has more than {LARGEST:,} transitions")
        return first

    def arrays(self) -> dict[str, Array]:
        """The arrays of a PublicTree, by name."""
        ends = {"node_pairs": self.pairs, "set_pairs": self.pairs}
        ends |= {"set_choices": self.choices, "set_transitions": self.transitions}
        for name, end in ends.items():
            self._keep(name, np.array([end]), self.parts[name][0].dtype.type)
        whole = {"payoffs": np.array(self.payoffs), "level_sets": np.array(self.level_sets)}
        for name in list(self.parts):
            whole[name] = np.concatenate(self.parts.pop(name))
        return whole

    def _keep(self, name: str, part: Array, kind: Any) -> None:
        part = part.astype(kind)
        self.nbytes += part.nbytes
        self.parts[name].append(part)

    def _code(self, payoff: float) -> int:
        if payoff not in self.payoffs:
            self.payoffs.append(payoff)
        return self.payoffs.index(payoff)


def grow(game: Game, starts: States, memory: int, threads: int | None, progress: bool) -> dict[str, Array]:
    """The arrays of the public tree that begins with the worlds `starts`, by name."""
    grower, tree = Grower(game, memory, threads), Collector(game)
    level = grower.first(starts)
    with progress_bar(progress, unit=" sets", unit_scale=True) as bar:
        while len(level.worlds):
            level = add_level(grower, tree, level, bar)
    return tree.arrays()


def add_level(grower: Grower, tree: Collector, level: Level, bar: Any) -> Level:
    """Add a level and its transitions to a tree; the level below it, whose `parents` are transitions."""
    tree.add_level(level)
    below: list[Level] = []
    first_set, first_below = 0, tree.pairs
    set_sizes = np.diff(level.sets)
    for part in grower.expand(level):
        last_set = first_set + len(part.sizes)
        first = tree.add_expansion(part, set_sizes[first_set:last_set], first_below)
        first_set, first_below = last_set, first_below + len(part.below.worlds)
        below.append(replace(part.below, parents=part.below.parents + first))
        grower.kept = tree.nbytes + level.nbytes + sum(some.nbytes for some in below)
        grower.reached = f"{tree.num_sets:,} information sets and {tree.transitions:,} transitions"
        bar.update(len(part.sizes))
    return _joined(below)


def _joined(parts: list[Level]) -> Level:
    """Return the level that consists of these parts."""
    sizes = np.cumsum([0] + [len(part.worlds) for part in parts])
    nodes = [part.nodes[:-1] + size for part, size in zip(parts, sizes, strict=False)]
    sets = [part.sets[:-1] + size for part, size in zip(parts, sizes, strict=False)]
    return Level(
        states=np.concatenate([as_bytes(part.states) for part in parts]).view(parts[0].states.dtype),
        worlds=np.concatenate([part.worlds for part in parts]),
        histories=np.concatenate([part.histories for part in parts]),
        parents=np.concatenate([part.parents for part in parts]),
        nodes=np.concatenate([*nodes, sizes[-1:]]),
        sets=np.concatenate([*sets, sizes[-1:]]),
    )
