"""Monte Carlo tree search for every game of pbm_envs, by simulations or by the clock.

Open games are searched as they are; where states are hidden, information sets are (see `tree`). `Search` holds the
settings, `run` searches a batch of positions.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, final

import numpy as np

from pbm_envs import Game
from pbm_envs.randomness import Rng, Seeds, seeds

from .evaluators import Evaluator, Network, Playouts, PriorsAndValues
from .forest import Forest
from .result import SearchResult
from .tree import Array, Tree

Views: TypeAlias = Array

CHECKED = 32
"""Simulations of a game between two looks whether its best move can still change."""
MEBIBYTE = 1 << 20


@final
class Search:
    """The settings of a search.

    >>> import numpy as np
    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(0)
    >>> [result] = Search(simulations=4000).run(game, game.init(1, rng), rng)
    >>> result.proven, game.action_to_string(result.best), result.value.tolist()
    (True, 'b2x', [1.0, -1.0])
    """

    def __init__(
        self,
        simulations: int | None = None,
        seconds: float | None = None,
        *,
        c: float | None = None,
        width: int = 1,
        playouts: int = 1,
        evaluator: Evaluator | PriorsAndValues | None = None,
        solver: bool = True,
        early_stop: bool = False,
        noise: float = 0.0,
        concentration: float = 0.3,
        threads: int = 1,
        memory: int = 1024,
    ) -> None:
        """A budget of `simulations` for each position, or of `seconds`: for a batch, `seconds` times its size.

        `c`: weight of exploration in UCT, or in PUCT where the evaluator gives priors; None: DEFAULT_C of the game.
        `width`: simulations of one position on their way at once. `evaluator`: None for `playouts` random games a leaf;
        else see `evaluators`. `solver`: prove outcomes (open games). `early_stop`: end when no other action can
        overtake the most visited one. `noise`: share of Dirichlet noise (`concentration`) in the root's priors.
        `threads`: over which the positions of a batch are spread. `memory`: MiB for the trees of a search by the clock.
        """
        if (simulations is None) == (seconds is None):
            raise ValueError(f"simulations={simulations!r}, seconds={seconds!r}: expected one of the two")
        for name, value, least in (
            ("simulations", simulations, 1),
            ("width", width, 1),
            ("playouts", playouts, 1),
            ("threads", threads, 1),
            ("memory", memory, 1),
        ):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
                raise ValueError(f"{name} is {value!r}: expected an integer from {least} up")
        if seconds is not None and not seconds > 0:
            raise ValueError(f"seconds is {seconds!r}: expected a number above 0")
        if c is not None and not c >= 0:
            raise ValueError(f"c is {c!r}: expected a number from 0 up")
        if not 0 <= noise <= 1 or not concentration > 0:
            raise ValueError(f"noise={noise!r}, concentration={concentration!r}: expected 0 to 1, and above 0")
        if evaluator is not None and playouts != 1:
            raise ValueError(f"playouts={playouts!r} beside an evaluator: expected one of the two")
        self.simulations, self.seconds, self.c, self.width = simulations, seconds, c, width
        self.solver, self.early_stop, self.threads, self.memory = solver, early_stop, threads, memory
        self.noise, self.concentration = noise, concentration
        self.evaluator = _evaluator(evaluator, playouts)
        if noise and not self.evaluator.gives_priors:
            raise ValueError(f"noise is {noise!r}: expected an evaluator that gives priors beside it")
        self._forests: dict[int, Forest] = {}

    def run(self, game: Game, views: Views, rng: Rng) -> list[SearchResult]:
        """Search each of `views` (B,): views of who is to move, or full states. `rng`: a generator, or (B,) uint64 seeds;
        a position with the same seed has the same result in any batch, unless the clock ends it.
        """
        views = views.copy()
        streams = seeds(rng, len(views)).copy()
        masks = game.legal_action_mask(views)
        if not masks.any(axis=1).all():
            row = int(masks.any(axis=1).argmin())
            raise ValueError(f"row {row} cannot be searched: expected a game that is not over, seen by who is to move")
        hidden = not game.perfect_information and bool((views["viewer"] >= 0).any())
        parts = [part for part in np.array_split(np.arange(len(views)), self.threads) if len(part)]
        if self.seconds is not None:
            self._warm_up(game, views, hidden)
        jobs = [(k, game, views[part], streams[part], hidden) for k, part in enumerate(parts)]
        if len(jobs) == 1:
            return self._grow(*jobs[0])
        with ThreadPoolExecutor(len(jobs)) as pool:
            return [result for results in pool.map(lambda job: self._grow(*job), jobs) for result in results]

    def _grow(self, thread: int, game: Game, views: Views, streams: Seeds, hidden: bool) -> list[SearchResult]:
        """Wave after wave, until the budget is spent or every position is decided."""
        start = time.perf_counter()
        forest = self._forest(thread, game, len(views), hidden)
        forest.plant(views, streams)
        if self.noise:
            forest.add_noise(self.noise, self.concentration)
        c = self.c if self.c is not None else default_c(game, self.evaluator)
        done, growing = np.zeros(len(views), np.int64), np.arange(len(views))
        games, spent = np.repeat(growing, self.width), 0
        while len(growing):
            width = self.width if self.simulations is None else min(self.width, self.simulations - spent)
            if width < self.width:
                games = np.repeat(growing, width)
            proven = forest.wave(games, c, self.solver and not hidden)
            spent += width
            left = self._left(spent, time.perf_counter() - start, len(views))
            look = self.early_stop and spent % CHECKED < width
            if left == 0 or proven or look:
                done[growing] = spent
                if left == 0:
                    break
                growing = growing[~forest.decided(growing, left if look else None)]
                games = np.repeat(growing, self.width)
        return forest.results(done, time.perf_counter() - start)

    def _left(self, spent: int, elapsed: float, positions: int) -> int:
        """Simulations of each position that the budget still allows; by the clock, at the speed so far."""
        if self.seconds is None:
            return int(self.simulations or 0) - spent
        return math.ceil(spent / elapsed * max(0.0, self.seconds * positions - elapsed))

    def _forest(self, thread: int, game: Game, positions: int, hidden: bool) -> Forest:
        """Room for the search: that of the last one, if it fits."""
        kept = self._forests.get(thread)
        if kept is not None and kept.fits(game, positions, hidden):
            return kept
        priors = self.evaluator.gives_priors
        if self.simulations is None:
            node = Tree.node_bytes(game, hidden=hidden, priors=priors)
            capacity = max(2, self.memory * MEBIBYTE // (node * positions * self.threads))
        else:  # a node of its own from the second visit, or from the first
            capacity = 2 + (self.simulations if priors else self.simulations // 2)
        self._forests[thread] = Forest(
            game, positions, capacity, hidden=hidden, width=self.width, evaluator=self.evaluator
        )
        return self._forests[thread]

    def _warm_up(self, game: Game, views: Views, hidden: bool) -> None:
        """Compile before the clock starts, with a search of the first position too small to notice."""
        key = (type(game), game.dtype, hidden, self.evaluator.gives_priors)
        if key not in _compiled:
            small = Search(simulations=64, width=2, evaluator=self.evaluator)
            small._grow(0, game, views[:1], np.zeros(1, np.uint64), hidden)
            _compiled.add(key)


_compiled: set[Any] = set()
"""What searches by the clock have been compiled for in this process."""


def _evaluator(given: Evaluator | PriorsAndValues | None, playouts: int) -> Evaluator:
    if given is None:
        return Playouts(playouts)
    return given if isinstance(given, (Playouts, Network)) else Network(given)


def default_c(game: Game, evaluator: Evaluator) -> float:
    """The weight of exploration that has been found best by `benchmarks/tune_search.py`."""
    if evaluator.gives_priors:
        return 1.5
    return DEFAULT_C.get(game.name, 1.0)


DEFAULT_C = {"chameleon": 0.7, "curio": 0.7, "trinim": 0.7, "unlur": 0.7}
