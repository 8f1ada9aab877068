"""What a leaf is worth: random playouts, or any function of observations and masks, such as a network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pbm_envs import Game
from pbm_envs.randomness import Seeds

Array: TypeAlias = NDArray[Any]
PriorsAndValues: TypeAlias = Callable[[Array, Array], tuple[ArrayLike, ArrayLike]]


class Evaluator(Protocol):
    """Judges leaves, many at once."""

    gives_priors: bool

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, traces: Array | None
    ) -> tuple[NDArray[np.float32] | None, NDArray[np.float64]]:
        """Priors (R, A), or None if it gives none, and values (R, P) of `states` (R,), which may be changed. Those that
        are done have their returns as values. `masks` (R, A) are only filled in for an evaluator that gives priors.
        `traces` (R, A), if wanted, are as in `Game.playout`.
        """
        ...


@final
class Playouts:
    """The mean returns of random games from each leaf."""

    gives_priors = False

    def __init__(self, count: int = 1, careful: bool = True) -> None:
        """`count` games a leaf; `careful` as in `Game.playout`."""
        if count < 1:
            raise ValueError(f"playouts is {count!r}: expected at least 1")
        self.count, self.careful = count, careful

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, traces: Array | None
    ) -> tuple[None, NDArray[np.float64]]:
        if self.count == 1:
            game.playout(states, seeds, careful=self.careful, trace=traces)
            return None, states["returns"]
        values = np.zeros((len(states), game.num_players))
        for _ in range(self.count):
            ended = states.copy()
            game.playout(ended, seeds, careful=self.careful, trace=traces)
            values += ended["returns"]
        return None, values / self.count


@final
class Network:
    """Any function from observations (R, rows, cols, planes) int8 and masks (R, A) bool, both from the view of who is
    to move, to priors (R, A), not negative and not all 0 where legal, and values: (R,) for who is to move in a game of
    two, or (R, P) for all players in the order of the seats, or with `from_mover` from who is to move on (an
    observation does not say which seat that is). Lists, arrays, and tensors that NumPy can read.
    """

    gives_priors = True

    def __init__(self, function: PriorsAndValues, from_mover: bool = False, game: Game | None = None) -> None:
        """`game`: the only one whose positions it judges."""
        self.function, self.from_mover, self.game = function, from_mover, game

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, traces: Array | None
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        if self.game is not None and game != self.game:
            raise ValueError(f"the network judges positions of {self.game!r}, not of {game!r}")
        values = states["returns"].astype(np.float64)
        priors = np.zeros(masks.shape, np.float32)
        rows = np.flatnonzero(~states["done"])
        if len(rows):
            movers = states["to_move"][rows]
            observations = game.observe(game.view(states[rows], movers))
            given_priors, given_values = (np.asarray(part) for part in self.function(observations, masks[rows]))
            priors[rows] = self._weights(given_priors, masks[rows])
            values[rows] = self._vectors(given_values, movers, game.num_players)
        return priors, values

    @staticmethod
    def _weights(given: Array, masks: Array) -> Array:
        """Priors that sum to 1 over the legal actions. (Others keep theirs: they may be legal in another state.)"""
        if given.shape != masks.shape:
            raise ValueError(f"the evaluator's priors have shape {given.shape}: expected {masks.shape}")
        sums = np.where(masks, given, 0).sum(axis=1, keepdims=True, dtype=np.float64)
        if not (np.all(given >= 0) and np.all(sums > 0) and np.isfinite(sums).all()):
            raise ValueError("the evaluator's priors: expected numbers from 0 up, not all 0 where actions are legal")
        return given / sums

    def _vectors(self, given: Array, movers: Array, players: int) -> Array:
        count = len(movers)
        if not np.isfinite(given).all():
            raise ValueError("the evaluator's values: expected finite numbers")
        if given.shape == (count, players):
            if self.from_mover:
                return np.take_along_axis(given, (np.arange(players) - movers[:, None]) % players, axis=1)
            return given
        if given.shape in ((count,), (count, 1)) and players == 2:
            own = given.reshape(count)
            return np.stack([np.where(movers == 0, own, -own), np.where(movers == 1, own, -own)], axis=1)
        forms = f"({count}, {players})" + f" or ({count},)" * (players == 2)
        raise ValueError(f"the evaluator's values have shape {given.shape}: expected {forms}")
