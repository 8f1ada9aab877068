"""The likelihood ratio behind the sequential test: how well two expected scores explain what has been counted.

The counts are those of a multinomial distribution over a few values, such as the five scores that two games from one
opening can have (0, 1/4, 1/2, 3/4, 1: the pentanomial distribution). Nothing is assumed about how likely each is: under
a hypothesis, which names the mean alone, the probabilities are those of maximum likelihood with that mean (Owen's
empirical likelihood; Van den Bergh, "Comparing the approximations for the generalized log likelihood ratio of a
multinomial distribution"). So draws, the seats' advantage and the games of one opening being alike need no model: they
are in the counts. The share p(x) of a value x becomes p(x) / (1 + theta (x - mean)), with the theta that gives the
mean; the same as in fastchess and OpenBench.

    Shapes: K values.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pbm_envs.core.kernels import kernel

Array = NDArray[np.float64]

LEAST = 1e-3
"""Taken for a count of 0, so that every mean between the smallest and the greatest value stays possible."""
STEPS, CLOSE = 60, 1e-12
"""Of Newton's method: how many, and the last that matters."""
EDGE = 1e-12


def log_likelihood_ratio(counts: ArrayLike, values: ArrayLike, low: float, high: float) -> float:
    """How much better the mean `high` explains `counts` than the mean `low` does: the logarithm of the ratio.

    Args:
        counts: (K,) how often each value was seen.
        values: (K,) the values, in ascending order.
        low: The mean under the null hypothesis, strictly between the smallest and the greatest value.
        high: The mean under the alternative, likewise.

    Raises:
        ValueError: A mean that no distribution over the values has.

    >>> round(log_likelihood_ratio([10, 20, 40, 25, 15], [0, 0.25, 0.5, 0.75, 1], 0.5, 0.55), 2)
    0.61
    """
    counted, points = np.asarray(counts, np.float64), np.asarray(values, np.float64)
    for name, mean in (("low", low), ("high", high)):
        if not points[0] < mean < points[-1]:
            raise ValueError(f"{name} is {mean}: expected a mean between {points[0]} and {points[-1]}")
    return float(log_tilt(counted, points, low) - log_tilt(counted, points, high))


@kernel
def log_tilt(counts: Array, values: Array, mean: float) -> float:
    """The sum of counts * log(1 + theta * (values - mean)): how much the hypothesis `mean` costs the likelihood."""
    low, high, theta = -(1 - EDGE) / (values[-1] - mean), (1 - EDGE) / (mean - values[0]), 0.0
    reach = max(values[-1] - mean, mean - values[0])
    for _ in range(STEPS):  # Newton's method, and bisection where it would leave the interval
        pull, slope = 0.0, 0.0
        for k in range(len(counts)):
            excess = values[k] - mean
            tilted = excess / (1 + theta * excess)
            pull += max(counts[k], LEAST) * tilted
            slope += max(counts[k], LEAST) * tilted * tilted
        if pull > 0:
            low = theta
        else:
            high = theta
        following = theta + pull / slope
        if not low < following < high:
            following = (low + high) / 2
        moved = abs(following - theta)
        theta = following
        if moved * reach <= CLOSE:
            break
    total = 0.0
    for k in range(len(counts)):
        total += max(counts[k], LEAST) * np.log(1 + theta * (values[k] - mean))
    return total


def expected_score(elo: float, players: int) -> float:
    """The mean score, over all seatings of two agents, of the one that is `elo` stronger, by Luce's model.

    Two players: Elo's curve. Three: in half of the seatings the agent has two seats, with chance 2r / (2r + 1) of the
    win, in half one, with r / (r + 2), where r = 10 ** (elo / 400).

    >>> round(expected_score(100, 2), 3), round(expected_score(0, 3), 3), round(expected_score(100, 3), 3)
    (0.64, 0.5, 0.626)
    """
    strength = 10 ** (elo / 400)
    seats = [sum(row) for row in product((0, 1), repeat=players) if 0 < sum(row) < players]
    return sum(k * strength / (k * strength + players - k) for k in seats) / len(seats)


def elo_of_score(score: float, players: int, limit: float = 2000.0) -> float:
    """The strength that `expected_score` turns into `score`, at most `limit` either way.

    >>> round(elo_of_score(expected_score(70, 3), 3), 6)
    70.0
    """
    low, high = -limit, limit
    while high - low > CLOSE * limit:
        middle = (low + high) / 2
        low, high = (middle, high) if expected_score(middle, players) < score else (low, middle)
    return (low + high) / 2


@cache
def possible_scores(players: int) -> tuple[float, ...]:
    """The mean scores that the games of one opening, one for each seating, can come to, in ascending order.

    Two players: 0, 1/4, 1/2, 3/4, 1. Three: the multiples of 1/18.

    >>> possible_scores(2)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    games = 2**players - 2
    steps = games * players  # a game is won, or shared by all: in parts of 1 / players
    return tuple(k / steps for k in range(steps + 1))
