"""`pbm bench`: the speed of the games on this machine. `benchmarks/` compares with other checkouts and libraries."""

import os
import platform
import random
from collections.abc import Callable
from importlib.metadata import version
from time import perf_counter
from typing import Annotated

import numpy as np
import typer

from pbm_envs import Game, registered_games
from pbm_envs.envs.factories import make_raw_env
from pbm_envs.registry import parse_game

from ..common.progress import progress_bar
from ..search import Search
from .settings import Options
from .terminal import table

EXAMPLES = """
  pbm bench
  pbm bench chameleon -o size=19 --seconds 2
"""
BATCH = 1000
SIMULATIONS = 1000


def bench(
    game: Annotated[str | None, typer.Argument(help="Measure only this game.")] = None,
    options: Options = None,
    seconds: Annotated[float, typer.Option(min=0, max=3600, help="Minimum seconds to measure each figure.")] = 0.5,
) -> None:
    """Measure speed on this machine.

    Measures on one core: random games and plies per second, played in batches; steps per second of the PettingZoo
    environment, including the next player's observation; simulations per second of the tree search at the first move.
    """
    if options and game is None:
        raise ValueError("options are given without a game: expected 'pbm bench GAME -o NAME=VALUE'")
    names = [*registered_games()] if game is None else [game]
    games = {name: parse_game(name, options) for name in names}
    packages = ", ".join(f"{name} {version(name)}" for name in ("pbm-envs", "numpy", "numba", "pettingzoo"))
    print(f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}")
    print(f"{packages}\n")
    columns = ["games/s", "plies/s", "env steps/s", "simulations/s"]
    rows = []
    with progress_bar(len(games) > 1, total=3 * len(games), unit="figure", leave=False) as bar:
        for name, rules in games.items():
            rates = list[float]()
            for work in (_playouts, _episode, _search):
                rates += _rates(seconds, work, rules)
                bar.update()
            rows.append([name, *(f"{rate:,.0f}" for rate in rates)])
    table(["", *columns], rows, numbers=columns)


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
