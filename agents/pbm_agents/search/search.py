"""Monte Carlo tree search for every game of pbm_envs, by simulations or by the clock.

With perfect information positions are searched as they are; with hidden information, information sets are (see `tree`).
A `Search` holds the settings, a `Workspace` the memory; `run` searches a batch of positions.
"""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.core.checks import check_flag, check_number, check_range
from pbm_envs.core.printable import quoted
from pbm_envs.core.randomness import branch, seeds
from pbm_envs.core.types import Array, Rng, Seeds

from ..players.agent import check_game
from .automatic_width import WAVES, width_that_pays
from .defaults import OTHER_GAMES, PUCT_C, Weights, default_weights
from .ending import end_searches_when, ending
from .evaluators import ActionPriors, Evaluator, Playouts, PriorsAndValues, as_evaluator
from .result import SearchedTree, SearchResult, read_result
from .simulation import Simulator
from .tree import node_bytes
from .workspace import Memory, Workspace

EARLY_STOP_INTERVAL = 32
"""Simulations of a position between two looks whether its best action can still change."""
WARM_UP_SIMULATIONS = 64
LONGEST_SLICE = 0.005
"""Seconds of simulations between two looks at the clock and at `ending`, if a single wave does not take longer."""
WIDTH_BY_THE_CLOCK = 8
MEBIBYTE = 1 << 20


@final
@dataclass(frozen=True)
class Search:
    """The settings of a tree search, and `run`, which searches positions with them.

    A search belongs to no game and to no thread: one can be shared, pickled and compared. The algorithm follows from
    the game and the evaluator:

    * perfect information: UCT, with RAVE where `rave` is above 0;
    * hidden information: information-set UCT, a world drawn for each simulation;
    * an evaluator that gives priors: PUCT, or with `gumbel` sequential halving at the root.

    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(0)
    >>> [result] = Search(simulations=20000).run(game, game.init(1, rng), rng)
    >>> result.proven, result.value.tolist()  # the second player can always swap
    (True, [-1.0, 1.0])

    Attributes:
        simulations: The budget of each position, in simulations. Either this or `seconds` is given.
        seconds: The budget of each position, in seconds. A batch takes this times its size, over `threads`.
        c: Weight of exploration in UCT; in PUCT, where the evaluator gives priors. None: 1.5 in PUCT, else what
            `register_weights` has been told of the game, else 1.
        rave: Equivalence parameter of RAVE, with perfect information and without priors: an action's own mean weighs
            as much as that of RAVE after a third as many visits. 0: plain UCT. None: as for `c`, else 0.
        width: Simulations of one position under way at the same time: faster, slightly less well informed. 1 is the
            sequential algorithm. None: 1; by the clock 8, with an evaluator as many as pay, from 4 to 32. That is
            measured before the clock starts, once for each evaluator and game.
        playouts: Random games from each leaf.
        avoid_losing_moves: Whether playouts avoid moves that lose at once, as in `Game.playout`.
        save_bridges: Whether playouts save bridges, as in `Game.playout`, in the games that know it: better informed
            and slower.
        evaluator: Instead of playouts: a function from observations and masks to priors and values (see
            `FunctionEvaluator`), or any `Evaluator`.
        priors: Which actions look good, beside playouts and RAVE, with perfect information: see `ActionPriors`.
        prior_weight: Weight of these priors, in the formula of PUCT.
        solver: Prove outcomes, with perfect information. No player resigns in a search: among three players a proven
            outcome is one if nobody does.
        early_stop: End when no other action can overtake the most visited one; by the clock, at the speed so far.
        reuse: Start from the trees that the last run has left in the workspace, with perfect information. What a run
            finds then depends on the runs before.
        first_play_reduction: In PUCT an action without a visit is worth what its node has been worth so far, less this
            times the square root of the visited actions' priors.
        forced_playouts: In PUCT, for self-play: an action of the root that has a visit gets at least the square root of
            this times its prior times the visits of the root (Wu 2020, who takes 2), so that noise in the priors can
            find something. `SearchResult.policy` takes away those of them that PUCT would not have made.
        gumbel: Actions that sequential halving considers at the root (Danihelka et al. 2022), for budgets of few
            simulations of an evaluator that gives priors; 16 in the paper. 0: PUCT.
        gumbel_noise: Scale of the Gumbel numbers that decide which these are: 1 in self-play, 0 for the best play.
        value_weight: What values weigh against priors there and below: c_scale of the paper.
        noise: Share of Dirichlet noise in the priors of the root, from 0 to 1. In PUCT.
        concentration: Parameter of the Dirichlet distribution.
        trees: Trees of each position, each with random numbers of its own, which share the budget (in simulations
            rounded up); what stands at their roots is added up before the choice (root parallelization: Chaslot,
            Winands & van den Herik 2008). None: 1; by the clock and without an evaluator, as many as there are threads
            for each position, so that several threads search one position.
        threads: The trees of a batch are spread over these. The evaluator is then called by several at once.
        memory: MiB for the trees of a search by the clock. When they are full, simulations end at their leaves.

    Raises:
        ValueError: For settings that cannot be, or do not go together.
    """

    simulations: int | None = None
    seconds: float | None = None
    c: float | None = None
    rave: float | None = None
    width: int | None = None
    playouts: int = 1
    avoid_losing_moves: bool = True
    save_bridges: bool = False
    evaluator: Evaluator | PriorsAndValues | None = None
    priors: ActionPriors | None = None
    prior_weight: float = 0.5
    solver: bool = True
    early_stop: bool = False
    reuse: bool = False
    first_play_reduction: float = 0.0
    forced_playouts: float = 0.0
    gumbel: int = 0
    gumbel_noise: float = 0.0
    value_weight: float = 1.0
    noise: float = 0.0
    concentration: float = 0.3
    trees: int | None = None
    threads: int = 1
    memory: int = 1024

    def __post_init__(self) -> None:
        if (self.simulations is None) == (self.seconds is None):
            raise ValueError(
                f"simulations={quoted(self.simulations)}, seconds={quoted(self.seconds)}: expected one of the two"
            )
        for name in ("simulations", "width", "playouts", "threads", "memory"):
            value = getattr(self, name)
            if value is not None:
                check_range(name, value, 1)
        if self.trees is not None:
            check_range("trees", self.trees, 1, 1024)
        for name, low, high in (
            ("c", 0.0, 1e9),
            ("rave", 0.0, 1e9),
            ("seconds", 1e-9, 1e9),
            ("prior_weight", 0.0, 1e9),
            ("noise", 0.0, 1.0),
            ("first_play_reduction", 0.0, 1e9),
            ("forced_playouts", 0.0, 1e9),
            ("gumbel_noise", 0.0, 1e9),
            ("value_weight", 0.0, 1e9),
            ("concentration", 1e-9, 1e9),
        ):
            number = getattr(self, name)
            if number is not None:
                check_number(name, number, low, high)
        for name in ("avoid_losing_moves", "save_bridges", "solver", "early_stop", "reuse"):
            check_flag(name, getattr(self, name))
        if self.evaluator is not None and self.playouts != 1:
            raise ValueError(f"playouts={quoted(self.playouts)} beside an evaluator: expected one of the two")
        gives_priors = self.leaf_evaluator.gives_priors  # ValueError for what is no evaluator
        if self.priors is not None and (gives_priors or not callable(self.priors)):
            raise ValueError(
                f"priors is {quoted(self.priors)}: expected ActionPriors, and no evaluator that gives priors"
            )
        if self.noise and not gives_priors:
            raise ValueError(f"noise is {quoted(self.noise)}: expected an evaluator that gives priors beside it")
        for name in ("first_play_reduction", "forced_playouts"):
            if getattr(self, name) and not gives_priors:
                raise ValueError(
                    f"{name} is {quoted(getattr(self, name))}: expected an evaluator that gives priors beside it"
                )
        check_range("gumbel", self.gumbel, 0)
        if self.gumbel and not gives_priors:
            raise ValueError(f"gumbel is {quoted(self.gumbel)}: expected an evaluator that gives priors beside it")
        of_puct = self.noise or self.first_play_reduction or self.forced_playouts
        if self.gumbel and (self.simulations is None or self.reuse or of_puct or (self.trees or 1) > 1):
            raise ValueError(
                f"gumbel is {quoted(self.gumbel)}: expected a budget in simulations beside it, and neither reuse "
                "nor noise nor first_play_reduction nor forced_playouts nor several trees"
            )
        if self.gumbel_noise and not self.gumbel:
            raise ValueError(f"gumbel_noise is {quoted(self.gumbel_noise)}: expected gumbel above 0 beside it")

    def run(
        self, game: Game, views: Array, rng: Rng | Seeds, *, workspace: Workspace | None = None
    ) -> list[SearchResult]:
        """Search some positions.

        A position with the same seed has the same result in any batch and on any number of threads, unless the clock
        or an earlier run (`reuse`) matters. The first run of a process compiles; by the clock, before that starts.

        Args:
            game: The game.
            views: (B,) positions that are not over, each as the player to move sees it (`game.view`); or full states,
                which are searched as if everything in them were known.
            rng: A generator, or (B,) uint64 seeds.
            workspace: Memory to work in, kept from run to run; needed for `reuse`. None: new memory for this run.

        Returns:
            What was found out, for each of `views`.

        Raises:
            ValueError: For a position that is over or not seen by the player to move; if the evaluator's answers
                cannot be used; for `reuse` without a workspace.
            RuntimeError: If the workspace is in use by another run.
        """
        if workspace is None:
            if self.reuse:
                raise ValueError("reuse=True without a workspace: expected run(..., workspace=Workspace())")
            workspace = Workspace()
        elif not isinstance(workspace, Workspace):
            raise ValueError(f"workspace is {quoted(workspace)}: expected a Workspace, or None")
        check_game(game)
        if not isinstance(views, np.ndarray) or views.ndim != 1:
            raise ValueError(f"views are {quoted(views)}: expected a batch (B,), as game.view makes it")
        streams = seeds(rng, len(views)).copy()
        check_searchable(game, views)
        views = views.copy()
        hidden = not game.perfect_information and bool((views["viewer"] >= 0).any())
        with workspace.in_use():
            search = self
            if self.seconds is not None:
                self._warm_up(game, views, hidden, workspace)
                search = self._with_width(game, views, hidden)
            count, trees = len(views), search._trees_of_each(len(views))
            if trees > 1:
                search = search._for_each_of(trees)
                streams, given = np.empty(count * trees, np.uint64), streams
                branch(given, np.repeat(np.arange(count), trees), streams)
            workspace.make_room((search, game, hidden))
            parts = [part for part in np.array_split(np.arange(count * trees), self.threads) if len(part)]
            jobs = [(workspace, k, game, views[part // trees], streams[part], hidden) for k, part in enumerate(parts)]
            searched = search._search(*jobs[0]) if len(jobs) == 1 else search._search_in_threads(jobs, count)
            return [read_result(game, views[k : k + 1], searched[k * trees : (k + 1) * trees]) for k in range(count)]

    def _trees_of_each(self, positions: int) -> int:
        if self.trees is not None:
            return self.trees
        return max(1, self.threads // max(1, positions)) if self.seconds is not None and self.evaluator is None else 1

    def _for_each_of(self, trees: int) -> Search:
        """The search of one of so many trees of a position: its share of the budget, of which threads side by side take
        theirs at the same time.
        """
        if self.seconds is None:
            return replace(self, simulations=math.ceil((self.simulations or 0) / trees), trees=1)
        return replace(self, seconds=self.seconds * min(trees, self.threads) / trees, trees=1)

    def _search_in_threads(self, jobs: list[tuple[Any, ...]], positions: int) -> list[SearchedTree]:
        """Each job in a thread of its own. By the clock, a proof of the only position ends all."""
        stop, proof_ends = threading.Event(), positions == 1 and self.seconds is not None
        with ThreadPoolExecutor(len(jobs) or 1) as pool:
            found = [pool.submit(copy_context().run, self._search_until, stop, proof_ends, job) for job in jobs]
            try:
                return [tree for trees in found for tree in trees.result()]
            except BaseException:  # Ctrl-C reaches this thread only, or one of the others has failed
                stop.set()
                raise

    def _search_until(self, stop: threading.Event, proof_ends: bool, job: tuple[Any, ...]) -> list[SearchedTree]:
        """As `_search`, but it ends with what it has found once `stop` is set, as its own proof does if that counts."""
        outer = ending()
        with end_searches_when(lambda: stop.is_set() or (outer is not None and outer())):
            searched = self._search(*job)
        if proof_ends and any(tree.proven for tree in searched):
            stop.set()
        return searched

    def _search(
        self, workspace: Workspace, part: int, game: Game, views: Array, streams: Seeds, hidden: bool
    ) -> list[SearchedTree]:
        """Wave after wave, until the budget is spent or every position can stop."""
        start, is_over = time.perf_counter(), ending()
        evaluator, weights = self.leaf_evaluator, self._weights(game, hidden)
        keep = self.reuse and not hidden
        previous = workspace.newest(part) if keep else None
        memory = workspace.spare(part, len(views), keep=keep)
        if memory is None:
            memory = self._allocate(game, len(views), hidden, self._has_priors, weights.rave > 0)
        workspace.put(part, memory, keep=keep)
        simulator = Simulator(
            game,
            evaluator,
            weights,
            memory,
            solver=self.solver and not hidden,
            priors=self.priors,
            prior_weight=self.prior_weight,
            first_play_reduction=self.first_play_reduction,
            forced_playouts=self.forced_playouts,
        )
        simulator.start(views, streams, previous)
        if self.noise:
            simulator.add_noise(self.noise, self.concentration)
        if self.gumbel:
            simulator.use_gumbel(self.gumbel, self.simulations or 0, self.gumbel_noise, self.value_weight)
        width = full = self._width
        done, growing = np.zeros(len(views), np.int64), np.arange(len(views))
        growing = growing[~simulator.can_stop(growing, None)]
        trees, spent, left, pace = np.repeat(growing, full), 0, self.simulations, Pace()
        while len(growing):
            if self.simulations is not None and self.simulations - spent < full:
                width = self.simulations - spent
                trees = np.repeat(growing, width)
            waves = pace.waves(self._waves_to_look(spent, width, left))
            made, proven = simulator.simulate(trees, waves)
            pace.note(made)
            spent += made * width
            left = self._left(spent, time.perf_counter() - start, len(views))
            if is_over is not None and is_over():
                left = 0
            look = self.early_stop and spent % EARLY_STOP_INTERVAL < width
            if left == 0 or proven or look:
                done[growing] = spent
                if left == 0:
                    break
                growing = growing[~simulator.can_stop(growing, left if look else None)]
                trees = np.repeat(growing, full)
        seconds = time.perf_counter() - start
        return [SearchedTree(memory.tree, g, int(done[g]), seconds, simulator.gumbel) for g in range(len(views))]

    def _waves_to_look(self, spent: int, width: int, left: int | None) -> int:
        """How many waves to make before looking at the budget, or whether to stop early."""
        waves = 1 if left is None else max(1, left // width)
        if self.early_stop:
            waves = min(waves, math.ceil((EARLY_STOP_INTERVAL - spent % EARLY_STOP_INTERVAL) / width))
        return waves

    @property
    def _has_priors(self) -> bool:
        return self.priors is not None or self.leaf_evaluator.gives_priors

    @property
    def _width(self) -> int:
        return self.width or (1 if self.seconds is None else WIDTH_BY_THE_CLOCK)

    def _left(self, spent: int, elapsed: float, positions: int) -> int:
        """Simulations of each position that the budget still allows; by the clock, at the speed so far."""
        if self.seconds is None:
            return int(self.simulations or 0) - spent
        return math.ceil(spent / elapsed * max(0.0, self.seconds * positions - elapsed))

    @property
    def leaf_evaluator(self) -> Evaluator:
        """What evaluates leaves: random playouts, or the evaluator that was given."""
        if self.evaluator is None:
            return Playouts(self.playouts, self.avoid_losing_moves, self.save_bridges)
        return as_evaluator(self.evaluator)

    def _weights(self, game: Game, hidden: bool) -> Weights:
        if self.leaf_evaluator.gives_priors:
            return Weights(PUCT_C if self.c is None else self.c, 0)
        usual = default_weights(game.name)
        recorded = "last_player_by_action" in game.playout_options  # which RAVE needs
        if self.rave and not recorded:
            raise ValueError(
                f"rave is {self.rave!r}: expected 0 or None, as the playouts of {game!r} have no last_player_by_action"
            )
        if self.priors is not None and (hidden or self.rave == 0 or (self.rave is None and not usual.rave)):
            raise ValueError(f"priors beside playouts of {game!r}: expected perfect information and rave above 0")
        rave = 0 if hidden or not recorded else usual.rave if self.rave is None else self.rave
        if (rave > 0) != (usual.rave > 0):  # the usual c is that of the other formula
            usual = OTHER_GAMES
        return Weights(usual.c if self.c is None else self.c, rave)

    def _allocate(self, game: Game, positions: int, hidden: bool, priors: bool, rave: bool) -> Memory:
        if self.simulations is None:
            node = node_bytes(game, hidden=hidden, priors=priors, rave=rave)
            capacity = max(4, self.memory * MEBIBYTE // (node * positions * self.threads))
        else:  # no simulation makes more than one node
            capacity = (2 + self.simulations) * (1 + self.reuse)
        return Memory(
            game,
            positions,
            capacity,
            self._width,
            hidden=hidden,
            priors=priors,
            rave=rave,
            evaluated=self.gumbel > 0,
        )

    def _warm_up(self, game: Game, views: Array, hidden: bool, workspace: Workspace) -> None:
        """Compile before the clock starts, with a search of the first position too small to notice."""
        kind = (game.dtype, hidden, self._has_priors, self._weights(game, hidden).rave > 0)
        if len(views) and workspace.is_new((*kind, self.reuse)):
            small, room = replace(self, simulations=WARM_UP_SIMULATIONS, seconds=None, width=2), Workspace()
            for _ in range(1 + self.reuse):  # the second starts from what the first knew
                small._search(room, 0, game, views[:1], np.zeros(1, np.uint64), hidden)

    def _with_width(self, game: Game, views: Array, hidden: bool) -> Search:
        """With the width that pays, if there is an evaluator and none is given."""
        if self.width is not None or self.evaluator is None or not len(views):
            return self

        def seconds_of_wave(width: int) -> float | None:
            few = replace(self, simulations=width * WAVES, seconds=None, width=width, early_stop=False)
            found = [few._search(Workspace(), 0, game, views[:1], np.zeros(1, np.uint64), hidden)[0] for _ in range(2)]
            complete = all(result.simulations == width * WAVES for result in found)  # not proven
            return min(result.seconds for result in found) / WAVES if complete else None

        budget = float(self.seconds or 0)
        return replace(
            self, width=width_that_pays(self.evaluator, repr(game), budget, seconds_of_wave, WIDTH_BY_THE_CLOCK)
        )


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


def check_searchable(game: Game, views: Array) -> None:
    """ValueError unless all games go on and are seen by the player to move."""
    check_game(game)
    searchable = game.legal_action_mask(views).any(axis=1)
    if not searchable.all():
        row = int(searchable.argmin())
        raise ValueError(f"row {row} cannot be searched: expected a game that is not over, seen by the player to move")
