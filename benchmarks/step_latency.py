"""How long does one agent's turn take through the PettingZoo interface, beside PettingZoo's connect_four_v3?

    pip install -e ".[bench]" && python benchmarks/step_latency.py

Random play. Three loops: `raw_env.step` and `observe` alone; and the ordinary loop, with `agent_iter`, `last` and the
dead steps at the end, of `raw_env()` and of `env()`, with its checks. Choosing an action is not timed. The environments
take turns, a few games each, so that a change of the machine's speed meets all of them; quoted is
processor time, the median of the rounds, and of the rounds' ratios.
"""

from __future__ import annotations

import random
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from machine import machine

from pbm_envs import chameleon_v0, curio_v0, trinim_v0, unlur_v0

ROUNDS, STEPS = 25, 400


def step_and_observe(env: Any) -> float:
    """Mean seconds of step and observe over about STEPS plies."""
    spent, plies = 0.0, 0
    while plies < STEPS:
        env.reset(seed=plies)
        mask = env.observe(env.agent_selection)["action_mask"]
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            action = int(random.choice(np.flatnonzero(mask)))
            start = time.process_time()
            env.step(action)
            observation = env.observe(env.agent_selection)
            spent += time.process_time() - start
            plies += 1
            mask = observation["action_mask"]
    return spent / plies


def ordinary_loop(env: Any) -> float:
    """Mean seconds of a ply of whole games in PettingZoo's loop over about STEPS plies, without choosing actions."""
    spent, plies = 0.0, 0
    while plies < STEPS:
        env.reset(seed=plies)
        start = time.process_time()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            before = time.process_time()
            action = int(random.choice(np.flatnonzero(observation["action_mask"])))
            start += time.process_time() - before
            env.step(action)
            plies += 1
        spent += time.process_time() - start
    return spent / plies


def report(title: str, turn: Callable[[Any], float], envs: dict[str, Any], peer: str) -> None:
    """Measure side by side, and print."""
    for env in envs.values():
        turn(env)  # compile, warm up
    rounds: dict[str, list[float]] = {name: [] for name in envs}
    for _ in range(ROUNDS):
        for name, env in envs.items():
            rounds[name].append(turn(env))
    print(f"\n{title}, median of {ROUNDS} rounds of {STEPS} plies")
    print(f"{'':16} {'microseconds':>12} {'times as fast':>14}")
    for name, times in rounds.items():
        ratio = statistics.median(a / b for a, b in zip(rounds[peer], times, strict=True))
        print(f"{name:16} {statistics.median(times) * 1e6:12.1f} {ratio:14.2f}", flush=True)


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # PettingZoo's own old import path
        from pettingzoo.classic import connect_four_v3
    peer = "connect_four_v3"
    modules = {peer: connect_four_v3, "chameleon": chameleon_v0, "curio": curio_v0}
    modules |= {"trinim": trinim_v0, "unlur": unlur_v0}
    raw_envs = {name: module.raw_env() for name, module in modules.items()}
    print(machine())
    report("raw_env.step + observe", step_and_observe, raw_envs, peer)
    report("ordinary loop of raw_env()", ordinary_loop, raw_envs, peer)
    report("ordinary loop of env()", ordinary_loop, {name: module.env() for name, module in modules.items()}, peer)


if __name__ == "__main__":
    main()
