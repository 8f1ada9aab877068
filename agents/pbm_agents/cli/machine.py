"""`pbm bench` and `pbm warm-up`: how fast this machine is, and kernels compiled before they are needed.

The scripts in `benchmarks/` compare with other checkouts and libraries.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import platform
import random
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter

import numpy as np

from pbm_envs import Game, registered_games
from pbm_envs.envs.factories import make_raw_env
from pbm_envs.registry import parse_game
from pbm_envs.toolbox import COMPILING, cache_directory

from .. import arena, champions, equilibrium, exact  # noqa: F401  (so that their kernels are known and counted)
from ..common.progress import progress_bar
from ..common.workers import ProcessPool, usable_cores
from ..learning import small_network  # noqa: F401
from ..play.ahead import STEPS
from ..search import Search
from .settings import OPTIONS, argument, flag
from .terminal import table

BATCH = 1000
SIMULATIONS = 1000
MOST_PROCESSES = 8
"""The default limit on processes: the longest step takes a quarter of the total time, and processes need memory."""


def bench(
    game: str | None = argument(None, None, "Measure only this game."),
    options: list[str] | None = OPTIONS,
    seconds: float = flag(0.5, "Minimum seconds to measure each figure.", min=0, max=3600),
) -> None:
    """Measure speed on this machine.

    Measures on one core: random games and plies per second, played in batches; steps per second of the PettingZoo
    environment, including the next player's observation; simulations per second of the tree search at the first move.

    Examples:
      pbm bench
      pbm bench chameleon -o size=19 --seconds 2
    """
    if options and game is None:
        raise ValueError("options are given without a game: expected 'pbm bench GAME -o NAME=VALUE'")
    names = [*registered_games()] if game is None else [game]
    games = {name: parse_game(name, options) for name in names}
    packages = ", ".join(f"{name} {version(name)}" for name in ("pbm-envs", "numpy", "numba", "pettingzoo"))
    print(f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}")
    print(f"{packages}\n")
    columns, rows = ["", "games/s", "plies/s", "env steps/s", "simulations/s"], []
    with progress_bar(len(games) > 1, total=3 * len(games), unit="figure", leave=False) as bar:
        for name, rules in games.items():
            cells = [name]
            for work in (_playouts, _episode, _search):
                cells += [f"{rate:,.0f}" for rate in _rates(seconds, work, rules)]
                bar.update()
            rows.append(dict(zip(columns, cells, strict=True)))
    table(rows)


def warm_up(
    games: list[str] | None = argument(None, "[GAME[:OPTION=VALUE,...]]...", "Default: all."),
    processes: int | None = flag(
        None, f"Processes that compile (default: one per core, at most {MOST_PROCESSES}).", min=1
    ),
) -> None:
    """Compile rules, search and champions in advance.

    Without this command, the first use of a game compiles its rules for boards of all sizes, the first search compiles
    the search for all games, and the first move of a champion compiles the champion. Compiled code is kept on this
    machine, so later processes start within a second. Several processes compile side by side. The time of a step
    includes the time that it waits for another process.

    Examples:
      pbm warm-up                          # every game at its usual size
      pbm warm-up chameleon:size=7 curio   # only these
      pbm warm-up --processes 1            # one step after the other
    """
    rules = [parse_game(text) for text in games or registered_games()]
    jobs = {(number, step): (game, step) for step in STEPS for number, game in enumerate(rules)}
    if cache_directory() is None:
        processes = 1  # they could not share what they compile
    seconds, missing = {}, len(COMPILING.missing())
    workers = min(len(jobs), processes or min(usable_cores(), MOST_PROCESSES))
    try:
        with ProcessPool(workers) as crew, progress_bar(total=len(jobs), unit="step") as bar:
            for key, taken in crew.run(_timed, jobs):
                seconds[key] = f"{taken:.1f} s"
                if missing:
                    bar.set_description(f"{missing - len(COMPILING.missing())} of {missing} kernels")
                bar.update()
    except BaseException:
        for process in multiprocessing.active_children():
            process.terminate()  # otherwise they would finish their steps first
        raise
    table([{"": repr(game)} | {step: seconds[number, step] for step in STEPS} for number, game in enumerate(rules)])
    print(f"kept in {cache_directory() or 'memory only: no cache folder can be written'}")


def _rates(seconds: float, work: Callable[[Game], tuple[float, ...]], game: Game) -> list[float]:
    """Return the counts of `work` per second of the time that it reports; the first call only compiles."""
    work(game)
    spent, *counts = work(game)
    while not spent or spent < seconds:
        spent, *counts = (a + b for a, b in zip((spent, *counts), work(game), strict=True))
    return [count / spent for count in counts]


def _playouts(game: Game) -> tuple[float, ...]:
    """Play random games; return seconds, games, plies."""
    rng = np.random.default_rng()
    states = game.init(BATCH, rng)
    start = perf_counter()
    game.playout(states, rng)
    return perf_counter() - start, BATCH, states["ply"].sum()


def _episode(game: Game) -> tuple[float, ...]:
    """Play a game in the environment; return seconds, excluding the choice of actions, and plies."""
    env = make_raw_env(game)
    env.reset()
    spent, plies = 0.0, 0
    observation = env.observe(env.agent_selection)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        action = random.choice(np.flatnonzero(observation["action_mask"])).item()
        start = perf_counter()
        env.step(action)
        observation = env.observe(env.agent_selection)
        spent, plies = spent + perf_counter() - start, plies + 1
    return spent, plies


def _search(game: Game) -> tuple[float, ...]:
    """Search the first position; return seconds and simulations."""
    rng = np.random.default_rng()
    states = game.init(1, rng)
    views = game.view(states, states["to_move"])
    start = perf_counter()
    Search(simulations=SIMULATIONS).run(game, views, rng)
    return perf_counter() - start, SIMULATIONS


def _timed(job: tuple[Game, str]) -> float:
    """Run a step and return its wall-clock seconds."""
    if multiprocessing.parent_process() is not None:
        logging.getLogger("pbm_envs").setLevel(logging.ERROR)  # the bar says what is compiled
    game, step = job
    began = perf_counter()
    STEPS[step](game)
    return perf_counter() - began
