"""Checks of options and settings: a ValueError that says what was given and what is expected."""

from __future__ import annotations

import numpy as np


def check_range(name: str, value: int, low: int, high: int) -> None:
    """An option that is a number, or ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise ValueError(f"{name} is {value!r}: expected an integer from {low} to {high}")


def check_flag(name: str, value: bool) -> None:
    """An option that is on or off, or ValueError."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {value!r}: expected True or False")
