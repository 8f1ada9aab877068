"""`Search`: the settings of a search, and runs over threads that make wave after wave until the budget is spent.

With perfect information it searches positions; with hidden information, information sets (see `tree`). A search by the
clock first compiles and measures how many parallel simulations are faster, so that neither counts as thinking time.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Rng, Seeds, seeds
from pbm_envs.toolbox import Array, branch, quoted

from ..players.agent import check_searchable
from .ending import end_searches_when, ending
from .result import SearchedTree, SearchResult, read_result
from .rules import PUCT, UCT, Gumbel
from .settings import PARALLEL_BY_THE_CLOCK, SearchSettings
from .simulation import Simulator
from .tree import Layout, node_bytes
from .workspace import Memory, Workspace

EARLY_STOP_INTERVAL = 32
"""Simulations of a position between two checks of whether its best action can still change."""
WARM_UP_SIMULATIONS = 64
LONGEST_SLICE = 0.005
"""Seconds of simulations between two checks of the clock and of `ending`, unless a single wave takes longer."""
MEBIBYTE = 1 << 20

COUNTS = (4, 8, 16, 32)
"""Numbers of parallel simulations that are tried with an evaluator."""
WAVES = 8
"""Waves in each of the two measurements of a count."""
GAIN = 1.2
"""Least speed-up for which the number of parallel simulations is doubled."""
LEAST_WAVES = 8
"""Least number of waves within the budget for more parallel simulations than the default."""
_wave_seconds: WeakKeyDictionary[Any, dict[tuple[str, int], float]] = WeakKeyDictionary()
"""Seconds per wave measured in this process, by evaluator, game and count."""


@final
@dataclass(frozen=True)
class Search(SearchSettings):
    """The settings of a tree search, and `run`, which searches positions with them.

    A search is not tied to a game or a thread: it can be shared, pickled and compared. Two of its settings have
    settings of their own: `selection`, the rule by which simulations choose actions, and `evaluator`, which evaluates
    the leaves. Give either `simulations` or `seconds`.

    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(0)
    >>> [result] = Search(simulations=20000).run(game, game.init(1, rng), rng)
    >>> result.proven, result.value.tolist()  # the second player can always swap
    (True, [-1.0, 1.0])

    Raises:
        ValueError: For settings that are not allowed, or that conflict.
    """

    def run(
        self, game: Game, views: Array, rng: Rng | Seeds, *, workspace: Workspace | None = None
    ) -> list[SearchResult]:
        """Search a batch of positions.

        The result for a position and seed is the same in any batch and on any number of threads, unless it depends on
        the clock or on an earlier run (`reuse`). The first run of a process compiles, before the clock starts.

        Args:
            game: The game.
            views: (B,) positions that are not over, each as the player to move sees it (`game.view`); or full states,
                which are searched as if everything in them were known.
            rng: A generator, or (B,) uint64 seeds.
            workspace: Memory kept between runs; required for `reuse`. None allocates new memory for this run.

        Returns:
            A result for each of `views`.

        Raises:
            ValueError: For a position that is over or not seen by the player to move; if the evaluator's results
                cannot be used; for `reuse` without a workspace; for settings that the game does not support.
            RuntimeError: If the workspace is in use by another run.
        """
        if workspace is None:
            if self.reuse:
                raise ValueError("reuse=True without a workspace: expected run(..., workspace=Workspace())")
            workspace = Workspace()
        elif not isinstance(workspace, Workspace):
            raise ValueError(f"workspace is {quoted(workspace)}: expected a Workspace, or None")
        if not isinstance(views, np.ndarray) or views.ndim != 1:
            raise ValueError(f"views are {quoted(views)}: expected a batch (B,), as game.view makes it")
        streams = seeds(rng, len(views)).copy()
        check_searchable(game, views)
        views = views.copy()
        hidden = not game.perfect_information and bool((views["viewer"] >= 0).any())
        run = Run(self, game, hidden, workspace)
        with workspace.in_use():
            if self.seconds is not None:
                run.warm_up(views)
                run = run.with_parallel_simulations(views)
            count, trees = len(views), run.trees_of_each(len(views))
            if trees > 1:
                run = run.for_each_of(trees)
                streams, given = np.empty(count * trees, np.uint64), streams
                branch(given, np.repeat(np.arange(count), trees), streams)
            workspace.make_room((run.search, game, hidden))
            numbers = [some for some in np.array_split(np.arange(count * trees), self.threads) if len(some)]
            parts = [Part(k, views[some // trees], streams[some]) for k, some in enumerate(numbers)]
            searched = run.grow(parts[0]) if len(parts) == 1 else run.grow_in_threads(parts, positions=count)
            return [read_result(game, views[k : k + 1], searched[k * trees : (k + 1) * trees]) for k in range(count)]


class Part(NamedTuple):
    """The trees of a run that one thread grows."""

    number: int
    """The key of the part's memory in the workspace."""
    views: Array
    """(G,) the position of each tree."""
    streams: Seeds
    """(G,) the seed of each tree."""


@final
@dataclass
class Run:
    """A search of a game's positions: the settings of one tree, its selection rule complete, and the workspace."""

    search: Search
    game: Game
    hidden: bool
    """True if information sets are searched."""
    workspace: Workspace

    def __post_init__(self) -> None:
        evaluator = self.search.leaf_evaluator
        rule = self.search.selection or (PUCT() if evaluator.gives_priors else UCT())
        if isinstance(rule, UCT):
            rule = rule.for_game(self.game, self.hidden, evaluator)
        self.search = replace(self.search, selection=rule)

    def warm_up(self, views: Array) -> None:
        """Compile before the clock starts, by a very small search of the first position."""
        search = self.search
        select = search.selection and search.selection.select_kernel(self.hidden, search.has_priors)
        if len(views) and self.workspace.is_new((self.game.dtype, select, search.reuse)):
            small = replace(search, simulations=WARM_UP_SIMULATIONS, seconds=None, parallel_simulations=2)
            run = replace(self, search=small, workspace=Workspace())
            for _ in range(1 + search.reuse):  # the second run starts from the first one's trees
                run.grow(first_tree(views))

    def with_parallel_simulations(self, views: Array) -> Run:
        """Return the run with a measured number of parallel simulations, if an evaluator is used and none is set."""
        search = self.search
        if search.parallel_simulations is not None or search.has_kernels or not len(views):
            return self

        def seconds_of_wave(count: int) -> float | None:
            few = replace(search, simulations=count * WAVES, seconds=None, parallel_simulations=count, early_stop=False)
            found = [replace(self, search=few, workspace=Workspace()).grow(first_tree(views))[0] for _ in range(2)]
            complete = all(result.simulations == count * WAVES for result in found)  # not proven
            return min(result.seconds for result in found) / WAVES if complete else None

        count = parallel_simulations_that_pay(
            search.evaluator, repr(self.game), float(search.seconds or 0), seconds_of_wave
        )
        return replace(self, search=replace(search, parallel_simulations=count))

    def trees_of_each(self, positions: int) -> int:
        """Return the number of trees of each position, given the number of positions."""
        search = self.search
        if search.trees is not None:
            return search.trees
        by_threads = search.seconds is not None and search.has_kernels
        return max(1, search.threads // max(1, positions)) if by_threads else 1

    def for_each_of(self, trees: int) -> Run:
        """Return the run of one of a position's `trees`, with its share of the budget.

        Trees in parallel threads use their seconds at the same time.
        """
        search = self.search
        if search.seconds is None:
            share = replace(search, simulations=math.ceil((search.simulations or 0) / trees), trees=1)
        else:
            share = replace(search, seconds=search.seconds * min(trees, search.threads) / trees, trees=1)
        return replace(self, search=share)

    def grow_in_threads(self, parts: list[Part], positions: int) -> list[SearchedTree]:
        """Grow each part in its own thread. By the clock, a proof of the only position ends all of them."""
        stop, proof_ends = threading.Event(), positions == 1 and self.search.seconds is not None
        outer = ending()

        def grow(part: Part) -> list[SearchedTree]:
            with end_searches_when(lambda: stop.is_set() or (outer is not None and outer())):
                searched = self.grow(part)
            if proof_ends and any(tree.proven for tree in searched):
                stop.set()
            return searched

        with ThreadPoolExecutor(len(parts) or 1) as pool:
            found = [pool.submit(copy_context().run, grow, part) for part in parts]
            try:
                return [tree for trees in found for tree in trees.result()]
            except BaseException:  # Ctrl-C reaches this thread only, or one of the others has failed
                stop.set()
                raise

    def grow(self, part: Part) -> list[SearchedTree]:
        """Grow the trees of a part, wave after wave, until the budget is spent or all of them can stop."""
        start, is_over = time.perf_counter(), ending()
        search, count = self.search, len(part.views)
        simulator = self.simulator(part)
        ready = time.perf_counter()
        at_once = most = search.simulations_at_once
        done, growing, earliest = np.zeros(count, np.int64), np.arange(count), 0
        growing = growing[~simulator.can_stop(growing, None)]
        trees, spent, left, longest = np.repeat(growing, most), 0, search.simulations, 1
        while len(growing):
            if search.simulations is not None and search.simulations - spent < most:
                at_once = search.simulations - spent
                trees = np.repeat(growing, at_once)
            began = time.perf_counter()
            waves = min(longest, self._waves_to_check(spent, at_once, left, earliest))
            made, proven = simulator.simulate(trees, waves)
            seconds = max(1e-9, time.perf_counter() - began)
            longest = max(1, min(2 * longest, int(LONGEST_SLICE * made / seconds)))  # delays the clock and Ctrl-C
            spent += made * at_once
            now = time.perf_counter()
            left = self._left(spent, now - ready, now - start, count)
            if is_over is not None and is_over():
                left = 0
            check = search.early_stop and spent >= earliest and spent % EARLY_STOP_INTERVAL < at_once
            if left == 0 or proven or check:
                done[growing] = spent
                if left == 0:
                    break
                growing = growing[~simulator.can_stop(growing, left if check else None)]
                trees = np.repeat(growing, most)
                if check and len(growing):
                    earliest = spent + simulator.simulations_to_stop(growing, left)
        seconds = time.perf_counter() - start
        tree = simulator.memory.tree
        return [SearchedTree(tree, g, int(done[g]), seconds, simulator.gumbel) for g in range(count)]

    def simulator(self, part: Part) -> Simulator:
        """Return the simulator of these trees, with their roots in place."""
        search, trees = self.search, len(part.views)
        keep = search.reuse and not self.hidden
        previous = self.workspace.newest(part.number) if keep else None
        memory = self.workspace.spare(part.number, trees, keep=keep)
        if memory is None:
            evaluator: Any = search.leaf_evaluator
            gumbel = isinstance(search.selection, Gumbel)
            updated = hasattr(evaluator, "accumulators") and not self.hidden
            layout = Layout(
                hidden=self.hidden,
                priors=search.has_priors,
                rave=isinstance(search.selection, UCT) and bool(search.selection.rave),
                evaluated=gumbel,
                accumulators=evaluator.accumulators(self.game) if updated else (0, 0),
            )
            if search.simulations is None:
                node = node_bytes(self.game, layout)
                each = node * trees * search.threads * (1 + search.reuse)  # the last run's trees are kept, too
                capacity = max(4, search.memory * MEBIBYTE // each)
            else:  # a simulation adds at most one node
                capacity = (2 + search.simulations) * (1 + search.reuse)
            memory = Memory(self.game, trees, capacity, search.simulations_at_once, layout)
        self.workspace.put(part.number, memory, keep=keep)
        simulator = Simulator(self.game, search, memory)
        simulator.start(part.views, part.streams, previous)
        return simulator

    def _waves_to_check(self, spent: int, at_once: int, left: int | None, earliest: int) -> int:
        """Return the number of waves before the budget, or, not before `earliest`, an early stop is checked."""
        waves = 1 if left is None else max(1, left // at_once)
        if self.search.early_stop:
            first = max(1, math.ceil((earliest - spent) / at_once))
            beyond = (spent + first * at_once) % EARLY_STOP_INTERVAL
            if beyond >= at_once:
                first += math.ceil((EARLY_STOP_INTERVAL - beyond) / at_once)
            waves = min(waves, first)
        return waves

    def _left(self, spent: int, simulating: float, elapsed: float, trees: int) -> int:
        """Return the simulations per tree that the budget still allows; by the clock, at the speed so far.

        The seconds of `simulating` exclude those in which trees of the last run were copied, unlike the `elapsed` ones.
        """
        if self.search.seconds is None:
            return int(self.search.simulations or 0) - spent
        return math.ceil(spent / simulating * max(0.0, self.search.seconds * trees - elapsed))


def first_tree(views: Array) -> Part:
    """Return a part with a single tree, of the first position."""
    return Part(0, views[:1], np.zeros(1, np.uint64))


def parallel_simulations_that_pay(
    evaluator: Any, game: str, budget: float, measure: Callable[[int], float | None]
) -> int:
    """Return the least of COUNTS for which doubling does not pay (see GAIN).

    Args:
        evaluator: The evaluator of leaves.
        game: The game, as text. Measurements are kept as long as the evaluator exists.
        budget: Seconds of a search.
        measure: A function that returns the seconds of a wave with a number of simulations, or None if it cannot be
            measured.
    """
    try:
        known = _wave_seconds.setdefault(evaluator, {})
    except TypeError:  # not hashable, or without weak references
        return PARALLEL_BY_THE_CLOCK
    best: int | None = None
    for count in COUNTS:
        seconds = known.get((game, count))
        if seconds is None:
            seconds = measure(count)
            if seconds is None:
                break
            known[game, count] = seconds
        if best is not None:
            short = count > PARALLEL_BY_THE_CLOCK and budget < LEAST_WAVES * seconds
            if short or count / seconds < GAIN * best / known[game, best]:
                return best
        best = count
    return best or PARALLEL_BY_THE_CLOCK
