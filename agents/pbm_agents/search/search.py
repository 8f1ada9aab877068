"""Monte Carlo tree search for every game of pbm_envs, by simulations or by the clock.

Open games are searched as they are; where states are hidden, information sets are (see `tree`). A `Search` holds the
settings; `run` searches a batch of positions.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.randomness import Rng, Seeds, seeds

from .evaluators import Evaluator, Network, Playouts, PriorsAndValues
from .forest import Forest
from .result import SearchResult
from .tree import Array, Tree

CHECKED = 32
"""Simulations of a position between two looks whether its best action can still change."""
MEBIBYTE = 1 << 20


class Weights(NamedTuple):
    """What the search uses where it is not told."""

    c: float
    rave: float


DEFAULTS = {
    "chameleon": Weights(c=0.05, rave=1000),
    "curio": Weights(c=0.6, rave=0),
    "trinim": Weights(c=0.5, rave=0),
    "unlur": Weights(c=0.1, rave=1000),
}
"""Of our games, as `benchmarks/tune_search.py` has found them best."""
OTHERWISE = Weights(c=1.0, rave=0)
"""Of other people's games, and without RAVE."""
PUCT_C = 1.5
WIDTH_BY_THE_CLOCK = 8
_compiled: set[Any] = set()
"""What searches by the clock have been compiled for in this process."""


@final
@dataclass(frozen=True)
class Search:
    """The settings of a search, and the room that it works in.

    >>> from pbm_envs import Chameleon
    >>> game, rng = Chameleon(size=3), np.random.default_rng(0)
    >>> [result] = Search(simulations=20000).run(game, game.init(1, rng), rng)
    >>> result.proven, result.value.tolist()  # the second player can always swap
    (True, [-1.0, 1.0])
    """

    simulations: int | None = None
    """The budget of each position: so many simulations;"""
    seconds: float | None = None
    """or so much time: a batch takes this times its size, over `threads`. One of the two is given."""
    c: float | None = None
    """Weight of exploration in UCT (in PUCT, where the evaluator gives priors). None: by game, see DEFAULTS."""
    rave: float | None = None
    """Equivalence parameter of RAVE, in open games without priors; 0: plain UCT. None: by game."""
    width: int | None = None
    """Simulations of one position that are on their way at the same time; 1 is the sequential algorithm. None: 1, or
    WIDTH_BY_THE_CLOCK.
    """
    playouts: int = 1
    """Random games a leaf."""
    careful: bool = True
    """As in `Game.playout`."""
    evaluator: Playouts | Network | PriorsAndValues | None = None
    """Instead of playouts: a function from observations and masks to priors and values (`evaluators.Network`)."""
    solver: bool = True
    """Prove outcomes, in open games. Nobody resigns in a search: among three players a proven outcome is one if nobody
    does.
    """
    early_stop: bool = False
    """End when no other action can overtake the most visited one; by the clock, at the speed so far."""
    reuse: bool = False
    """Start from what the last `run` knew of a position, in open games. What a run finds then depends on the last."""
    noise: float = 0.0
    """Share of Dirichlet noise in the priors of the root."""
    concentration: float = 0.3
    """Of the Dirichlet distribution."""
    threads: int = 1
    """The positions of a batch are spread over these."""
    memory: int = 1024
    """MiB for the trees of a search by the clock. When they are full, simulations end at their leaves."""
    _forests: dict[int, Forest] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.simulations is None) == (self.seconds is None):
            raise ValueError(f"simulations={self.simulations!r}, seconds={self.seconds!r}: expected one of the two")
        for name in ("simulations", "width", "playouts", "threads", "memory"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise ValueError(f"{name} is {value!r}: expected an integer from 1 up")
        for name, least, most in (("c", 0, 1e9), ("rave", 0, 1e9), ("seconds", 1e-9, 1e9), ("noise", 0, 1)):
            _check_number(name, getattr(self, name), least, most)
        _check_number("concentration", self.concentration, 1e-9, 1e9)
        for name in ("careful", "solver", "early_stop", "reuse"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}: expected True or False")
        if self.evaluator is not None and not callable(self.evaluator):
            raise ValueError(f"evaluator is {self.evaluator!r}: expected a function of observations and masks")
        if self.evaluator is not None and self.playouts != 1:
            raise ValueError(f"playouts={self.playouts!r} beside an evaluator: expected one of the two")
        if self.noise and not self._judge().gives_priors:
            raise ValueError(f"noise is {self.noise!r}: expected an evaluator that gives priors beside it")

    def run(self, game: Game, views: Array, rng: Rng) -> list[SearchResult]:
        """Search each of `views` (B,): views of who is to move, or full states. `rng`: a generator, or (B,) uint64
        seeds; a position with the same seed has the same result in any batch, unless the clock or an earlier run
        matters.
        """
        views = views.copy()
        streams = seeds(rng, len(views)).copy()
        check_searchable(game, views)
        hidden = not game.perfect_information and bool((views["viewer"] >= 0).any())
        if self.seconds is not None:
            self._warm_up(game, views, hidden)
        parts = [part for part in np.array_split(np.arange(len(views)), self.threads) if len(part)]
        jobs = [(thread, game, views[part], streams[part], hidden) for thread, part in enumerate(parts)]
        if len(jobs) == 1:
            return self._grow(*jobs[0])
        with ThreadPoolExecutor(len(jobs) or 1) as pool:
            return [result for results in pool.map(lambda job: self._grow(*job), jobs) for result in results]

    def _grow(self, thread: int, game: Game, views: Array, streams: Seeds, hidden: bool) -> list[SearchResult]:
        """Wave after wave, until the budget is spent or every position is decided."""
        start = time.perf_counter()
        weights = self._weights(game, hidden)
        old = self._forests.get(thread) if self.reuse and not hidden else None
        forest = self._forest(thread, game, len(views), hidden, weights.rave)
        width = full = forest.width
        forest.plant(views, streams, old if old is not None and old.fits(game, 0, hidden) else None)
        if self.noise:
            forest.add_noise(self.noise, self.concentration)
        done, growing = np.zeros(len(views), np.int64), np.arange(len(views))
        growing = growing[~forest.decided(growing, None)]
        games, spent = np.repeat(growing, full), 0
        while len(growing):
            if self.simulations is not None and self.simulations - spent < full:
                width = self.simulations - spent
                games = np.repeat(growing, width)
            proven = forest.wave(games, weights.c, self.solver and not hidden)
            spent += width
            left = self._left(spent, time.perf_counter() - start, len(views))
            look = self.early_stop and spent % CHECKED < width
            if left == 0 or proven or look:
                done[growing] = spent
                if left == 0:
                    break
                growing = growing[~forest.decided(growing, left if look else None)]
                games = np.repeat(growing, full)
        return forest.results(done, time.perf_counter() - start)

    def _left(self, spent: int, elapsed: float, positions: int) -> int:
        """Simulations of each position that the budget still allows; by the clock, at the speed so far."""
        if self.seconds is None:
            return int(self.simulations or 0) - spent
        return math.ceil(spent / elapsed * max(0.0, self.seconds * positions - elapsed))

    def _judge(self) -> Evaluator:
        if self.evaluator is None:
            return Playouts(self.playouts, self.careful)
        return self.evaluator if isinstance(self.evaluator, (Playouts, Network)) else Network(self.evaluator)

    def _weights(self, game: Game, hidden: bool) -> Weights:
        if self._judge().gives_priors:
            return Weights(PUCT_C if self.c is None else self.c, 0)
        usual = DEFAULTS.get(game.name, OTHERWISE)
        rave = 0 if hidden else usual.rave if self.rave is None else self.rave
        if (rave > 0) != (usual.rave > 0):  # the usual c is that of the other formula
            usual = OTHERWISE
        return Weights(usual.c if self.c is None else self.c, rave)

    def _forest(self, thread: int, game: Game, positions: int, hidden: bool, rave: float) -> Forest:
        """Room for the search: that of the last one, if it fits and is not to be read from."""
        kept = self._forests.get(thread)
        if kept is not None and kept.fits(game, positions, hidden):
            if not self.reuse:
                return kept
            kept = self._forests.get(~thread)
        judge = self._judge()
        if kept is None or not kept.fits(game, positions, hidden):
            if self.simulations is None:
                node = Tree.node_bytes(game, hidden=hidden, priors=judge.gives_priors, rave=rave > 0)
                capacity = max(4, self.memory * MEBIBYTE // (node * positions * self.threads))
            else:  # no simulation makes more than one node
                capacity = (2 + self.simulations) * (1 + self.reuse)
            width = self.width or (1 if self.seconds is None else WIDTH_BY_THE_CLOCK)
            kept = Forest(game, positions, capacity, hidden=hidden, width=width, evaluator=judge, rave=rave)
        if self.reuse and thread in self._forests:
            self._forests[~thread] = self._forests[thread]
        self._forests[thread] = kept
        return kept

    def _warm_up(self, game: Game, views: Array, hidden: bool) -> None:
        """Compile before the clock starts, with a search of the first position too small to notice."""
        key = (game.dtype, hidden, self._judge().gives_priors, self._weights(game, hidden).rave > 0, self.reuse)
        if key not in _compiled:
            small = replace(self, simulations=64, seconds=None, width=2)
            for _ in range(1 + self.reuse):  # the second starts from what the first knew
                small._grow(0, game, views[:1], np.zeros(1, np.uint64), hidden)
            _compiled.add(key)


def check_searchable(game: Game, views: Array) -> None:
    """ValueError unless all games go on and are seen by who is to move."""
    searchable = game.legal_action_mask(views).any(axis=1)
    if not searchable.all():
        row = int(searchable.argmin())
        raise ValueError(f"row {row} cannot be searched: expected a game that is not over, seen by who is to move")


def _check_number(name: str, value: float | None, least: float, most: float) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}: expected a number from {least:g} to {most:g}")
