"""Is the search of one checkout as fast as that of another? Simulations a second of both, in turns.

    python benchmarks/search_checkouts.py ../before .

Each checkout runs in a process of its own, on one core, in turns with the other, so that a change of the machine's
speed meets both. Quoted are the medians of the rounds, by processor time, and the median of the rounds' ratios.
"""

from __future__ import annotations

import inspect
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine

SIMULATIONS, ROUNDS, SEED, MANY = 2000, 15, 2008, 16
"""The budget is for all positions of a case together."""
CASES: dict[str, tuple[str, dict[str, Any], int, dict[str, Any]]] = {
    "Chameleon 11x11, plain": ("chameleon", {"size": 11}, 1, {"rave": 0, "solver": False}),
    "Chameleon 11x11, RAVE": ("chameleon", {"size": 11}, 1, {}),
    f"Chameleon 11x11, RAVE, {MANY} games": ("chameleon", {"size": 11}, MANY, {}),
    "Chameleon 5x5, PUCT": ("chameleon", {"size": 5}, 1, {"evaluator": True, "width": 8}),
    "Unlur 6, RAVE": ("unlur", {"radius": 6}, 1, {}),
    "Unlur 6, RAVE, width 16": ("unlur", {"radius": 6}, 1, {"width": 16}),
    "Curio": ("curio", {}, 1, {}),
    f"Curio, {MANY} games": ("curio", {}, MANY, {}),
    "Trinim 5": ("trinim", {"size": 5}, 1, {}),
    f"Trinim 5, {MANY} games": ("trinim", {"size": 5}, MANY, {}),
}
"""Game, its options, positions, settings of the search."""


def evaluate(observations: Any, masks: Any) -> tuple[Any, Any]:
    """The same priors for all legal actions, and values of 0."""
    return masks, np.zeros(len(masks))


def serve() -> None:
    """In a process of a checkout: run the case that is named on each line, and answer its processor time."""
    from pbm_agents import Search

    from pbm_envs import make_game

    runs = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in runs:
            game_name, options, positions, settings = CASES[name]
            if "evaluator" in settings:
                settings = settings | {"evaluator": evaluate}
            search, arguments = Search(simulations=SIMULATIONS // positions, **settings), {}
            game = make_game(game_name, **options)
            if "workspace" in inspect.signature(search.run).parameters:
                from pbm_agents import Workspace

                arguments["workspace"] = Workspace()
            states = game.init(positions, np.random.default_rng(SEED))
            runs[name] = search, game, game.view(states, states["to_move"]), arguments
        search, game, views, arguments = runs[name]
        start = time.process_time()
        search.run(game, views, np.random.default_rng(SEED), **arguments)
        print(time.process_time() - start, flush=True)


def commit(checkout: str) -> str:
    """The commit of a checkout, with a + if files differ from it."""
    command = ["git", "-C", checkout, "describe", "--always", "--dirty=+", "--exclude=*"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def start_process(checkout: str) -> subprocess.Popen[str]:
    paths = [str(Path(checkout).resolve() / folder) for folder in ("src", "agents")]
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", __file__, "--serve"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*paths, str(Path(__file__).parent)])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def ask(process: subprocess.Popen[str], name: str) -> float:
    """Simulations a second of one run."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(name, file=process.stdin, flush=True)
    return SIMULATIONS / float(process.stdout.readline())


def main(before: str, after: str) -> None:
    print(f"{machine()}; {SIMULATIONS:,} simulations, {ROUNDS} rounds")
    print(f"before: {commit(before)}, after: {commit(after)}")
    print(f"\n{'':40} {'before':>12} {'after':>12} {'after / before':>15} {'quartiles':>15}")
    first, second = start_process(before), start_process(after)
    for name in CASES:
        speeds = []
        for turn in range(1 + ROUNDS):
            pair = [ask(process, name) for process in ((first, second) if turn % 2 else (second, first))]
            speeds.append(pair if turn % 2 else pair[::-1])
        ratios = [b / a for a, b in speeds[1:]]  # the first round compiles
        low, middle, high = statistics.quantiles(ratios, n=4)
        a, b = (statistics.median(column) for column in zip(*speeds[1:], strict=True))
        print(f"{name:40} {a:12,.0f} {b:12,.0f} {middle:15.3f} {f'{low:.3f} .. {high:.3f}':>15}", flush=True)
    for process in (first, second):
        process.communicate()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    else:
        main(*sys.argv[1:])
