"""Checks of options and settings: a ValueError that says what was given and what is expected."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .printable import quoted


def check_range(
    name: str, value: int, low: float | None, high: float | None = None, expected: str | None = None
) -> None:
    """An integer from `low` to `high` (None: no bound), or ValueError; `expected` replaces the text of the range."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, np.integer))
        or (low is not None and value < low)
        or (high is not None and value > high)
    ):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected or integers(low, high)}")


def check_number(
    name: str, value: float, low: float | None, high: float | None = None, expected: str | None = None
) -> None:
    """A finite number from `low` to `high` (None: no bound), with or without decimals, or ValueError."""
    lowest, highest = (-sys.float_info.max if low is None else low), (sys.float_info.max if high is None else high)
    if (
        isinstance(value, (bool, np.bool_))
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not lowest <= value <= highest  # nan is not either
    ):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected or numbers(low, high)}")


def check_flag(name: str, value: bool, expected: str = "True or False") -> None:
    """An option that is on or off, or ValueError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected}")


def integers(low: float | None, high: float | None) -> str:
    """Return the name of a range of integers, for errors."""
    if low is None:
        return "an integer"
    return f"an integer from {low} {'up' if high is None else f'to {high}'}"


def numbers(low: float | None, high: float | None) -> str:
    """Return the name of a range of numbers, for errors."""
    if low is None:
        return "a finite number"
    return f"a finite number from {low:g} up" if high is None else f"a number from {low:g} to {high:g}"


def check_path(name: str, value: str | Path) -> None:
    """What can be the name of a file, or ValueError."""
    if not isinstance(value, (str, Path)) or "\0" in str(value) or not str(value).isprintable():
        raise ValueError(f"{name} is {quoted(value)}: expected the name of a file")


def check_seed(name: str, value: int | None) -> None:
    """What a random generator begins with: None or an integer from 0 up, or ValueError. NumPy takes nested lists too,
    whose depth can end the process.
    """
    if value is not None:
        check_range(name, value, 0)


def to_options(given: Any) -> dict[str, Any]:
    """A copy of the options of a reset, a mapping or None; ValueError for anything else."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"options are {quoted(given)}: expected a mapping from names to values, or None")
    return dict(given)


def to_array(name: str, given: Any, expected: str) -> NDArray[Any]:
    """An array of whatever NumPy makes one of; ValueError for a ragged list and the like."""
    try:
        return np.asarray(given)
    except Exception:  # objects bring their own ways to fail
        raise ValueError(f"{name}: {quoted(given)}: expected {expected}") from None


def check_writable(name: str, array: NDArray[Any]) -> None:
    """ValueError for an array that may not be written to: kernels would do it all the same, and a memory map that is
    read-only ends the process then.
    """
    if not array.flags.writeable:
        raise ValueError(f"{name} is a read-only array: expected one that can be changed, such as {name}.copy()")
