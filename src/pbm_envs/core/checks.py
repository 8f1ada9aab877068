"""Checks of options and settings: a ValueError that says what was given and what is expected."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_range(name: str, value: int, low: int, high: int | None = None) -> None:
    """An integer from `low` to `high` (None: however large), or ValueError."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, np.integer))
        or value < low
        or (high is not None and value > high)
    ):
        raise ValueError(
            f"{name} is {value!r}: expected an integer from {low} {'up' if high is None else f'to {high}'}"
        )


def check_number(name: str, value: float, low: float, high: float | None = None) -> None:
    """A number from `low` to `high` (None: however large, but finite), with or without decimals, or ValueError."""
    expected = f"a finite number from {low:g} up" if high is None else f"a number from {low:g} to {high:g}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(f"{name} is {value!r}: expected {expected}")
    if not low <= value <= (np.finfo(np.float64).max if high is None else high):  # nan is not either
        raise ValueError(f"{name} is {value!r}: expected {expected}")


def check_flag(name: str, value: bool) -> None:
    """An option that is on or off, or ValueError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {value!r}: expected True or False")


def check_writable(name: str, array: np.ndarray[Any, Any]) -> None:
    """ValueError for an array that may not be written to: kernels would do it all the same, and a memory map that is
    read-only ends the process then.
    """
    if not array.flags.writeable:
        raise ValueError(f"{name} is a read-only array: expected one that can be changed, such as {name}.copy()")
