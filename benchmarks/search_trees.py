"""What is a second thread worth to a search of one position? Two trees whose roots are added up, against one.

    python benchmarks/search_trees.py [strength | speed | many | projection] [--games FACTOR] [--of GAME ...]

Strength at equal seconds, on any machine: in the time that one thread needs for so many simulations in one tree, two
threads make as many in a tree each. The second row of each game is the limit that no threads reach: twice as many
simulations in one tree. Rows are those of `search_strength.py`. Then speed: simulations of one position by the clock,
two threads against one, which take turns; that needs two cores that nobody else uses.

Then many trees against one of them, which no number of cores changes. Last a projection, that is, figures that were not
measured on as many cores: how many simulations a second they would make in PROJECTED_SECONDS. All trees are searched on
one core; it is assumed that on many each takes the mean time of a tree, and that one core does the rest (it prepares
the trees, and adds up their roots). Threads that wait for memory or for Python's lock are not in it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Sequence

import numpy as np
from machine import machine
from pbm_agents import Search, Workspace
from search_strength import Match, play, row, title

from pbm_envs import Chameleon, Curio, Game, Trinim, Unlur, registered_games

MATCHES = ((Chameleon(), 400, 100), (Unlur(), 400, 100), (Trinim(size=6), 400, 400), (Curio(), 200, 60))
"""Game, simulations of one thread, games."""
SECONDS, ROUNDS, SEED = 0.5, 7, 2008
CORES, PROJECTED_SECONDS, PROJECTED_ROUNDS = (4, 16, 64), 0.05, 7


def speed(game: Game) -> tuple[float, float, float]:
    """Simulations a second of one thread and of two, and the median of the rounds' ratios."""
    state, rng, rates = game.init(1, np.random.default_rng(SEED)), np.random.default_rng(SEED), []
    views = game.view(state, state["to_move"])
    searches = [(Search(seconds=SECONDS, threads=threads), Workspace()) for threads in (1, 2)]
    for _ in range(ROUNDS):
        found = [search.run(game, views, rng, workspace=workspace)[0] for search, workspace in searches]
        rates.append([result.simulations / result.seconds for result in found])
    one, two = (statistics.median(column) for column in zip(*rates, strict=True))
    return one, two, statistics.median(both / single for single, both in rates)


def strength(factor: float, names: Sequence[str], trees: Sequence[int], *, limit: bool) -> None:
    """So many trees against one of them, and with `limit` as many simulations in one tree against it."""
    print(
        f"\n{'first':32} {'second':32} {'score':5} {'':18} {'won-drawn-lost':18} "
        f"{'plies':>5} {'ms':>7} {'ms':>7} {'seconds':>7}"
    )
    for game, simulations, count in MATCHES:
        if game.name not in names:
            continue
        print(title(game))
        for number in trees:
            together, once = f"mcts:simulations={number * simulations}", f"mcts:simulations={simulations}"
            for first in (f"{together},trees={number}", together)[: 1 + limit]:
                match, start = Match(game, first, once, count), time.perf_counter()
                print(row(match, play(match, factor), time.perf_counter() - start), flush=True)


def speeds(names: Sequence[str]) -> None:
    print(f"\nsimulations a second of one position, by the clock; median of {ROUNDS} rounds of {SECONDS} s each")
    print(f"{'':32} {'one thread':>12} {'two threads':>12} {'ratio':>6}")
    for game, _, _ in MATCHES:
        if game.name not in names:
            continue
        one, two, ratio = speed(game)
        print(f"{title(game):32} {one:12,.0f} {two:12,.0f} {ratio:6.2f}", flush=True)


def projected_speed(game: Game, cores: int) -> float:
    """How many times the simulations of one core this many would make; median of the rounds' ratios."""
    state, rng, ratios = game.init(1, np.random.default_rng(SEED)), np.random.default_rng(SEED), []
    views = game.view(state, state["to_move"])
    budget = Search(seconds=PROJECTED_SECONDS).run(game, views, rng)[0].simulations
    runs = [(Search(simulations=trees * budget, trees=trees), Workspace()) for trees in (1, cores)]
    for k in range(1 + PROJECTED_ROUNDS):
        rest = []
        for search, workspace in runs:
            start = time.perf_counter()
            [result] = search.run(game, views, rng, workspace=workspace)
            rest.append(time.perf_counter() - start - result.seconds)
        if k:  # the first run has taken memory
            tree = result.seconds / cores
            ratios.append(cores * (tree + rest[0]) / (tree + rest[1]))
    return statistics.median(ratios)


def projection(names: Sequence[str]) -> None:
    print("\na projection, made on one core: how many times the simulations a second of one core")
    print(f"{'':32}" + "".join(f"{cores:>10} cores" for cores in CORES))
    for game, _, _ in MATCHES:
        if game.name in names:
            print(f"{title(game):32}" + "".join(f"{projected_speed(game, cores):16.1f}" for cores in CORES), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "part", nargs="?", choices=("strength", "speed", "many", "projection"), help="all, if none is named"
    )
    parser.add_argument("--games", type=float, default=1.0, metavar="FACTOR", help="of the numbers of games")
    parser.add_argument("--of", nargs="+", default=registered_games(), metavar="GAME", help="only these")
    arguments = parser.parse_args()
    print(f"{machine()}; load average before the run {os.getloadavg()[0]:.1f}")
    if arguments.part in (None, "strength"):
        strength(arguments.games, arguments.of, (2,), limit=True)
    if arguments.part in (None, "speed"):
        speeds(arguments.of)
    if arguments.part in (None, "many"):
        strength(arguments.games, arguments.of, CORES, limit=False)
    if arguments.part in (None, "projection"):
        projection(arguments.of)


if __name__ == "__main__":
    main()
