"""Measure a step of a batch of N games, and compare it with the limit set by memory bandwidth.

    pip install -e ".[bench]" && python benchmarks/vector_speed.py

Random play on one core, by processor time. A *game-step* plays one ply in one game and writes the observation and the
mask of the player to move next. *core* is `step`, `view`, `observe` and `legal_action_mask` into existing arrays,
without ends of games. *env* is the vector environment with its checks, infos, last observations and next games, and
`copy=False`. *floor* only writes as many bytes of observations and masks. Drawing actions is not timed. Sizes take
turns, and the figures are medians of ROUNDS rounds. The last table compares one thread per core with one thread, by
wall-clock time.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

import numpy as np
from machine import machine

from pbm_envs import Game, make_game, registered_games, sample_actions
from pbm_envs.core.state import copy_states
from pbm_envs.envs.vector import BoardGameVectorEnv

SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
ROUNDS, PLIES, SEED = 7, 40, 2008


def core(game: Game, count: int) -> float:
    """Return the seconds per game-step over the first plies of games, none of which ends."""
    rng = np.random.default_rng(SEED)
    states = game.init(count, rng)
    views = game.view(states, states["to_move"])
    planes, masks = game.observe(views), game.legal_action_mask(views)  # first writes to new memory take longer
    plies = min(PLIES, 4 if game.name == "trinim" else 12)
    spent = 0.0
    for _ in range(plies):
        actions = sample_actions(masks, rng)
        before = copy_states(states)
        start = time.process_time()
        game.step(states, actions)
        game.view(states, states["to_move"], out=views)
        game.observe(views, out=planes)
        game.legal_action_mask(views, out=masks)
        spent += time.process_time() - start
        if states["done"].any():  # Curio: a royal may fall early
            states[states["done"]] = before[states["done"]]
            game.legal_action_mask(states, out=masks)
    return spent / plies / count


def env(game: Game, count: int, threads: int = 1, clock: Callable[[], float] = time.process_time) -> float:
    envs, rng = BoardGameVectorEnv(game, count, copy=False, threads=threads), np.random.default_rng(SEED)
    _, info = envs.reset(seed=SEED)
    spent = 0.0
    for _ in range(PLIES):
        actions = sample_actions(info["action_mask"], rng)
        start = clock()
        *_, info = envs.step(actions)
        spent += clock() - start
    return spent / PLIES / count


def floor(game: Game, count: int) -> float:
    planes = np.ones((count, *game.observation_shape), np.int8)
    masks = np.ones((count, game.num_actions), np.bool_)
    start = time.process_time()
    for k in range(PLIES):
        planes.fill(k & 1)
        masks.fill(k & 1)
    return (time.process_time() - start) / PLIES / count


def threads_table(cores: int) -> None:
    print(f"\nthe vector environment with {cores} threads: times as fast as with one, by the clock")
    print(f"{'games':>7}" + "".join(f"{name:>12}" for name in registered_games()))
    for count in (256, 1024, 4096, 16384):
        ratios = []
        for name in registered_games():
            game = make_game(name)
            rounds = [[env(game, count, threads, time.perf_counter) for threads in (1, cores)] for _ in range(ROUNDS)]
            ratios.append(statistics.median(one / many for one, many in rounds))
        print(f"{count:7}" + "".join(f"{ratio:12.2f}" for ratio in ratios), flush=True)


MEASURES: dict[str, Callable[[Game, int], float]] = {"core": core, "env": env, "floor": floor}


def main() -> None:
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    print(machine())
    print(
        "\nnanoseconds a game-step, one core, and million game-steps a second; bytes: of the observation and the mask"
    )
    for name in registered_games():
        game = make_game(name)
        size = int(np.prod(game.observation_shape)) + game.num_actions
        print(f"\n{game!r}: {game.dtype.itemsize} bytes a state, {size} bytes an observation and mask")
        print(
            f"{'games':>7}" + "".join(f"{measure:>10}" for measure in MEASURES) + f"{'core, M/s':>12}{'env, M/s':>10}"
        )
        for measure in MEASURES.values():
            measure(game, 2)  # compile
        times: dict[tuple[int, str], list[float]] = {}
        for _ in range(ROUNDS):
            for count in SIZES:
                for name_of, measure in MEASURES.items():
                    times.setdefault((count, name_of), []).append(measure(game, count))
        for count in SIZES:
            core_, env_, floor_ = (statistics.median(times[count, measure]) * 1e9 for measure in MEASURES)
            print(f"{count:7}{core_:10.0f}{env_:10.0f}{floor_:10.0f}{1e3 / core_:12.2f}{1e3 / env_:12.2f}", flush=True)
    os.sched_setaffinity(0, cores)
    threads_table(len(cores))


if __name__ == "__main__":
    main()
