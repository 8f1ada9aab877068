"""How much faster are many games from one seat as a batch than one game? Both against random play.

    pip install -e ".[bench]" && python benchmarks/one_seat.py

Moves of the learner a second, on one core: `gymnasium.make` and `gymnasium.make_vec` with BATCH games, drawing legal
actions included. They take turns; medians of ROUNDS rounds of SECONDS or more.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np
from machine import machine

from pbm_envs import make_game, registered_games, sample_actions
from pbm_envs.envs.single import SingleSeatEnv
from pbm_envs.envs.vector import BoardGameVectorEnv

BATCH, ROUNDS, SECONDS, SEED = 1024, 5, 0.5, 2008


def one(name: str) -> Callable[[], int]:
    env, rng = SingleSeatEnv(make_game(name), opponent="random"), np.random.default_rng(SEED)
    info = env.reset(seed=SEED)[1]

    def work() -> int:
        nonlocal info
        _, _, terminated, truncated, info = env.step(sample_actions(info["action_mask"][None], rng)[0])
        if terminated or truncated:
            info = env.reset()[1]
        return 1

    return work


def many(name: str) -> Callable[[], int]:
    envs, rng = BoardGameVectorEnv(make_game(name), BATCH, opponent="random"), np.random.default_rng(SEED)
    info = envs.reset(seed=SEED)[1]

    def work() -> int:
        nonlocal info
        *_, info = envs.step(sample_actions(info["action_mask"], rng))
        return BATCH

    return work


def rate(work: Callable[[], int]) -> float:
    moves, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        moves += work()
    return moves / (time.perf_counter() - start)


def main() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(machine())
    print(f"\n{'moves a second':12}{'one game':>12}{f'{BATCH} games':>12}{'times':>8}")
    for name in registered_games():
        contenders = (one(name), many(name))
        for work in contenders:
            work()  # compile
        rounds = [[rate(work) for work in contenders] for _ in range(ROUNDS)]
        alone, together = (statistics.median(column) for column in zip(*rounds, strict=True))
        times = statistics.median(batch / single for single, batch in rounds)
        print(f"{name:14}{alone:12,.0f}{together:12,.0f}{times:8.0f}", flush=True)


if __name__ == "__main__":
    main()
