"""How long does one agent's turn take? `raw_env.step` and `observe` of one game, beside PettingZoo's connect_four_v3.

    pip install -e ".[bench]" && python benchmarks/step_latency.py

Random play; only the two calls are timed, choosing the action is not. The environments take turns, a few games each, so
that a change of the machine's speed meets all of them; quoted is the median of the rounds, and of the rounds' ratios.
"""

from __future__ import annotations

import random
import statistics
import time
import warnings
from typing import Any

import numpy as np
from machine import machine

from pbm_envs import chameleon_v0, curio_v0, trinim_v0, unlur_v0

ROUNDS, STEPS = 25, 400


def turn(env: Any) -> float:
    """Mean seconds of step and observe over about STEPS plies."""
    spent, plies = 0.0, 0
    while plies < STEPS:
        env.reset(seed=plies)
        mask = env.observe(env.agent_selection)["action_mask"]
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            action = int(random.choice(np.flatnonzero(mask)))
            start = time.perf_counter()
            env.step(action)
            observation = env.observe(env.agent_selection)
            spent += time.perf_counter() - start
            plies += 1
            mask = observation["action_mask"]
    return spent / plies


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's own old import path
        from pettingzoo.classic import connect_four_v3
    peer = "connect_four_v3"
    modules = {peer: connect_four_v3, "chameleon": chameleon_v0, "curio": curio_v0}
    modules |= {"trinim": trinim_v0, "unlur": unlur_v0}
    envs = {name: module.raw_env() for name, module in modules.items()}
    for env in envs.values():
        turn(env)  # compile, warm up
    rounds: dict[str, list[float]] = {name: [] for name in envs}
    for _ in range(ROUNDS):
        for name, env in envs.items():
            rounds[name].append(turn(env))
    print(machine())
    print(f"\nraw_env.step + observe, median of {ROUNDS} rounds of {STEPS} plies")
    print(f"{'':16} {'microseconds':>12} {'times as fast':>14}")
    for name, times in rounds.items():
        ratio = statistics.median(a / b for a, b in zip(rounds[peer], times, strict=True))
        print(f"{name:16} {statistics.median(times) * 1e6:12.1f} {ratio:14.2f}")


if __name__ == "__main__":
    main()
