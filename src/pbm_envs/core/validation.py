"""Checks of what a game's methods are given, and positions in words.

Each check raises a ValueError that names the given value and what is accepted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .checks import check_writable, quoted, to_array
from .hooks import GameHooks
from .scene import Seat
from .state import INT8, INT64, NO_ACTION, NOBODY, Ints, Record, States, single_record

SHOWN = 100
"""The maximum number of characters of a value in an error."""


class InvalidStateError(ValueError):
    """Raised for a record that is not a state or view of its game; names its `row` and the invalid `field`."""

    def __init__(self, row: int, field: str, given: Any, expected: str) -> None:
        super().__init__(row, field, given, expected)  # the arguments that pickling keeps
        self.row, self.field = row, field

    def __str__(self) -> str:
        row, field, given, expected = self.args
        return f"row {row}, field {field!r} is {str(given)[:SHOWN]}: expected {expected}"


def expect(good: Any, states: States, field: str, expected: str) -> None:
    """Raise InvalidStateError for the first row that is not `good`; `good` has one or more bools per row."""
    rows = np.asarray(good).reshape(len(states), -1).all(axis=1)
    if not rows.all():
        row = int(rows.argmin())
        raise InvalidStateError(row, field, states[field][row].tolist(), expected)


def expect_range(states: States, field: str, low: int, high: int) -> None:
    """Expect integers from `low` to `high` in a field."""
    values = states[field]
    expect((values >= low) & (values <= high), states, field, f"integers from {low} to {high}")


def expect_flag(states: States, field: str) -> None:
    """Expect True or False in a field, as bytes 1 or 0."""
    values = np.ascontiguousarray(states[field]).view(np.uint8)
    expect(values.reshape(len(states), -1) <= 1, states, field, "True or False")


def check_game(game: GameHooks) -> None:
    """Raise ValueError unless `game` is a game."""
    if not isinstance(game, GameHooks):
        raise ValueError(f"game is {quoted(game)}: expected a game, such as pbm_envs.Chameleon(size=7)")


def validate_common_fields(game: GameHooks, states: States) -> None:
    """Raise InvalidStateError unless the fields common to all games are valid."""
    for field in ("done", "truncated"):
        expect_flag(states, field)
    expect_range(states, "to_move", 0, game.num_players - 1)
    expect_range(states, "viewer", NOBODY, game.num_players - 1)
    expect_range(states, "ply", 0, min(game.max_plies + game.num_players, np.iinfo(np.int32).max - 1))
    expect_range(states, "last_action", NO_ACTION, game.num_actions - 1)
    expect(np.isfinite(states["returns"]), states, "returns", "finite numbers")
    expect(states["done"] | ~states["truncated"], states, "truncated", "False while the game goes on")


def check_states(game: GameHooks, states: States) -> None:
    """Check a batch (B,) of states or views of a game."""
    if type(states) is np.ndarray and states.dtype is game.dtype and states.ndim == 1:
        return  # fast path
    if not isinstance(states, np.ndarray) or states.ndim != 1 or states.dtype != game.dtype:
        raise ValueError(
            f"{game!r} was given {_kind(states)}: expected a batch (B,) of its own dtype, as init makes it"
        )


def check_same_games(game: GameHooks, starts: States, views: States) -> None:
    """Check two batches of the same number of games."""
    check_states(game, starts)
    check_states(game, views)
    if starts.shape != views.shape:
        raise ValueError(f"starts are {len(starts)} and views {len(views)}: expected as many")


def to_record(game: GameHooks, given: States | Record) -> Record:
    """Return a record: the argument itself, or the only record of a batch."""
    record = single_record(given)
    if not isinstance(record, np.void) or record.dtype != game.dtype:
        raise ValueError(f"{game!r} was given {_kind(record)}: expected a record of its own dtype, or a batch of one")
    return record


def to_actions(given: ArrayLike, states: States) -> Ints:
    """Return (B,) int64 actions, one for each game."""
    if type(given) is np.ndarray and given.dtype is INT64 and given.shape == states.shape:
        return given  # fast path
    actions = to_array("actions", given, "integers, one for each game")
    if actions.shape != states.shape or (actions.dtype.kind not in "iu" and actions.size):  # np.asarray([]) is float64
        raise ValueError(
            f"actions are {actions.dtype} {actions.shape}: expected integers {states.shape}, one for each game"
        )
    return actions.astype(INT64, copy=False)


def check_players(game: GameHooks, given: int | ArrayLike, states: States) -> None:
    """Check players, given as one per state or one for all."""
    count = game.num_players
    if type(given) is int:
        known = 0 <= given < count
    elif type(given) is np.ndarray and given.dtype is INT8 and given.shape == states.shape:
        known = bool(given.view(np.uint8).max(initial=0) < count)  # fast path
    else:
        players = to_array("players", given, f"integers in 0..{count - 1}")
        fits = players.dtype.kind in "iu" and players.shape in ((), states.shape)
        known = fits and bool(players.astype(np.uint64).max(initial=0) < count)
    if not known:
        raise ValueError(
            f"players are {quoted(given)}: expected integers in 0..{count - 1}, one for each game or one for all"
        )


def output(out: Any, dtype: Any, shape: tuple[int, ...], states: States) -> Any:
    """Return `out` after checking it, or a new array."""
    if out is None:
        return np.empty(shape, dtype)
    check_out("out", out, dtype, shape, states)
    return out


def check_out(name: str, out: Any, dtype: Any, shape: tuple[int, ...], states: States) -> None:
    """Check a contiguous output array. It must not overlap `states`, which kernels read while they write."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous:
        raise ValueError(f"{name} is {_kind(out)}: expected contiguous {np.dtype(dtype)} {shape}")
    check_writable(name, out)
    owners = out is not states and out.base is None and states.base is None  # each owns its memory: fast path
    if not owners and np.may_share_memory(out, states):
        raise ValueError(f"{name} shares memory with the states: expected an array of its own")


def check_playout_option(game: GameHooks, option: str) -> None:
    """Check that playouts of a game support this option."""
    if option not in game.playout_options:
        known = ", ".join(sorted(game.playout_options)) or "none"
        raise ValueError(f"playouts of {game!r} have no option {option}: expected some of: {known}")


def _kind(given: Any) -> str:
    """Describe a value for an error: its dtype and shape, if it has them."""
    if isinstance(given, (np.ndarray, np.void)):
        names = given.dtype.names
        kind = str(given.dtype) if names is None else f"a record of {len(names)} fields, {given.dtype.itemsize} bytes"
        return f"{kind}, shape {given.shape}"
    return quoted(given)


LISTED = 8
"""The maximum number of legal moves that an error lists."""


def seat(game: GameHooks, view: Record, player: int) -> Seat:
    """Return the description of a player in a picture."""
    return Seat(
        title=game.role(view, player),
        name=f"player_{player}",
        active=not view["done"] and int(view["to_move"]) == player,
        won=bool(view["done"]) and winner_of(view) == player,
    )


def winner_of(view: Record) -> int:
    """Return the only player with the greatest return in a finished game; NOBODY if there is a tie."""
    best = np.flatnonzero(view["returns"] == view["returns"].max())
    return int(best[0]) if len(best) == 1 else NOBODY


def status(game: GameHooks, view: Record) -> str:
    """Return the last move, and the player to move or the result of the game."""
    named = [
        f"player_{player}" + f" ({role})" * bool(role)
        for player in range(game.num_players)
        for role in [game.role(view, player)]
    ]
    if view["truncated"]:
        ending = "drawn by the ply limit"
    elif not view["done"]:
        ending = f"{named[view['to_move']]} to move"
    else:
        winner = winner_of(view)
        ending = "drawn" if winner == NOBODY else f"{named[winner]} has won"
    last = "" if view["last_action"] == NO_ACTION else f", last move {game.notation.write(view['last_action'])}"
    return f"ply {view['ply']}{last} - {ending}"


def why_illegal(game: GameHooks, state: States, row: int, action: int) -> str:
    """Return the error text for an illegal action in `state`, a batch of one that was row `row` of the caller's."""
    if state["viewer"][0] != NOBODY:
        return f"row {row} is a view: determinize it first, or step the state it was taken from"
    if not 0 <= action < game.num_actions:
        return f"row {row}: action {action} does not exist: expected 0..{game.num_actions - 1}"
    mask = np.empty((1, game.num_actions), np.bool_)
    game._legal_action_mask(state, mask)
    legal = [game.notation.write(int(a)) for a in np.flatnonzero(mask)]
    if not legal:
        return f"row {row}: {game._why_endless(state)}"
    some = ", ".join(legal[:LISTED]) + (", ..." if len(legal) > LISTED else "")
    return f"row {row}: {game.notation.write(action)!r} is illegal here: expected one of {len(legal)} ({some})"
