"""Compare checkouts whose kernels access the records of a game differently: speed, and seconds to compile.

    python benchmarks/records.py ../before ../other .

Each checkout runs in its own process. They take turns, so that changes in the machine's speed affect all of them. All
times are processor time. The table has the medians of the rounds' ratios to the first checkout; more than 1 is faster.
Compiling counts all kernels of these jobs, for a first and then a second size of the board. With `--caches FOLDER`
compiled kernels are kept there for another run.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from checkouts import ask, start_process
from machine import machine

ROUNDS, SECONDS_A_ROUND, PLIES, SEED = 15, 0.02, 6, 2008
SIZES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "curio": ({}, {"rows": 6}),
    "chameleon": ({}, {"size": 9}),
}
"""Options of a first and a second size."""
SIMULATIONS = {1: 1000, 1024: 8}
"""Simulations of a search by the number of games."""
JOBS = [f"{what} {count}" for count in SIMULATIONS for what in ("step", "mask", "view", "observe", "playout", "search")]


def jobs(name: str, options: dict[str, int]) -> dict[str, Callable[[], Any]]:
    """Return the functions to time, which run some plies after the start."""
    from pbm_agents import Search, Workspace

    from pbm_envs import make_game
    from pbm_envs.core.state import as_bytes, copy_states

    found: list[Callable[[], Any]] = []
    for count, simulations in SIMULATIONS.items():
        game: Any = make_game(name, **options)
        states = game.init(count, np.random.default_rng(SEED))
        for _ in range(PLIES):
            game.step(states, game.legal_action_mask(states)[:, :-1].argmax(axis=1))
        playing, before, movers = copy_states(states), as_bytes(states), states["to_move"].copy()
        views, masks = game.view(states, movers), game.legal_action_mask(states)
        search = Search(simulations=simulations)

        def step(game: Any, playing: Any, before: Any, actions: Any) -> None:
            as_bytes(playing)[:] = before
            game.step(playing, actions)

        def play_out(game: Any, playing: Any, before: Any) -> None:
            as_bytes(playing)[:] = before
            game.playout(playing, np.random.default_rng(SEED))

        def run(game: Any, views: Any, search: Any, workspace: Any) -> None:
            search.run(game, views, np.random.default_rng(SEED), workspace=workspace)

        found += [
            partial(step, game, playing, before, masks[:, :-1].argmax(axis=1)),
            partial(game.legal_action_mask, states, out=masks),
            partial(game.view, states, movers),
            partial(game.observe, views, out=game.observe(views)),
            partial(play_out, game, playing, before),
            partial(run, game, views, search, Workspace()),
        ]
    return dict(zip(JOBS, found, strict=True))


def serve() -> None:
    """Do the job on each input line and print its processor seconds; runs in the process of a checkout."""
    ready: dict[str, dict[str, Callable[[], Any]]] = {}
    for line in sys.stdin:
        name, job, number = line.strip().split("|")
        start = time.process_time()
        if job == "compile":
            made = jobs(name, SIZES[name][int(number)])
            for each in made.values():
                each()
            ready.setdefault(name, made)
        for _ in range(0 if job == "compile" else int(number)):
            ready[name][job]()
        print(time.process_time() - start, flush=True)


def compare(name: str, processes: dict[str, subprocess.Popen[str]]) -> None:
    checkouts = list(processes)
    print(f"\n{name:14} {'microseconds':>12} " + " ".join(f"{Path(each).resolve().name:>14}" for each in checkouts))
    for size in (0, 1):
        seconds = " ".join(f"{ask(each, f'{name}|compile|{size}'):14.1f}" for each in processes.values())
        print(f"compile size {size + 1} {'':12} {seconds}", flush=True)
    for job in JOBS:
        slowest = max(ask(each, f"{name}|{job}|3") / 3 for each in processes.values())
        repeats, rounds = max(1, int(SECONDS_A_ROUND / slowest)), []
        for turn in range(ROUNDS):
            order = checkouts if turn % 2 else checkouts[::-1]
            rounds.append({each: ask(processes[each], f"{name}|{job}|{repeats}") / repeats for each in order})
        first = statistics.median(seconds[checkouts[0]] for seconds in rounds) * 1e6
        ratios = [statistics.median(seconds[checkouts[0]] / seconds[each] for seconds in rounds) for each in checkouts]
        print(f"{job:14} {first:12.1f} " + " ".join(f"{ratio:14.2f}" for ratio in ratios), flush=True)


def main(checkouts: list[str], caches: str) -> None:
    print(machine())
    folders = {each: Path(each).resolve() for each in checkouts}
    processes = {
        each: start_process(folder, __file__, PBM_ENVS_CACHE_DIR=f"{caches}/{folder.name}")
        for each, folder in folders.items()
    }
    for name in SIZES:
        compare(name, processes)
    for process in processes.values():
        process.communicate()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        serve()
    elif sys.argv[1] == "--caches":
        main(sys.argv[3:], sys.argv[2])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(sys.argv[1:], folder)
