"""Checks of options, settings and arguments. Each raises a ValueError that names the given and the expected value."""

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
    """Check for an integer from `low` to `high` (None: no bound); `expected` replaces the text of the range."""
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
    """Check for a finite number from `low` to `high` (None: no bound), with or without decimals."""
    lowest, highest = (-sys.float_info.max if low is None else low), (sys.float_info.max if high is None else high)
    if (
        isinstance(value, (bool, np.bool_))
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not lowest <= value <= highest  # nan is not either
    ):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected or numbers(low, high)}")


def check_flag(name: str, value: bool, expected: str = "True or False") -> None:
    """Check for True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected}")


def integers(low: float | None, high: float | None) -> str:
    """Return the description of a range of integers, for errors."""
    if low is None:
        return "an integer"
    return f"an integer from {low} {'up' if high is None else f'to {high}'}"


def numbers(low: float | None, high: float | None) -> str:
    """Return the description of a range of numbers, for errors."""
    if low is None:
        return "a finite number"
    return f"a finite number from {low:g} up" if high is None else f"a number from {low:g} to {high:g}"


def check_path(name: str, value: str | Path) -> None:
    """Check for a valid file name."""
    if not isinstance(value, (str, Path)) or "\0" in str(value) or not str(value).isprintable():
        raise ValueError(f"{name} is {quoted(value)}: expected the name of a file")


def check_seed(name: str, value: int | None) -> None:
    """Check for a seed: None or an integer >= 0 (NumPy also accepts nested lists, which can crash the process)."""
    if value is not None:
        check_range(name, value, 0)


def to_options(given: Any) -> dict[str, Any]:
    """Return a copy of the options of a reset, given as a mapping or None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"options are {quoted(given)}: expected a mapping from names to values, or None")
    return dict(given)


def to_array(name: str, given: Any, expected: str) -> NDArray[Any]:
    """Return the value as an array; raise ValueError if NumPy cannot convert it, such as a ragged list."""
    try:
        return np.asarray(given)
    except Exception:  # objects can raise anything
        raise ValueError(f"{name}: {quoted(given)}: expected {expected}") from None


def check_writable(name: str, array: NDArray[Any]) -> None:
    """Check that an array is writable: kernels do not check, and writing to a read-only memory map ends the process."""
    if not array.flags.writeable:
        raise ValueError(f"{name} is a read-only array: expected one that can be changed, such as {name}.copy()")
