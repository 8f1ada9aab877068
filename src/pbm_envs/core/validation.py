"""Are records, whoever wrote them, states or views of a game? What kernels would otherwise trust."""

from __future__ import annotations

from typing import Any

import numpy as np

from .hooks import GameHooks
from .state import NO_ACTION, NOBODY
from .types import States

SHOWN = 100
"""The largest number of characters of a value in an error."""


class InvalidStateError(ValueError):
    """A record that is no state or view of its game; `row` and `field` say where."""

    def __init__(self, row: int, field: str, given: Any, expected: str) -> None:
        """Say what was given, and what was expected."""
        super().__init__(f"row {row}, field {field!r} is {str(given)[:SHOWN]}: expected {expected}")
        self.row = row
        self.field = field
        self._arguments = row, field, given, expected

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


def expect(good: Any, states: States, field: str, expected: str) -> None:
    """InvalidStateError for the first row that is not `good`, a bool for each row, or several."""
    rows = np.asarray(good).reshape(len(states), -1).all(axis=1)
    if not rows.all():
        row = int(rows.argmin())
        raise InvalidStateError(row, field, states[field][row].tolist(), expected)


def expect_range(states: States, field: str, low: int, high: int) -> None:
    """Integers from `low` to `high` in a field."""
    values = states[field]
    expect((values >= low) & (values <= high), states, field, f"integers from {low} to {high}")


def expect_flag(states: States, field: str) -> None:
    """True or False in a field: no other byte than 1 or 0."""
    values = np.ascontiguousarray(states[field]).view(np.uint8)
    expect(values.reshape(len(states), -1) <= 1, states, field, "True or False")


def validate_common_fields(game: GameHooks, states: States) -> None:
    """The fields that every game has."""
    for field in ("done", "truncated"):
        expect_flag(states, field)
    expect_range(states, "to_move", 0, game.num_players - 1)
    expect_range(states, "viewer", NOBODY, game.num_players - 1)
    expect_range(states, "ply", 0, min(game.max_plies + game.num_players, np.iinfo(np.int32).max - 1))
    expect_range(states, "last_action", NO_ACTION, game.num_actions - 1)
    expect(np.isfinite(states["returns"]), states, "returns", "finite numbers")
    expect(states["done"] | ~states["truncated"], states, "truncated", "False while the game goes on")
