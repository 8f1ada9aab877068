"""Measure simulations per second from the start of a game, and compare with OpenSpiel's C++ MCTSBot.

    pip install -e ".[bench]" && python benchmarks/search_speed.py

Each search runs SIMULATIONS in each position, with one playout per leaf, on one core except in the rows with two
threads. They take turns, so that changes in the machine's speed affect all of them. The table has the medians of the
rounds and of the rounds' ratios, by processor time, or with two threads by wall-clock time. "plain" is the algorithm of
MCTSBot: UCT, uniform playouts, no solver.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pyspiel
from machine import machine
from pbm_agents import Workspace
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur

SIMULATIONS, ROUNDS, SEED = 2000, 5, 2008
MANY, TWO_THREADS = 64, ", two threads"
UCT_C = 1.4
PLAIN = {"c": UCT_C, "rave": 0.0, "avoid_losing_moves": False, "solver": False}


class Runner(NamedTuple):
    """A search to time in turns with others."""

    run: Callable[[], object]
    games: int = 1
    threads: int = 1


def openspiel(name: str) -> Runner:
    game, evaluator = pyspiel.load_game(name), pyspiel.RandomRolloutEvaluator(1, SEED)
    bot = pyspiel.MCTSBot(game, evaluator, UCT_C, SIMULATIONS, 1000, False, SEED, False)
    state = game.new_initial_state()
    return Runner(lambda: bot.mcts_search(state))


def openspiel_hidden(name: str) -> Runner:
    """Return OpenSpiel's search of a game with hidden information, from the first decision."""
    state = pyspiel.load_game(name).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    bot = pyspiel.ISMCTSBot(SEED, pyspiel.RandomRolloutEvaluator(1, SEED), UCT_C, SIMULATIONS)
    return Runner(lambda: bot.step(state))


def ours(game: Game, games: int = 1, threads: int = 1, **settings: Any) -> Runner:
    search = make_search(simulations=SIMULATIONS, threads=threads, **settings)
    rng, workspace = np.random.default_rng(SEED), Workspace()
    states = game.init(games, rng)
    views = game.view(states, states["to_move"])
    return Runner(lambda: search.run(game, views, rng, workspace=workspace), games, threads)


def all_of_ours(game: Game, name: str, **settings: Any) -> dict[str, Runner]:
    return {
        f"{name}, one game": ours(game, **settings),
        f"{name}, one game, width 16": ours(game, parallel_simulations=16, **settings),
        f"{name}, {MANY} games": ours(game, MANY, **settings),
        f"{name}, {MANY} games{TWO_THREADS}": ours(game, MANY, 2, **settings),
    }


class Speed(NamedTuple):
    """Simulations per second."""

    wall: float
    core: float
    """Per second of processor time, so that other programs on the machine matter little."""


def turn(runner: Runner, cores: set[int]) -> Speed:
    if cores:
        os.sched_setaffinity(0, cores if runner.threads > 1 else {max(cores)})
    wall, core = time.perf_counter(), time.process_time()
    runner.run()
    count = SIMULATIONS * runner.games
    return Speed(count / (time.perf_counter() - wall), count / (time.process_time() - core))


def compare(title: str, peers: dict[str, Runner], runners: dict[str, Runner], cores: set[int]) -> None:
    """Print a table with the speed of each search and its ratio to each peer."""
    everyone = peers | runners
    for runner in everyone.values():
        turn(runner, cores)  # compile, warm up
    rounds: dict[str, list[Speed]] = {name: [] for name in everyone}
    for _ in range(ROUNDS):
        for name, runner in everyone.items():
            rounds[name].append(turn(runner, cores))
    heads = "".join(f" {'/ ' + peer.partition('(')[0]:>13}" for peer in peers)
    print(f"\n{title:48} {'simulations/s':>13} {'(min ... max)':>22}{heads}")
    for name, runner in everyone.items():
        if runner.threads == 1:
            speeds = [speed.core for speed in rounds[name]]
            ratios = "".join(
                f" {statistics.median(a / b.core for a, b in zip(speeds, rounds[peer], strict=True)):13.2f}"
                for peer in peers
            )
        else:
            speeds = [speed.wall for speed in rounds[name]]
            alone = rounds[name.removesuffix(TWO_THREADS)]
            times = [a / b.wall for a, b in zip(speeds, alone, strict=True)]
            ratios = f"  {statistics.median(times):.2f} times one thread, best round {max(times):.2f}"
        spread = f"({min(speeds):,.0f} ... {max(speeds):,.0f})"
        print(f"{name:48} {statistics.median(speeds):13,.0f} {spread:>22}{ratios}", flush=True)


def main() -> None:
    cores = os.sched_getaffinity(0) if os.name == "posix" and os.uname().sysname == "Linux" else set()
    print(f"{machine()}, open_spiel {version('open_spiel')}; load average before the run {os.getloadavg()[0]:.1f}")
    print(f"\n{SIMULATIONS:,} simulations a position, median of {ROUNDS} rounds")
    chameleon, unlur, curio, trinim = Chameleon(size=11), Unlur(radius=6), Curio(), Trinim(size=5)
    compare(
        "Chameleon 11x11",
        {"hex(board_size=11)": openspiel("hex(board_size=11)")},
        all_of_ours(chameleon, "plain", **PLAIN) | all_of_ours(chameleon, "RAVE"),
        cores,
    )
    peers = ("y(board_size=11)", "havannah(board_size=6)")
    compare(
        "Unlur 6",
        {name: openspiel(name) for name in peers},
        all_of_ours(unlur, "plain", **PLAIN) | all_of_ours(unlur, "RAVE, avoiding losing moves"),
        cores,
    )
    peer = "leduc_poker(), ISMCTSBot"
    compare(
        "Curio (the peer's game ends after a few plies)",
        {peer: openspiel_hidden("leduc_poker")},
        all_of_ours(curio, "information sets"),
        cores,
    )
    compare("Trinim 5", {}, all_of_ours(trinim, "UCT"), cores)


if __name__ == "__main__":
    main()
