"""Growth of a public tree from a game's set-ups, level by level, with the game's kernels for batches of many nodes.

Only the states of the level being expanded and of the one below it are kept.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from math import comb, prod
from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Deal, States, take_rows
from pbm_envs.toolbox import Array, as_bytes

from ..common.progress import progress_bar
from .grouping import extend_histories, split_runs

GIBIBYTE = 1 << 30
MOST_WORLDS = 1_000_000
"""Maximum number of set-ups; the public tree of a game with more does not fit into memory."""
ROWS = 1 << 17
"""Approximate number of worlds after a move that one job expands."""
LARGEST = 2**31 - 1
"""The largest number of a pair or transition."""
NEW_NODE = 2
"""Marks the start of a public node in the `starts` of `split_runs`."""


class TreeTooLargeError(ValueError):
    """A public tree needs more memory than its limit."""


@dataclass(frozen=True, eq=False)
class Level:
    """The decision nodes at one depth. All arrays are in the order of the pairs of a node and a world."""

    states: States
    """(P,) the states."""
    worlds: Array
    """(P,) the indices of their set-ups."""
    histories: Array
    """(P, 2) hashes of each player's views so far."""
    parents: Array
    """(P,) the transitions that lead to them."""
    nodes: Array
    """(N + 1,) start of each public node."""
    sets: Array
    """(S + 1,) start of each information set."""

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(array.nbytes for array in vars(self).values())


@dataclass(frozen=True, eq=False)
class Expansion:
    """The transitions from some of a level's public nodes."""

    actions: Array
    """The legal actions of each information set, one set after the other."""
    sizes: Array
    """The number of legal actions of each information set."""
    children: Array
    """For each transition, the index in `below`, or ~(the index in `payoffs`)."""
    payoffs: Array
    """The distinct returns of player_0 at the ends of the game."""
    below: Level
    """The level below; its `parents` are indices into `children`."""


def count_set_ups(game: Game) -> int:
    """Return the number of different set-ups that chance can deal; 1 if the start is fixed."""
    deal = game.deal
    if deal is None:
        return 1
    sizes = [len(deck) for deck in deal.decks]
    sizes[-1] = len(deal.cells) - sum(sizes[:-1])
    return prod(map(_count_arrangements, deal.decks, sizes))


def check_public_moves(game: Game) -> None:
    """Raise ValueError for a game with hidden moves, which has no public tree."""
    if not game.public_moves:
        raise ValueError(f"{game!r} has moves that players do not see (public_moves is False): expected public moves")


def check_two_players(game: Game) -> None:
    """Raise ValueError unless the game has two players."""
    if game.num_players != 2:
        raise ValueError(f"{game!r} has {game.num_players} players: expected two")


def check_set_ups(game: Game) -> None:
    """Raise ValueError for a game whose set-ups are unknown or too many, or that has hidden moves."""
    check_public_moves(game)
    if game.deal is None and game.random_setup:
        raise ValueError(f"{game!r} has a random set-up but no `deal`: expected `deal`, or worlds to begin with")
    count = count_set_ups(game)
    if count > MOST_WORLDS:
        raise ValueError(f"{game!r} has {count:,} set-ups: expected at most {MOST_WORLDS:,}")


def set_ups(game: Game) -> tuple[States, Array]:
    """Return all set-ups as a batch of states (W,), and their probabilities (W,).

    >>> from pbm_envs import Curio
    >>> states, chances = set_ups(Curio(base=2, rows=2, cols=3))
    >>> len(states), float(chances.sum().round(6))
    (36, 1.0)
    """
    check_set_ups(game)
    rng = np.random.default_rng(0)
    deal = game.deal
    if deal is None:
        return game.init(1, rng), np.ones(1)
    dealt = list(_all_deals(deal, []))
    states = np.concatenate([game.init(1, rng, deal.board(outcomes)) for outcomes, _ in dealt])
    return states, np.array([chance for _, chance in dealt])


def _count_arrangements(deck: Sequence[tuple[str, ...]], cells: int) -> int:
    """Return the number of different sequences of the texts of `cells` pieces from a deck."""
    ways = [1] + [0] * cells  # sequences of k cells, with the pieces so far
    for piece, count in Counter(deck).items():
        ways = [
            sum(ways[k - n] * comb(k, n) * len(piece) ** n for n in range(min(k, count) + 1)) for k in range(cells + 1)
        ]
    return ways[cells]


def _all_deals(deal: Deal, dealt: list[int]) -> Iterator[tuple[list[int], float]]:
    if len(dealt) == len(deal.cells):
        yield dealt, 1.0
        return
    for outcome, chance in deal.outcomes(dealt):
        for full, rest in _all_deals(deal, [*dealt, outcome]):
            yield full, chance * rest


@lru_cache
def used_bits(dtype: np.dtype[np.void]) -> Array:
    """Return the words (words,) of a record of `dtype`, with the bits of its fields set."""
    used = np.zeros((1, dtype.itemsize), np.uint8)
    for field, offset, *_ in (dtype.fields or {}).values():
        used[:, offset : offset + field.itemsize] = 0xFF
    return as_words(used.view(dtype).reshape(1))[0]


def as_words(records: States) -> Array:
    """Return the bytes of records as the widest words that fit, (R, words)."""
    size = next(size for size in (8, 4, 2, 1) if records.dtype.itemsize % size == 0)
    return records.view(f"u{size}").reshape(len(records), records.dtype.itemsize // size)


def with_views(histories: Array, views: States) -> Array:
    """Return the hashes (R,) of `histories` (R,) extended by `views` (R,): equal if both are equal."""
    histories = histories.copy()
    extend_histories(as_words(np.ascontiguousarray(views)), used_bits(views.dtype), histories)
    return histories


def grow(game: Game, starts: States, memory: int, threads: int | None, progress: bool) -> dict[str, Array]:
    """Return the arrays, by name, of the public tree from the worlds `starts`."""
    growth = Growth(game, memory, threads)
    level = growth.first(starts)
    with progress_bar(progress, unit=" sets", unit_scale=True) as bar:
        while len(level.worlds):
            level = growth.add_level(level, bar.update)
    return growth.arrays()


@final
class Growth:
    """The parts of a tree's arrays while it grows."""

    def __init__(self, game: Game, memory: int, threads: int | None) -> None:
        self.game, self.memory, self.threads = game, memory, threads or os.cpu_count() or 1
        self.pairs = self.choices = self.transitions = 0
        self._parts: dict[str, list[Array]] = defaultdict(list)
        self._payoffs: list[float] = []
        self._level_sets = [0]
        self._tree_bytes = self._used_bytes = 0
        self._used = used_bits(game.dtype)

    def first(self, states: States, known: Array | None = None) -> Level:
        """Return the level of the roots, with one node for set-ups (W,) that no player can tell apart at the start.

        In a game in progress, `known` (W, 2) has hashes of the players' earlier views.
        """
        if states["done"].any():
            raise ValueError("a game that is over before its first move has no tree")
        histories = np.zeros((len(states), 2), np.uint64) if known is None else known.copy()
        order, starts = self._split(states, histories, np.array([0, len(states)]), np.arange(len(states)))
        worlds, parents = np.arange(len(states), dtype=np.int32), np.full(len(states), -1)
        return _level(states, worlds, histories[order], parents, order, starts)

    def add_level(self, level: Level, report: Any = lambda sets: None) -> Level:
        """Add a level and its transitions; return the level below it, whose `parents` are transitions of the tree."""
        self._keep("node_pairs", level.nodes[:-1] + self.pairs, np.int32)
        self._keep("set_pairs", level.sets[:-1] + self.pairs, np.int32)
        self._keep("set_player", level.states["to_move"][level.sets[:-1]], np.int8)
        self._keep("pair_world", level.worlds, np.int32)
        self._keep("pair_parent", level.parents, np.int32)
        self.pairs += len(level.worlds)
        self._level_sets.append(self._level_sets[-1] + len(level.sets) - 1)
        below: list[Level] = []
        first_set, first_below, set_sizes = 0, self.pairs, np.diff(level.sets)
        for part in self._expand_parts(level):
            last_set = first_set + len(part.sizes)
            parents = part.below.parents + self.transitions
            self._add_expansion(part, set_sizes[first_set:last_set], first_below)
            first_set, first_below = last_set, first_below + len(parents)
            below.append(replace(part.below, parents=parents))
            self._used_bytes = self._tree_bytes + level.nbytes + sum(some.nbytes for some in below)
            report(len(part.sizes))
        return _joined(below)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of a PublicTree, by name."""
        ends = {"node_pairs": self.pairs, "set_pairs": self.pairs}
        ends |= {"set_choices": self.choices, "set_transitions": self.transitions}
        for name, end in ends.items():
            self._keep(name, np.array([end]), self._parts[name][0].dtype.type)
        whole = {"payoffs": np.array(self._payoffs), "level_sets": np.array(self._level_sets)}
        for name in list(self._parts):
            whole[name] = np.concatenate(self._parts.pop(name))
        return whole

    def _add_expansion(self, part: Expansion, set_sizes: Array, first_below: int) -> None:
        """Add transitions from the level added last, whose information sets have `set_sizes` worlds."""
        codes = np.array([self._code(float(payoff)) for payoff in part.payoffs], np.int64)
        children = part.children.astype(np.int64)
        over = children < 0
        children[~over] += first_below
        children[over] = ~codes[~children[over]]
        starts = np.cumsum(np.concatenate([[self.transitions], set_sizes * part.sizes]))
        self._keep("children", children, np.int32)
        self._keep("set_transitions", starts[:-1], np.int64)
        self._keep("set_choices", self.choices + np.cumsum(part.sizes) - part.sizes, np.int64)
        self._keep("choice_actions", part.actions, np.min_scalar_type(-self.game.num_actions))
        self.choices += len(part.actions)
        self.transitions += len(children)
        if max(self.transitions, self.pairs) >= LARGEST:
            raise TreeTooLargeError(f"the public tree has more than {LARGEST:,} transitions or pairs of node and world")

    def _keep(self, name: str, part: Array, kind: Any) -> None:
        part = part.astype(kind)
        self._tree_bytes += part.nbytes
        self._parts[name].append(part)

    def _code(self, payoff: float) -> int:
        if payoff not in self._payoffs:
            self._payoffs.append(payoff)
        return self._payoffs.index(payoff)

    def _expand_parts(self, level: Level) -> Iterator[Expansion]:
        """Expand a level in several threads, in ordered parts with about ROWS rows below each."""
        nodes = level.nodes
        some = level.states[:: max(1, len(level.states) // 256)]
        branching = max(1.0, float(self.game.legal_action_mask(some).sum(axis=1).mean()))
        with ThreadPoolExecutor(self.threads) as pool:
            pending: deque[Future[Expansion]] = deque()
            first = 0
            while first < len(nodes) - 1:
                last = int(np.searchsorted(nodes, nodes[first] + ROWS / branching, side="right")) - 1
                last = min(max(last, first + 1), len(nodes) - 1)
                pending.append(pool.submit(self._expand, level, first, last))
                if len(pending) > self.threads:
                    yield pending.popleft().result()
                first = last
            while pending:
                yield pending.popleft().result()

    def _expand(self, level: Level, first: int, last: int) -> Expansion:
        """Expand the public nodes `first` to `last` of a level."""
        game = self.game
        pairs = slice(level.nodes[first], level.nodes[last])
        low, high = np.searchsorted(level.sets, [pairs.start, pairs.stop])
        states, sets = level.states[pairs], level.sets[low : high + 1] - pairs.start
        masks = game.legal_action_mask(states)
        of_sets = masks[sets[:-1]]
        if len(sets) <= len(states) and not np.array_equal(masks, np.repeat(of_sets, np.diff(sets), axis=0)):
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
        node_of = np.repeat(np.arange(last - first), np.diff(level.nodes[first : last + 1]))
        below = self._group(level, pairs, rows, node_of[rows] * game.num_actions + actions, following)
        children[below.parents] = np.arange(len(below.parents), dtype=np.int32)
        return Expansion(np.nonzero(of_sets)[1], of_sets.sum(axis=1), children, payoffs, below)

    def _group(self, level: Level, pairs: slice, rows: Array, keys: Array, states: States) -> Level:
        """Return the decision nodes below some pairs of a level.

        For each transition: `rows` has the pair that it leaves, `keys` a key of its node and action, `states` the state
        after it.
        """
        alive = np.flatnonzero(~states["done"])
        by_run = alive[np.argsort(keys[alive], kind="stable")]
        runs = np.append(np.flatnonzero(np.diff(keys[by_run], prepend=-1)), len(by_run))
        if len(runs) == len(by_run) + 1:  # every world is alone: nothing to distinguish
            histories, order = np.zeros((len(by_run), 2), np.uint64), by_run
            starts = np.full(len(by_run), NEW_NODE)
        else:
            histories = level.histories[pairs][rows[by_run]]
            order, starts = self._split(states, histories, runs, by_run)
            histories, order = histories[order], by_run[order]
        return _level(states, level.worlds[pairs][rows], histories, np.arange(len(rows)), order, starts)

    def _split(self, states: States, histories: Array, runs: Array, rows: Array) -> tuple[Array, Array]:
        """Extend `histories` by the views of `states[rows]` in runs of several worlds; return the results of
        `split_runs`: the order of the rows, and the starts of nodes and sets.
        """
        several = np.flatnonzero(np.repeat(np.diff(runs) > 1, np.diff(runs)))
        records = take_rows(states, rows[several])
        for player in range(2):
            seen = histories[several, player]
            views = np.zeros(len(records), records.dtype)
            self.game.view(records, player, out=views)
            extend_histories(as_words(views), self._used, seen)
            histories[several, player] = seen
        order, roots, starts = (np.empty(len(rows), np.int64) for _ in range(3))
        movers = states["to_move"][rows].astype(np.int64)
        split_runs(runs.astype(np.int64), histories, movers, order, roots, np.empty(len(rows), np.uint64), starts)
        return order, starts

    def _check_memory(self, more: int) -> None:
        if self._used_bytes + more * self.threads > self.memory:
            sets, transitions = self._level_sets[-1], self.transitions
            reached = (
                f"{sets:,} information sets and {transitions:,} transitions" if sets else "no information sets yet"
            )
            raise TreeTooLargeError(
                f"the public tree of {self.game!r} needs more than {self.memory / GIBIBYTE:.3g} GiB: "
                f"it was cut off at {reached}"
            )


def _level(states: States, worlds: Array, histories: Array, parents: Array, order: Array, starts: Array) -> Level:
    """Return the level of the rows in `order`; `histories` and `starts` are already in that order."""
    nodes, sets = (np.append(np.flatnonzero(starts >= least), len(order)) for least in (NEW_NODE, 1))
    return Level(take_rows(states, order), worlds[order], histories, parents[order], nodes, sets)


def _joined(parts: list[Level]) -> Level:
    """Return the concatenation of the parts."""
    ends = np.cumsum([0] + [len(part.worlds) for part in parts])

    def joined(name: str) -> Array:
        return np.concatenate([getattr(part, name) for part in parts])

    nodes, sets = (
        np.append(
            np.concatenate([getattr(part, name)[:-1] + end for part, end in zip(parts, ends, strict=False)]), ends[-1]
        )
        for name in ("nodes", "sets")
    )
    states = np.concatenate([as_bytes(part.states) for part in parts]).view(parts[0].states.dtype)
    return Level(states, joined("worlds"), joined("histories"), joined("parents"), nodes, sets)
