"""How many simulations of a position at the same time pay, for an evaluator: measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

WIDTHS = (4, 8, 16, 32)
WAVES = 8
"""In which the time of a width is measured, twice."""
GAIN = 1.2
"""Twice the width pays if there are so many times as many simulations a second."""
LEAST_WAVES = 8
"""That the budget must have room for, at widths above the default."""

_wave_seconds: WeakKeyDictionary[Any, dict[tuple[str, int], float]] = WeakKeyDictionary()
"""What was measured in this process, by evaluator, game and width."""


def width_that_pays(
    evaluator: Any, game: str, budget: float, measure: Callable[[int], float | None], default: int
) -> int:
    """The least of WIDTHS twice which does not pay.

    Args:
        evaluator: Whatever evaluates leaves.
        game: Which game; what was measured for it is remembered as long as the evaluator lives.
        budget: Seconds of a search.
        measure: The seconds of a wave of this width; None if it cannot be measured.
        default: What is used if nothing can be measured or remembered.
    """
    try:
        known = _wave_seconds.setdefault(evaluator, {})
    except TypeError:  # cannot be hashed, or not be referred to weakly
        return default
    best: int | None = None
    for width in WIDTHS:
        seconds = known.get((game, width))
        if seconds is None:
            seconds = measure(width)
            if seconds is None:
                break
            known[game, width] = seconds
        if best is not None:
            short = width > default and budget < LEAST_WAVES * seconds
            if short or width / seconds < GAIN * best / known[game, best]:
                return best
        best = width
    return best or default
