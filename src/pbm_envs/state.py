"""State records: the fields that every game has, and what can be done with a record whatever the game."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .kernels import kernel

States = NDArray[np.void]
Record = np.void
Mask = NDArray[np.bool_]
Ints = NDArray[np.integer[Any]]
Planes = NDArray[np.int8]
Rng = np.random.Generator

INT64 = np.dtype(np.int64)
NOBODY = -1
"""No player: the viewer of a full state, the owner of an empty cell, Black before the contract."""
NO_ACTION = -1
"""`last_action` before the first ply."""
EMPTY = 0
"""A cell without a stone or piece."""


def common_fields(players: int) -> list[Any]:
    """The fields that every state of every game has.

    `returns` is zero until `done`, except for a player who has resigned (A2).
    """
    return [
        ("returns", "f4", (players,)),
        ("ply", "i4"),
        ("last_action", "i4"),
        ("to_move", "i1"),
        ("viewer", "i1"),
        ("done", "?"),
        ("truncated", "?"),
    ]


def one(record: States | Record) -> Record:
    """The record itself, or the only one of a batch."""
    if isinstance(record, np.ndarray):
        if record.shape != (1,):
            raise ValueError(f"expected one record or a batch of one, not shape {record.shape}")
        return cast(Record, record[0])
    return record


def whole(states: States) -> States:
    """The same records without their fields, which NumPy otherwise copies one by one."""
    return states.view(np.dtype((np.void, states.dtype.itemsize)))


def copied(states: States) -> States:
    """`states.copy()`, but faster."""
    return whole(states).copy().view(states.dtype)


def taken(states: States, rows: NDArray[np.integer[Any]]) -> States:
    """`states[rows]`, but faster."""
    return whole(states)[rows].view(states.dtype)


@kernel
def copy_batch(states: States, views: States) -> None:
    for i in range(len(states)):
        viewer = views[i]["viewer"]
        views[i] = states[i]
        views[i]["viewer"] = viewer


@kernel
def any_view(viewers: Ints) -> bool:
    """Is one of the records with these `viewer` a view?"""
    for viewer in viewers:  # noqa: SIM110  Numba knows no any()
        if viewer != NOBODY:
            return True
    return False


@kernel
def win(state: Record, agent: int) -> None:
    """End a game of two in favour of `agent` (A1)."""
    state["returns"][agent] = 1
    state["returns"][1 - agent] = -1
    state["done"] = True


@kernel
def concede(state: Record) -> None:
    """The player to move resigns a game of two (A2)."""
    win(state, 1 - state["to_move"])
    state["to_move"] = 1 - state["to_move"]
    state["ply"] += 1
