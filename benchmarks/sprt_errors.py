"""Measure the error rates of the sequential test by simulated tests, decided as by `pbm sprt`.

    python benchmarks/sprt_errors.py [--tests 10000]

Each opening is played from all seats, and its advantage for a seat is the same in all its games. Openings are drawn so
that the strength difference is exactly that of H0 or H1: `wrong at H0` is the rate at which H1 was accepted under H0,
and `wrong at H1` that of H0 under H1, both with Wilson's 95% interval. The nominal rates are alpha and beta (5% each).
The openings per test are given as their mean and 95% quantile.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from machine import machine
from numpy.typing import NDArray
from pbm_agents.arena.evaluation import wilson
from pbm_agents.arena.likelihood import expected_score, log_tilt, possible_scores

from pbm_envs.core.kernels import kernel
from pbm_envs.core.randomness import Seeds, uniform

SEED = 1947
LONGEST = 1_000_000
BOUND = float(np.log(1 / 0.05))


class Case(NamedTuple):
    """A model of play: `seat` is the better seat's advantage in Elo, `opening` its standard deviation over openings."""

    name: str
    players: int
    elo0: float
    elo1: float
    draws: float = 0.0
    seat: float = 0.0
    opening: float = 0.0


CASES = (
    Case("no draws", 2, 0, 10),
    Case("60% draws", 2, 0, 10, draws=0.6),
    Case("first seat 200 Elo better", 2, 0, 10, seat=200),
    Case("openings that decide, 20% draws", 2, 0, 10, draws=0.2, opening=400),
    Case("not weaker", 2, -10, 0, draws=0.2),
    Case("wide", 2, 0, 50, draws=0.2, opening=200),
    Case("very wide", 2, 0, 200, draws=0.1),
    Case("of strong against weak", 2, 200, 220, draws=0.2),
    Case("three seats, no draws", 3, 0, 10),
    Case("three seats, 60% draws", 3, 0, 10, draws=0.6),
    Case("three seats, openings that decide", 3, 0, 20, draws=0.2, opening=300),
)


def distribution(case: Case, elo: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the probability of each of `possible_scores`, averaged over a sample of openings and exact over games.

    In Luce's model each seat wins with probability proportional to its strength, unless the game is drawn. The new
    agent's strength is adjusted until the mean score is exactly that of `elo`.
    """
    values, target = np.array(possible_scores(case.players)), expected_score(elo, case.players)
    advantages = rng.normal(0, case.opening, (400, case.players)) if case.opening else np.zeros((1, case.players))
    advantages[:, 0] += case.seat
    advantages = np.concatenate([advantages, -advantages]) if case.opening else advantages
    low, high = -2000.0, 2000.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        chances = _scores(case, middle, advantages)
        low, high = (middle, high) if chances @ values < target else (low, middle)
    return chances


def _scores(case: Case, elo: float, advantages: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distribution of an opening's score, averaged over openings."""
    players, size = case.players, len(possible_scores(case.players))
    seatings = [[bool(k >> seat & 1) for seat in range(players)] for k in range(1, 2**players - 1)]
    total = np.zeros(size)
    for row in advantages:
        chances = np.ones(1)
        for new in seatings:
            strength = 10 ** ((row + elo * np.array(new)) / 400)
            won = float(strength[new].sum() / strength.sum())
            game = np.zeros(players + 1)  # by the new agent's share of the win, in units of 1 / players
            game[players], game[0] = (1 - case.draws) * won, (1 - case.draws) * (1 - won)
            game[sum(new)] += case.draws
            chances = np.convolve(chances, game)
        total += chances
    return total / len(advantages)


@kernel
def simulate(
    cumulative: NDArray[np.float64],
    values: NDArray[np.float64],
    means: NDArray[np.float64],
    streams: Seeds,
    out: NDArray[np.int64],
) -> None:
    """Run a test for each of `streams`; return the openings that each took, negative where H0 was accepted."""
    counts = np.empty(len(values))
    for test in range(len(streams)):
        counts[:] = 0
        for opening in range(1, LONGEST):
            drawn, score = uniform(streams, test), 0
            while score < len(values) - 1 and drawn >= cumulative[score]:
                score += 1
            counts[score] += 1
            ratio = log_tilt(counts, values, means[0]) - log_tilt(counts, values, means[1])
            if ratio >= BOUND:
                out[test] = opening
                break
            if ratio <= -BOUND:
                out[test] = -opening
                break


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=10_000, help="of each case, at H0 and again at H1")
    tests = parser.parse_args().tests
    print(machine())
    print(f"\n{tests:,} tests of each case at H0, and as many at H1; alpha = beta = 5%\n")
    print(f"{'':34} {'elo0':>5} {'elo1':>5}   {'wrong at H0':24} {'wrong at H1':24} openings (95%) at H0     at H1")
    started = time.perf_counter()
    for case in CASES:
        values = np.array(possible_scores(case.players))
        means = np.array([expected_score(elo, case.players) for elo in (case.elo0, case.elo1)])
        cells: list[str] = []
        lengths: list[str] = []
        for hypothesis, elo in enumerate((case.elo0, case.elo1)):
            chances = distribution(case, elo, np.random.default_rng(SEED))
            streams = np.random.default_rng((SEED, hypothesis)).bit_generator.random_raw(tests)
            out: NDArray[Any] = np.zeros(tests, np.int64)
            simulate(np.cumsum(chances), values, means, streams, out)
            wrong = wilson(float(np.mean(out > 0 if hypothesis == 0 else out < 0)), tests)
            cells.append(f"{wrong.value:.2%} ({wrong.low:.2%} to {wrong.high:.2%})")
            lengths.append(f"{np.abs(out).mean():,.0f} ({np.percentile(np.abs(out), 95):,.0f})")
        print(
            f"{case.name:34} {case.elo0:5g} {case.elo1:5g}   {cells[0]:24} {cells[1]:24} "
            f"{lengths[0]:>17} {lengths[1]:>17}",
            flush=True,
        )
    print(f"\n{time.perf_counter() - started:.0f} seconds")


if __name__ == "__main__":
    main()
