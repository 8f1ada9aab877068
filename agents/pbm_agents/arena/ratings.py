"""Ratings on the Elo scale with 95% intervals, from any number of games in any order.

The model is Luce's (1959): agent i wins a game with probability s_i / (sum of s over its agents). For two players
it is Bradley and Terry's model (1952), whose curve Elo used; it covers three players as well. A draw counts as half
a win for each of two players and as a third for each of three. A rating is 400 log10 s, so the stronger of two agents
400 points apart wins ten times as often.

Strengths are maximum-likelihood estimates (Newton's method) with a prior: in all, half a game won and half a game lost
per agent against its opponents. For a pair this is Jeffreys' prior. It keeps the strength of an agent that has won
every game finite, and hardly changes the others.

The intervals come from the Bayesian bootstrap (Rubin 1981): the openings get random Exp(1) weights, the prior's games
Gamma weights, and the strengths are fitted again, REPLICATES times; 95% of the results lie in the interval. Games of
one opening share its weight, because they are correlated. For a pair without draws the interval lies between quantiles
of Beta(wins + 1/2, losses + 1/2). It is wide for an agent that has won every game, for which resampling games would
give an interval of zero width.

    Shapes: R replicates, K sets of agents that have played each other, n agents.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pbm_envs.records import GameRecord
from pbm_envs.toolbox import quoted

from .results import Array, Results, results_of

ELO = 400 / np.log(10)
PRIOR = 0.5
"""Games won, and games lost, that the prior adds per agent."""
LEAST = 1e-9
"""Minimum of the random weights, so that strengths are finite."""
REPLICATES, AT_ONCE = 1000, 50
STEPS, LONGEST, CLOSE = 200, 2.0, 1e-9
"""Newton's method: the number of steps, the longest step in log s, and the step at which it stops."""


class Rating(NamedTuple):
    """A rating on the Elo scale and its 95% interval."""

    value: float
    low: float
    high: float


def rate(records: Iterable[GameRecord] | Results, anchor: str | None = None, seed: int = 0) -> dict[str, Rating]:
    """Return the rating of each agent, best first; the mean rating, or that of the agent `anchor`, is 0.

    Agents that are not connected by games, even through others, are rated separately, each connected group with mean
    0. Unfinished games do not count. `seed` is the seed of the bootstrap.
    """
    agents, best, drawn = bootstrap(records, anchor, seed)
    if not agents:
        return {}
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    ratings = {
        agent: Rating(float(best[k]), float(min(low[k], best[k])), float(max(high[k], best[k])))
        for k, agent in enumerate(agents)
    }
    return dict(sorted(ratings.items(), key=lambda item: (-round(item[1].value, 6), item[0])))


def bootstrap(
    records: Iterable[GameRecord] | Results, anchor: str | None = None, seed: int = 0
) -> tuple[list[str], Array, Array]:
    """Return the n agents, their ratings (n,), and those of all replicates (REPLICATES, n); arguments as in `rate`."""
    results = results_of(records)
    agents, seats, together = who_met(results)
    if anchor is not None and anchor not in agents:
        raise ValueError(f"anchor is {quoted(anchor)}: expected one of {', '.join(agents)}")
    if not agents:
        return [], np.zeros(0), np.zeros((REPLICATES, 0))
    opening, cell, share = results.cells()
    openings, size = opening.max() + 1, seats.size
    meetings = (seats > 0).sum(axis=0)
    prior = (seats > 0) * PRIOR / np.where(seats > 0, meetings, np.inf).min(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)

    def fitted(weights: Array, given: Array) -> Array:
        """Fit (R, n) ratings to openings with weights (R, openings) and prior games (R, K, n)."""
        won = np.array([np.bincount(cell, share * row[opening], minlength=size) for row in weights])
        strengths = fit(won.reshape(-1, *seats.shape) + given, seats, together)
        zero = strengths @ (together / together.sum(axis=0))
        if anchor is not None:
            k = agents.index(anchor)
            zero = np.where(together[k], strengths[:, [k]], zero)
        return ELO * (strengths - zero)

    best = fitted(np.ones((1, openings)), prior)[0]
    drawn = []
    for _ in range(REPLICATES // AT_ONCE):
        given = rng.gamma(np.broadcast_to(prior, (AT_ONCE, *prior.shape)))
        drawn.append(fitted(rng.exponential(size=(AT_ONCE, openings)), np.where(prior > 0, given.clip(LEAST), 0)))
    return agents, best, np.concatenate(drawn)


def connected_groups(records: Iterable[GameRecord] | Results) -> list[list[str]]:
    """Return the agents in groups; within a group, all are connected by games, directly or through others."""
    agents, _, together = who_met(results_of(records))
    return [
        [agents[j] for j in np.flatnonzero(row)]
        for k, row in enumerate(together)
        if not row[:k].any()  # add each group at its first agent
    ]


def who_met(results: Results) -> tuple[list[str], Array, NDArray[np.bool_]]:
    """Return the n agents, their seats in each set that has played (K, n), and a mask (n, n) of connected pairs."""
    agents = results.agents
    seats = np.array([[met.count(agent) for agent in agents] for met in results.sets], np.float64)
    together = np.eye(len(agents), dtype=np.bool_)
    for row in seats:
        together |= np.outer(row > 0, row > 0)
    for _ in agents:
        together = together @ together
    return agents, seats, together


def fit(won: Array, seats: Array, together: NDArray[np.bool_]) -> Array:
    """Return the maximum-likelihood log s (R, n), with mean 0 in each connected group.

    `won` (R, K, n) holds the wins of each agent in the games of each set; `seats` and `together` are as in `who_met`.
    """
    games = won.sum(axis=2, keepdims=True)
    strength = np.zeros((len(won), won.shape[2]))
    diagonal = np.arange(won.shape[2])
    for _ in range(STEPS):
        powers = seats * np.exp(strength - strength.max(axis=1, keepdims=True))[:, None, :]
        chance = powers / powers.sum(axis=2, keepdims=True)  # (R, K, n)
        expected = games * chance
        slope = (won - expected).sum(axis=1)
        curvature = together - np.swapaxes(expected, 1, 2) @ chance  # the ones of `together` keep the means at 0
        curvature[:, diagonal, diagonal] += expected.sum(axis=1)
        step = np.linalg.solve(curvature, slope[..., None])[..., 0].clip(-LONGEST, LONGEST)
        strength += step
        if np.abs(step).max() < CLOSE:
            break
    return strength
