"""The likelihood ratio of the sequential test: how well two expected scores explain the observed counts.

The counts are those of a multinomial distribution over a few values, such as the five scores that two games from one
opening can have (0, 1/4, 1/2, 3/4, 1: the pentanomial distribution). Nothing is assumed about their probabilities: a
hypothesis specifies only the mean, and the probabilities are those of maximum likelihood with that mean (Owen's
empirical likelihood; Van den Bergh, "Comparing the approximations for the generalized log likelihood ratio of a
multinomial distribution"). Draws, seat advantage and the correlation of games from one opening therefore need no
model: the counts contain them. The share p(x) of a value x becomes p(x) / (1 + theta (x - mean)), with the theta that
gives the mean, as in fastchess and OpenBench.

A hypothesis may also specify the mean's distance from 1/2 in standard deviations of a value, as normalized Elo does
(Van den Bergh, "Comments on normalized Elo", section 4.1). The number of games needed to detect a difference then
depends only on the difference, not on the draw rate.

    Shapes: K values.
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pbm_envs.authoring import kernel

Array = NDArray[np.float64]

LEAST = 1e-3
"""Replaces a count of 0, so that every mean between the smallest and the greatest value stays possible."""
STEPS, CLOSE = 60, 1e-12
"""The number of steps of Newton's method, and the smallest step that matters."""
EDGE = 1e-12
NORMALIZED = 800 / np.log(10)
"""Points of normalized Elo per standard deviation of a game's score."""


def log_likelihood_ratio(counts: ArrayLike, values: ArrayLike, low: float, high: float) -> float:
    """Return the logarithm of the ratio of the likelihoods of `counts` under the means `high` and `low`.

    `counts` (K,) is how often each of `values` (K,) was seen, which are in ascending order. Raises ValueError for a
    mean that is not strictly between the smallest and the greatest value.

    >>> round(log_likelihood_ratio([10, 20, 40, 25, 15], [0, 0.25, 0.5, 0.75, 1], 0.5, 0.55), 2)
    0.61
    """
    counted, points = np.asarray(counts, np.float64), np.asarray(values, np.float64)
    for name, mean in (("low", low), ("high", high)):
        if not points[0] < mean < points[-1]:
            raise ValueError(f"{name} is {mean}: expected a mean between {points[0]} and {points[-1]}")
    return float(log_tilt(counted, points, low) - log_tilt(counted, points, high))


def normalized_ratio(counts: ArrayLike, values: ArrayLike, low: float, high: float) -> float:
    """Return the logarithm of the likelihood ratio of two hypotheses about (mean - 1/2) / standard deviation.

    `low` and `high` are this quotient under the null and the alternative hypothesis; the rest is as in
    `log_likelihood_ratio`.

    >>> round(normalized_ratio([10, 20, 40, 25, 15], [0, 0.25, 0.5, 0.75, 1], 0, 0.1), 3)
    0.759
    """
    counted, points = np.asarray(counts, np.float64), np.asarray(values, np.float64)
    return _normalized_tilt(counted, points, low) - _normalized_tilt(counted, points, high)


def _normalized_tilt(counts: Array, values: Array, quotient: float) -> float:
    """Return `log_tilt` for a hypothesis about (mean - 1/2) / standard deviation, by iterating equation 4.9."""
    seen = np.maximum(counts, LEAST)
    chances = np.full(len(values), 1 / len(values))
    excess, theta = values - 0.5, 0.0
    for _ in range(STEPS):
        mean = chances @ values
        sigma = np.sqrt(chances @ (values - mean) ** 2)
        excess = values - 0.5 - 0.5 * quotient * sigma * (1 + ((values - mean) / sigma) ** 2)
        theta = tilt(counts, excess, 0.0)
        before, chances = chances, seen / seen.sum() / (1 + theta * excess)
        if np.abs(chances - before).max() < CLOSE:
            break
    return float(seen @ np.log(1 + theta * excess))


def normalized_quotient(elo: float, games: int) -> float:
    """Return the quotient (mean - 1/2) / standard deviation of an opening's score at `elo` points of normalized Elo.

    A point is ln(10) / 800 standard deviations of a game's score. If the `games` games of an opening are independent,
    the standard deviation of their mean is smaller by a factor of the square root of `games`.
    """
    return elo * np.sqrt(games) / NORMALIZED


@kernel
def log_tilt(counts: Array, values: Array, mean: float) -> float:
    """Return the sum of counts * log(1 + theta * (values - mean)), the log-likelihood lost under the mean `mean`."""
    theta, total = tilt(counts, values, mean), 0.0
    for k in range(len(counts)):
        total += max(counts[k], LEAST) * np.log(1 + theta * (values[k] - mean))
    return total


@kernel
def tilt(counts: Array, values: Array, mean: float) -> float:
    """Return the theta for which the shares of the counts, divided by 1 + theta * (value - mean), have this mean."""
    least, greatest = values.min(), values.max()
    low, high, theta = -(1 - EDGE) / (greatest - mean), (1 - EDGE) / (mean - least), 0.0
    reach = max(greatest - mean, mean - least)
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
    return theta


def seat_chances(elo: ArrayLike, players: int) -> Array:
    """Return (games, ...) the winning probability, in each seating of two agents, of the one that is `elo` stronger.

    In Luce's model, an agent with k of the seats wins with k r / (k r + players - k), where r = 10 ** (elo / 400).
    """
    strength = 10 ** (np.asarray(elo) / 400)
    seats = [sum(row) for row in product((0, 1), repeat=players) if 0 < sum(row) < players]
    return np.array([k * strength / (k * strength + players - k) for k in seats])


def expected_score(elo: float, players: int) -> float:
    """Return the mean score, over all seatings of two agents, of the one that is `elo` stronger.

    With two players this is Elo's curve.

    >>> round(expected_score(100, 2), 3), round(expected_score(0, 3), 3), round(expected_score(100, 3), 3)
    (0.64, 0.5, 0.626)
    """
    return float(seat_chances(elo, players).mean())


def elo_of_score(score: float, players: int, limit: float = 2000.0) -> float:
    """Return the Elo difference whose `expected_score` is `score`, limited to -`limit`..`limit`.

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
    """Return the possible mean scores of an opening's games, one per seating, in ascending order.

    Two players: 0, 1/4, 1/2, 3/4, 1. Three: the multiples of 1/18.

    >>> possible_scores(2)
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """
    games = 2**players - 2
    steps = games * players  # a game is won by one or shared by all: multiples of 1 / players
    return tuple(k / steps for k in range(steps + 1))
