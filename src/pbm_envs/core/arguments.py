"""What the methods of a game are given: checks of batches, records and arrays to write to.

Each raises a ValueError that says what was given and what was expected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .checks import check_writable, to_array
from .hooks import GameHooks
from .printable import quoted
from .state import INT64, single_record
from .types import Ints, Record, States


class ArgumentChecks(GameHooks):
    """The part of `Game` that checks arguments, before a hook is called."""

    def _check(self, states: States) -> None:
        if type(states) is np.ndarray and states.dtype is self.dtype and states.ndim == 1:
            return  # the usual case, fast
        if not isinstance(states, np.ndarray) or states.ndim != 1 or states.dtype != self.dtype:
            raise ValueError(
                f"{self!r} was given {_kind(states)}: expected a batch (B,) of its own dtype, as init makes it"
            )

    def _check_same_games(self, starts: States, views: States) -> None:
        self._check(starts)
        self._check(views)
        if starts.shape != views.shape:
            raise ValueError(f"starts are {len(starts)} and views {len(views)}: expected as many")

    def _to_actions(self, given: ArrayLike, states: States) -> Ints:
        """(B,) int64 actions, one for each game."""
        actions = to_array("actions", given, "integers, one for each game")
        if actions.shape != states.shape or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions are {actions.dtype} {actions.shape}: expected integers {states.shape}, one for each game"
            )
        return actions.astype(INT64, copy=False)

    def _are_players(self, given: int | ArrayLike, states: States) -> bool:
        """Whether these are players of this game: one for each state, or one for all."""
        players = to_array("players", given, f"integers in 0..{self.num_players - 1}")
        return (
            players.dtype.kind in "iu"
            and players.shape in ((), states.shape)
            and bool(players.astype(np.uint64).max(initial=0) < self.num_players)
        )

    def _record(self, given: States | Record) -> Record:
        """A record, or the only one of a batch; ValueError for anything else."""
        record = single_record(given)
        if not isinstance(record, np.void) or record.dtype != self.dtype:
            raise ValueError(
                f"{self!r} was given {_kind(record)}: expected a record of its own dtype, or a batch of one"
            )
        return record

    @staticmethod
    def _result(out: Any, dtype: type, shape: tuple[int, ...]) -> Any:
        """`out`, or an array to fill."""
        if out is None:
            return np.empty(shape, dtype)
        if type(out) is np.ndarray and out.shape == shape and out.dtype == dtype and out.flags.carray:
            return out  # the usual case, fast
        if not isinstance(out, np.ndarray):
            raise ValueError(f"out is {quoted(out)}: expected an array, contiguous {np.dtype(dtype)} {shape}")
        if out.shape != shape or out.dtype != dtype or not out.flags.c_contiguous:
            raise ValueError(f"out is {out.dtype} {out.shape}: expected contiguous {np.dtype(dtype)} {shape}")
        check_writable("out", out)
        return out

    def _check_playout_option(self, option: str, wanted: bool) -> None:
        if wanted and option not in self.playout_options:
            known = ", ".join(sorted(self.playout_options)) or "none"
            raise ValueError(f"playouts of {self!r} have no option {option}: expected some of: {known}")

    def _check_last_players(self, given: Any, count: int) -> None:
        """ValueError unless playouts can write there who played each action last."""
        if not isinstance(given, np.ndarray):
            raise ValueError(
                f"last_player_by_action is {quoted(given)}: expected an array, int8 {(count, self.num_actions)}"
            )
        if given.shape != (count, self.num_actions) or given.dtype != np.int8:
            raise ValueError(
                f"last_player_by_action is {given.dtype} {given.shape}: expected int8 {(count, self.num_actions)}"
            )
        check_writable("last_player_by_action", given)


def _kind(given: Any) -> str:
    """What something is, for an error: its dtype and shape, if it has them."""
    if isinstance(given, (np.ndarray, np.void)):
        names = given.dtype.names
        kind = str(given.dtype) if names is None else f"a record of {len(names)} fields, {given.dtype.itemsize} bytes"
        return f"{kind}, shape {given.shape}"
    return quoted(given)
