"""How many simulations of a position at the same time pay, for an evaluator: measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

COUNTS = (4, 8, 16, 32)
WAVES = 8
"""Waves in which the time of a count is measured, twice."""
GAIN = 1.2
"""Twice as many simulations at the same time pay if they make so many times as many per second."""
LEAST_WAVES = 8
"""Waves that the budget must have room for, with more simulations at the same time than the default."""

_wave_seconds: WeakKeyDictionary[Any, dict[tuple[str, int], float]] = WeakKeyDictionary()
"""What was measured in this process, by evaluator, game and count."""


def parallel_simulations_that_pay(
    evaluator: Any, game: str, budget: float, measure: Callable[[int], float | None], default: int
) -> int:
    """Return the least of COUNTS twice which does not pay.

    Args:
        evaluator: Whatever evaluates leaves.
        game: Which game; what was measured for it is remembered as long as the evaluator lives.
        budget: Seconds of a search.
        measure: Returns the seconds of a wave of so many simulations; None if that cannot be measured.
        default: What is used if nothing can be measured or remembered.
    """
    try:
        known = _wave_seconds.setdefault(evaluator, {})
    except TypeError:  # cannot be hashed, or not be referred to weakly
        return default
    best: int | None = None
    for count in COUNTS:
        seconds = known.get((game, count))
        if seconds is None:
            seconds = measure(count)
            if seconds is None:
                break
            known[game, count] = seconds
        if best is not None:
            short = count > default and budget < LEAST_WAVES * seconds
            if short or count / seconds < GAIN * best / known[game, best]:
                return best
        best = count
    return best or default
