"""Evaluators: the values of leaves, and priors of the actions there.

A search evaluates leaves by random playouts (`Playouts`), by a function of observations and masks such as a neural
network (`FunctionEvaluator`, which a plain function becomes by itself), or by any object that is an `Evaluator`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, final, runtime_checkable

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Seeds
from pbm_envs.toolbox import Array, PlayKernels, check_settings, quoted, setting

PriorsAndValues: TypeAlias = Callable[[Array, Array], tuple[Any, Any]]
"""A function from observations and masks to priors and values: see `FunctionEvaluator`."""
MOVER, SEAT = "mover", "seat"


@runtime_checkable
class Evaluator(Protocol):
    """Evaluates leaves in batches. A `Search` takes any object that has these two members.

    If your evaluator needs full states, symmetries or random numbers, write a class with `gives_priors` and `__call__`;
    if it needs only observations and masks, a plain function is enough (`FunctionEvaluator`).
    """

    @property
    def gives_priors(self) -> bool:
        """True if it returns priors: each leaf then gets a node. A plain attribute is enough."""
        ...

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[Array | None, Array]:
        """Evaluate R leaves. With `threads` above 1, several threads call it at the same time.

        Args:
            game: The game that is searched.
            states: (R,) full states, determinized if information is hidden. They may be changed. Some may be done:
                their returns are used as their values, and the evaluator's values are ignored.
            masks: (R, A) bool, the legal actions; only filled in if `gives_priors`.
            seeds: (R,) uint64, a random stream for each leaf, to be advanced in place.
            last_player_by_action: None, or for RAVE an (R, A) int8 array to fill in as `Game.playout` does.

        Returns:
            Priors (R, A), not negative and not all 0 where actions are legal, or None without priors; and values
            (R, P), the expected returns of the players in the order of their seats.
        """
        ...


@runtime_checkable
class ActionPriors(Protocol):
    """A function that returns priors of actions; a `Search` uses it in addition to playouts and RAVE."""

    def __call__(self, game: Game, states: Array) -> Array:
        """Return the priors of actions.

        Args:
            game: The game that is searched.
            states: (R,) full states of a perfect-information game that is not over. They must not be changed.

        Returns:
            (R, A) float32, not negative. They should sum to about 1; those of illegal actions are ignored.
        """
        ...


@final
@dataclass(frozen=True)
class Playouts:
    """The mean returns of random games from each leaf."""

    count: int = setting(1, low=1, help="Random games from each leaf.")
    avoid_losing_moves: bool = setting(
        True, help="Whether playouts avoid moves that lose at once, in games that support it."
    )
    save_bridges: bool = setting(
        False,
        help="Whether playouts save bridges, in games that support it. They are then slower, but better informed.",
    )

    gives_priors: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_settings(self)

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[None, Array]:
        """Evaluate leaves (see `Evaluator`)."""
        if self.count == 1:
            self._play(game, states, seeds, last_player_by_action)
            return None, states["returns"]
        values = np.zeros((len(states), game.num_players))
        for _ in range(self.count):
            ended = states.copy()
            self._play(game, ended, seeds, last_player_by_action)
            values += ended["returns"]
        return None, values / self.count

    def kernels(self, game: Game) -> PlayKernels | None:
        """Return kernels that play as `__call__` does; None with several playouts per leaf, or if the game has none."""
        return game._play_kernels(*self._options(game).values()) if self.count == 1 else None

    def _options(self, game: Game) -> dict[str, bool]:
        """Return the two options, each True if it is set and playouts of this game support it."""
        options = ("avoid_losing_moves", "save_bridges")
        return {name: getattr(self, name) and name in game.playout_options for name in options}

    def _play(self, game: Game, states: Array, seeds: Seeds, last_player_by_action: Array | None) -> None:
        options = self._options(game)
        if options["save_bridges"]:
            options["avoid_losing_moves"] = False
        game.playout(states, seeds, **options, last_player_by_action=last_player_by_action)


@final
class FunctionEvaluator:
    """Any function of observations and masks, such as a neural network, as an evaluator.

    The function is called with observations (R, rows, cols, planes) int8 and masks (R, A) bool, both from the view of
    the player to move, and returns a pair:

    * priors (R, A), not negative and not all 0 where actions are legal; they need not sum to 1;
    * values (R,) of the player to move, in two-player games, or (R, P) of all players, *starting with the player to
      move*: that player, the next one, and so on. (An observation does not contain the seat of its player.)

    Lists, arrays, and tensors that NumPy can read are accepted. Results that cannot be used raise a ValueError that
    describes the expected form.

    >>> def uniform(observations, masks):
    ...     return masks / masks.sum(axis=1, keepdims=True), np.zeros(len(masks))
    >>> from pbm_agents import Search
    >>> search = Search(simulations=100, evaluator=uniform)  # wraps it by itself
    """

    gives_priors = True

    def __init__(
        self, function: PriorsAndValues, values: Literal["mover", "seat"] = "mover", game: Game | None = None
    ) -> None:
        """Make an evaluator that calls `function`.

        Args:
            function: A function from observations and masks to priors and values.
            values: The order of values (R, P). "mover": the player to move, the next one, and so on; "seat":
                `player_0`, `player_1`, and so on.
            game: The only game whose positions it evaluates. None accepts any game.
        """
        if not callable(function):
            raise ValueError(f"the evaluator is {quoted(function)}: expected a function of observations and masks")
        if values not in (MOVER, SEAT):
            raise ValueError(f"values is {quoted(values)}: expected {MOVER!r} or {SEAT!r}")
        self.function, self.values, self.game = function, values, game

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[Array, Array]:
        """Evaluate leaves (see `Evaluator`)."""
        if self.game is not None and game != self.game:
            raise ValueError(f"the evaluator is for positions of {self.game!r}, not of {game!r}")
        values = states["returns"].astype(np.float64)
        priors = np.zeros(masks.shape, np.float32)
        rows = np.flatnonzero(~states["done"])
        if len(rows):
            movers = states["to_move"][rows]
            observations = game.observe(game.view(states[rows], movers))
            given, given_values = _pair(self.function(observations, masks[rows]), len(rows), game)
            priors[rows] = _weights(_array("priors", given), masks[rows])
            values[rows] = self._by_seat(_array("values", given_values), movers, game.num_players)
        return priors, values

    def _by_seat(self, given: Array, movers: Array, players: int) -> Array:
        """Return (R, P) values in the order of the seats."""
        count = len(movers)
        if given.shape in ((count,), (count, 1)) and players == 2:
            own = given.reshape(count)
            first = np.where(movers == 0, own, -own)
            return np.stack([first, -first], axis=1)
        if given.shape != (count, players):
            raise ValueError(
                f"the evaluator's values have shape {given.shape}: expected {_value_shapes(count, players)}"
            )
        if self.values == SEAT:
            return given
        return given[np.arange(count)[:, None], (np.arange(players) - movers[:, None]) % players]


@final
class CheckedEvaluator:
    """A wrapper of a user's evaluator that checks its results and gives finished games their own returns."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator, self.gives_priors = evaluator, bool(evaluator.gives_priors)

    def __call__(
        self, game: Game, states: Array, masks: Array, seeds: Seeds, last_player_by_action: Array | None
    ) -> tuple[Array | None, Array]:
        """Evaluate leaves (see `Evaluator`)."""
        done, returns, count = states["done"].copy(), states["returns"].copy(), len(states)
        answer = self.evaluator(game, states, masks, seeds, last_player_by_action)
        given, given_values = _pair(answer, count, game)
        values = _array("values", given_values).astype(np.float64)
        if values.shape != (count, game.num_players):
            raise ValueError(f"the evaluator's values have shape {values.shape}: expected {(count, game.num_players)}")
        values[done] = returns[done]
        if not self.gives_priors:
            if given is not None:
                raise ValueError("the evaluator gave priors: expected None beside gives_priors = False")
            return None, values
        if given is None:
            raise ValueError("the evaluator's priors are None: expected an array, or gives_priors = False")
        priors, given = np.zeros(masks.shape, np.float32), _array("priors", given)
        if given.shape != masks.shape:
            raise ValueError(f"the evaluator's priors have shape {given.shape}: expected {masks.shape}")
        priors[~done] = _weights(given[~done], masks[~done])
        return priors, values


def as_evaluator(given: Evaluator | PriorsAndValues) -> Evaluator:
    """Return an evaluator, made from a plain function if necessary; raise ValueError if `given` is neither."""
    if isinstance(given, (Playouts, FunctionEvaluator, CheckedEvaluator)):
        return given
    if getattr(given, "answers_are_checked", False) and isinstance(given, Evaluator):
        return given  # an evaluator of this package
    if isinstance(given, type) or not callable(given):
        raise ValueError(
            f"evaluator is {quoted(given)}: expected a function of observations and masks, or an object with "
            "gives_priors and __call__ (pbm_agents.Evaluator)"
        )
    return CheckedEvaluator(given) if isinstance(given, Evaluator) else FunctionEvaluator(given)


def _pair(answer: Any, count: int, game: Game) -> tuple[Any, Any]:
    """Return the priors and the values of an evaluator's result."""
    if isinstance(answer, (tuple, list)) and len(answer) == 2:
        return answer[0], answer[1]
    shape = getattr(answer, "shape", None)
    what = f"{len(answer)} things" if isinstance(answer, (tuple, list)) else type(answer).__name__
    if shape is not None:
        what += f" of shape {tuple(shape)}"
    raise ValueError(
        f"the evaluator gave {what}: expected a pair of priors {(count, game.num_actions)} and values "
        f"{_value_shapes(count, game.num_players)}"
    )


def _value_shapes(count: int, players: int) -> str:
    return f"({count}, {players})" + f" or ({count},)" * (players == 2)


def as_array(subject: str, given: Any) -> Array:
    """Return a result as an array; if NumPy cannot read it, raise an error that begins with `subject`."""
    try:
        return np.asarray(given)
    except Exception as error:  # PyTorch: RuntimeError or TypeError; JAX: an error of its own
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"{subject} {type(given).__name__}: expected an array, or what NumPy can read, such as a tensor on the CPU "
            f"without gradients, tensor.detach().cpu() ({reason})"
        ) from error


def _array(name: str, given: Any) -> Array:
    """Return priors or values as an array of numbers; values must be finite."""
    array = as_array(f"the evaluator's {name} are", given)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"the evaluator's {name} are {array.dtype} {array.shape}: expected an array of numbers")
    if name == "values" and not np.isfinite(array).all():
        raise ValueError("the evaluator's values: expected finite numbers")
    return array


def _weights(given: Array, masks: Array) -> Array:
    """Return priors that sum to 1 over the legal actions. Others keep theirs: they may be legal in other worlds."""
    if given.shape != masks.shape:
        raise ValueError(f"the evaluator's priors have shape {given.shape}: expected {masks.shape}")
    sums = np.where(masks, given, 0).sum(axis=1, keepdims=True, dtype=np.float64)
    if not (np.all(given >= 0) and np.all(sums > 0) and np.isfinite(sums).all()):
        raise ValueError("the evaluator's priors: expected numbers from 0 up, not all 0 where actions are legal")
    return given / sums
