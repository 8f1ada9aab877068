"""State records: the fields common to all games, operations on records of any game, and types for annotations.

Docstrings give the shapes of arrays, as `core.game` explains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .checks import check_range, quoted
from .kernels import stack_kernel

Array: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Planes: TypeAlias = NDArray[np.int8]
"""One or more observations: the last axes are (rows, cols, planes)."""
States: TypeAlias = NDArray[np.void]
"""(B,) records of a game: full states or views."""
Record: TypeAlias = np.void
"""One record."""
Rng: TypeAlias = np.random.Generator
Seeds: TypeAlias = NDArray[np.uint64]
"""(B,) random streams, one per row, advanced in place: see `core.randomness`."""
Tables: TypeAlias = tuple[Any, ...]
"""Arrays and numbers passed to the kernels of a game: its geometry and settings."""
INT8, INT64 = np.dtype(np.int8), np.dtype(np.int64)
NOBODY = -1
"""The number for no player: the viewer of a full state, the owner of an empty cell, Black before the contract."""
NO_ACTION = -1
"""The value of `last_action` before the first ply."""
EMPTY = 0
"""The value of a cell without a stone or piece."""


def state_dtype(num_players: int, fields: Sequence[Any]) -> np.dtype[np.void]:
    """Return the dtype of a game's records: the fields common to all games, then `fields` in NumPy's form.

    >>> state_dtype(2, [("stones", "i1", (9,))])["stones"].shape
    (9,)
    """
    check_range("num_players", num_players, 2, 127)
    return np.dtype([*common_fields(num_players), *fields], align=True)


def check_state_dtype(dtype: np.dtype[np.void], num_players: int) -> None:
    """Check for a dtype of records as `state_dtype` makes it: the common fields, and no Python objects."""
    wanted = state_dtype(num_players, [])
    fields = getattr(dtype, "fields", None) or {}
    wrong = [name for name in wanted.names or () if name not in fields or fields[name][0] != wanted[name]]
    wrong += [name for name, field in fields.items() if field[0].hasobject]
    if wrong:
        raise ValueError(
            f"field {wrong[0]!r} of dtype is {quoted(fields[wrong[0]][0]) if wrong[0] in fields else 'missing'}: "
            f"expected state_dtype({num_players}, fields), with fields of numbers"
        )


def common_fields(players: int) -> list[Any]:
    """Return the fields common to all games; `returns` is 0 until `done`, except after resigning (A2)."""
    fields = [("ply", "i4"), ("last_action", "i4"), ("to_move", "i1"), ("viewer", "i1")]
    return [("returns", "f4", (players,)), *fields, ("done", "?"), ("truncated", "?")]


def single_record(record: States | Record) -> Record:
    """Return the record itself, or the only record of a batch."""
    if isinstance(record, np.ndarray):
        if record.shape != (1,):
            raise ValueError(f"expected one record or a batch of one, not shape {record.shape}")
        return cast(Record, record[0])
    return record


def as_bytes(states: States) -> States:
    """Return the same records as raw bytes; NumPy copies these faster than records with fields."""
    return states.view(np.dtype((np.void, states.dtype.itemsize)))


def copy_states(states: States) -> States:
    """Return the same as `states.copy()`, but faster."""
    return as_bytes(states).copy().view(states.dtype)


def take_rows(states: States, rows: Ints) -> States:
    """Return the same as `states[rows]` for integer rows, but faster."""
    return as_bytes(states).take(rows).view(states.dtype)


def in_parts(hook: Callable[..., None], most: int, *arrays: Any) -> None:
    """Call a hook with batches of equal length, `most` rows at a time."""
    count = len(arrays[0])
    if count <= most:
        hook(*arrays)
        return
    for first in range(0, count, most):
        hook(*(array[first : first + most] for array in arrays))


@stack_kernel
def copy_batch(states: States, views: States) -> None:
    for i in range(len(states)):
        viewer = views[i]["viewer"]
        views[i] = states[i]
        views[i]["viewer"] = viewer


@stack_kernel
def any_view(states: States) -> bool:
    """Return whether one of these records is a view."""
    for i in range(len(states)):  # noqa: SIM110  Numba knows no any()
        if states[i]["viewer"] != NOBODY:
            return True
    return False


@stack_kernel
def is_live(state: Record) -> bool:
    """Return whether the game is not over."""
    return not state["done"]


@stack_kernel
def shows_mask(state: Record) -> bool:
    """Return whether the mask has legal actions: not in finished games, nor in views of players not to move."""
    return not state["done"] and (state["viewer"] == NOBODY or state["viewer"] == state["to_move"])


@stack_kernel
def begin_ply(state: Record, action: int) -> int:
    """Count the ply, record the action and pass the turn to the next player; return the player who moves."""
    mover = int(state["to_move"])
    state["ply"] += 1
    state["last_action"] = action
    state["to_move"] = (mover + 1) % len(state["returns"])
    return mover


@stack_kernel
def end_in_draw(state: Record) -> None:
    """End the game with a return of 0 for everyone (A1)."""
    state["done"] = True


@stack_kernel
def win(state: Record, agent: int) -> None:
    """End a two-player game as a win for `agent` (A1)."""
    state["returns"][agent] = 1
    state["returns"][1 - agent] = -1
    state["done"] = True


@stack_kernel
def concede(state: Record) -> None:
    """End a two-player game by the resignation of the player to move (A2)."""
    win(state, 1 - state["to_move"])
    state["to_move"] = 1 - state["to_move"]
    state["ply"] += 1
