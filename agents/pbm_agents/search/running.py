"""Running a search: its trees over threads, wave after wave until the budget is spent.

`Search.run` checks what it is given and calls `run_search`. A search by the clock first compiles, and measures how many
simulations at the same time pay, so that neither counts as thinking.
"""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Seeds
from pbm_envs.toolbox import Array, branch

from .ending import end_searches_when, ending
from .evaluators import Playouts
from .parallelism import WAVES, parallel_simulations_that_pay
from .result import SearchedTree, SearchResult, read_result
from .rules import PUCT, UCT, Gumbel
from .simulation import Simulator
from .tree import node_bytes
from .workspace import Memory, Workspace

if TYPE_CHECKING:
    from .search import Search

EARLY_STOP_INTERVAL = 32
"""Simulations of a position between two looks whether its best action can still change."""
WARM_UP_SIMULATIONS = 64
LONGEST_SLICE = 0.005
"""Seconds of simulations between two looks at the clock and at `ending`, if a single wave does not take longer."""
PARALLEL_BY_THE_CLOCK = 8
MEBIBYTE = 1 << 20


def run_search(search: Search, game: Game, views: Array, streams: Seeds, workspace: Workspace) -> list[SearchResult]:
    """Search some positions, with arguments that `Search.run` has checked.

    Args:
        search: The settings.
        game: The game.
        views: (B,) the positions.
        streams: (B,) a seed for each.
        workspace: The memory to work in.

    Returns:
        What was found out, for each of `views`.

    Raises:
        ValueError: For settings that do not go with the game; if the evaluator's answers cannot be used.
        RuntimeError: If the workspace is in use by another run.
    """
    hidden = not game.perfect_information and bool((views["viewer"] >= 0).any())
    run = Run(search, game, hidden, workspace)
    with workspace.in_use():
        if search.seconds is not None:
            run.warm_up(views)
            run = run.with_parallel_simulations(views)
        count, trees = len(views), run.trees_of_each(len(views))
        if trees > 1:
            run = run.for_each_of(trees)
            streams, given = np.empty(count * trees, np.uint64), streams
            branch(given, np.repeat(np.arange(count), trees), streams)
        workspace.make_room((run.search, game, hidden))
        numbers = [some for some in np.array_split(np.arange(count * trees), search.threads) if len(some)]
        parts = [Part(k, views[some // trees], streams[some]) for k, some in enumerate(numbers)]
        searched = run.grow(parts[0]) if len(parts) == 1 else run.grow_in_threads(parts, positions=count)
        return [read_result(game, views[k : k + 1], searched[k * trees : (k + 1) * trees]) for k in range(count)]


class Part(NamedTuple):
    """Those trees of a run that one thread grows."""

    number: int
    """Which part it is: its memory is found by this in the workspace."""
    views: Array
    """(G,) the position of each tree."""
    streams: Seeds
    """(G,) the seed of each."""


@final
@dataclass
class Run:
    """A search of a game's positions: the settings of one tree, its selection rule complete, and the workspace."""

    search: Search
    game: Game
    hidden: bool
    """Whether information sets are searched."""
    workspace: Workspace

    def __post_init__(self) -> None:
        self.search = with_rule(self.search, self.game, self.hidden)

    def warm_up(self, views: Array) -> None:
        """Compile before the clock starts, with a search of the first position too small to notice."""
        search = self.search
        select = search.selection and search.selection.select_kernel(self.hidden, has_priors(search))
        if len(views) and self.workspace.is_new((self.game.dtype, select, search.reuse)):
            small = replace(search, simulations=WARM_UP_SIMULATIONS, seconds=None, parallel_simulations=2)
            run = replace(self, search=small, workspace=Workspace())
            for _ in range(1 + search.reuse):  # the second starts from what the first knew
                run.grow(first_tree(views))

    def with_parallel_simulations(self, views: Array) -> Run:
        """With as many simulations at the same time as pay, if there is an evaluator and no number is given."""
        search = self.search
        if search.parallel_simulations is not None or plays_out(search) or not len(views):
            return self

        def seconds_of_wave(count: int) -> float | None:
            few = replace(search, simulations=count * WAVES, seconds=None, parallel_simulations=count, early_stop=False)
            found = [replace(self, search=few, workspace=Workspace()).grow(first_tree(views))[0] for _ in range(2)]
            complete = all(result.simulations == count * WAVES for result in found)  # not proven
            return min(result.seconds for result in found) / WAVES if complete else None

        count = parallel_simulations_that_pay(
            search.evaluator, repr(self.game), float(search.seconds or 0), seconds_of_wave, PARALLEL_BY_THE_CLOCK
        )
        return replace(self, search=replace(search, parallel_simulations=count))

    def trees_of_each(self, positions: int) -> int:
        """How many trees each of so many positions gets."""
        search = self.search
        if search.trees is not None:
            return search.trees
        by_threads = search.seconds is not None and plays_out(search)
        return max(1, search.threads // max(1, positions)) if by_threads else 1

    def for_each_of(self, trees: int) -> Run:
        """The run of one of so many trees of a position: its share of the budget, of which threads side by side take
        theirs at the same time.
        """
        search = self.search
        if search.seconds is None:
            share = replace(search, simulations=math.ceil((search.simulations or 0) / trees), trees=1)
        else:
            share = replace(search, seconds=search.seconds * min(trees, search.threads) / trees, trees=1)
        return replace(self, search=share)

    def grow_in_threads(self, parts: list[Part], positions: int) -> list[SearchedTree]:
        """Each part in a thread of its own. By the clock, a proof of the only position ends all."""
        stop, proof_ends = threading.Event(), positions == 1 and self.search.seconds is not None
        with ThreadPoolExecutor(len(parts) or 1) as pool:
            found = [pool.submit(copy_context().run, self._grow_until, stop, proof_ends, part) for part in parts]
            try:
                return [tree for trees in found for tree in trees.result()]
            except BaseException:  # Ctrl-C reaches this thread only, or one of the others has failed
                stop.set()
                raise

    def _grow_until(self, stop: threading.Event, proof_ends: bool, part: Part) -> list[SearchedTree]:
        """As `grow`, but it ends with what it has found once `stop` is set, as its own proof does if that counts."""
        outer = ending()
        with end_searches_when(lambda: stop.is_set() or (outer is not None and outer())):
            searched = self.grow(part)
        if proof_ends and any(tree.proven for tree in searched):
            stop.set()
        return searched

    def grow(self, part: Part) -> list[SearchedTree]:
        """Grow the trees of a part, wave after wave, until the budget is spent or every one can stop."""
        start, is_over = time.perf_counter(), ending()
        search, count = self.search, len(part.views)
        simulator = self._simulator(part)
        at_once = most = parallel_simulations_of(search)
        done, growing = np.zeros(count, np.int64), np.arange(count)
        growing = growing[~simulator.can_stop(growing, None)]
        trees, spent, left, pace = np.repeat(growing, most), 0, search.simulations, Pace()
        while len(growing):
            if search.simulations is not None and search.simulations - spent < most:
                at_once = search.simulations - spent
                trees = np.repeat(growing, at_once)
            waves = pace.waves(self._waves_to_look(spent, at_once, left))
            made, proven = simulator.simulate(trees, waves)
            pace.note(made)
            spent += made * at_once
            left = self._left(spent, time.perf_counter() - start, count)
            if is_over is not None and is_over():
                left = 0
            look = search.early_stop and spent % EARLY_STOP_INTERVAL < at_once
            if left == 0 or proven or look:
                done[growing] = spent
                if left == 0:
                    break
                growing = growing[~simulator.can_stop(growing, left if look else None)]
                trees = np.repeat(growing, most)
        seconds = time.perf_counter() - start
        tree = simulator.memory.tree
        return [SearchedTree(tree, g, int(done[g]), seconds, simulator.gumbel) for g in range(count)]

    def _simulator(self, part: Part) -> Simulator:
        """What makes the simulations of these trees, which have their roots."""
        search = self.search
        keep = search.reuse and not self.hidden
        previous = self.workspace.newest(part.number) if keep else None
        memory = self.workspace.spare(part.number, len(part.views), keep=keep)
        if memory is None:
            memory = self._allocate(len(part.views))
        self.workspace.put(part.number, memory, keep=keep)
        simulator = Simulator(self.game, search, memory)
        simulator.start(part.views, part.streams, previous)
        return simulator

    def _allocate(self, trees: int) -> Memory:
        """Memory for so many trees."""
        search, game, priors = self.search, self.game, has_priors(self.search)
        rave = isinstance(search.selection, UCT) and bool(search.selection.rave)
        if search.simulations is None:
            node = node_bytes(game, hidden=self.hidden, priors=priors, rave=rave)
            capacity = max(4, search.memory * MEBIBYTE // (node * trees * search.threads))
        else:  # no simulation makes more than one node
            capacity = (2 + search.simulations) * (1 + search.reuse)
        return Memory(
            game,
            trees,
            capacity,
            parallel_simulations_of(search),
            hidden=self.hidden,
            priors=priors,
            rave=rave,
            evaluated=isinstance(search.selection, Gumbel),
        )

    def _waves_to_look(self, spent: int, at_once: int, left: int | None) -> int:
        """How many waves to make before looking at the budget, or whether to stop early."""
        waves = 1 if left is None else max(1, left // at_once)
        if self.search.early_stop:
            waves = min(waves, math.ceil((EARLY_STOP_INTERVAL - spent % EARLY_STOP_INTERVAL) / at_once))
        return waves

    def _left(self, spent: int, elapsed: float, trees: int) -> int:
        """Simulations of each tree that the budget still allows; by the clock, at the speed so far."""
        if self.search.seconds is None:
            return int(self.search.simulations or 0) - spent
        return math.ceil(spent / elapsed * max(0.0, self.search.seconds * trees - elapsed))


class Pace:
    """How many waves to make at once, so that the clock and Ctrl-C are looked at often."""

    def __init__(self) -> None:
        self._most, self._start = 1, time.perf_counter()

    def waves(self, wanted: int) -> int:
        """At most so many as are wanted."""
        self._start = time.perf_counter()
        return min(wanted, self._most)

    def note(self, made: int) -> None:
        """Learn from how long that has taken: at most twice as many next time."""
        seconds = max(1e-9, time.perf_counter() - self._start)
        self._most = max(1, min(2 * self._most, int(LONGEST_SLICE * made / seconds)))


def first_tree(views: Array) -> Part:
    """A tree of the first of these positions alone."""
    return Part(0, views[:1], np.zeros(1, np.uint64))


def with_rule(search: Search, game: Game, hidden: bool) -> Search:
    """Return the search with its selection rule complete: that of the evaluator if none is given, with the weights of
    the game.
    """
    evaluator = search.leaf_evaluator
    rule = search.selection or (PUCT() if evaluator.gives_priors else UCT())
    return replace(search, selection=rule.for_game(game, hidden, evaluator) if isinstance(rule, UCT) else rule)


def has_priors(search: Search) -> bool:
    """Whether trees keep priors: of the evaluator, or beside playouts."""
    return getattr(search.selection, "priors", None) is not None or search.leaf_evaluator.gives_priors


def plays_out(search: Search) -> bool:
    """Whether leaves are evaluated by random playouts."""
    return isinstance(search.leaf_evaluator, Playouts)


def parallel_simulations_of(search: Search) -> int:
    """Simulations of a tree that run at the same time."""
    return search.parallel_simulations or (1 if search.seconds is None else PARALLEL_BY_THE_CLOCK)
