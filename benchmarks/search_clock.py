"""Does a search by the clock keep its time?

Seconds taken for seconds asked, for one position: the first search of a new process with everything compiled, and later
ones.

    python benchmarks/search_clock.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

import numpy as np
from machine import machine
from pbm_agents import Search, Workspace

from pbm_envs import make_game, registered_games

ASKED, LATER = (0.05, 0.2, 1.0), 9
FIRST = """
import sys; sys.path.insert(0, {folder!r})
from search_clock import results
[result] = results({name!r}, {asked}, 1)
print(result.seconds)
"""


def results(name: str, asked: float, count: int) -> list:
    """One search after the other."""
    game, rng = make_game(name), np.random.default_rng(2008)
    states = game.init(1, rng)
    search, workspace = Search(seconds=asked), Workspace()
    return [search.run(game, game.view(states, 0), rng, workspace=workspace)[0] for _ in range(count)]


def later(name: str, asked: float) -> list[float]:
    """By the clock outside the search."""
    game, rng = make_game(name), np.random.default_rng(2008)
    states = game.init(1, rng)
    views, search, workspace, taken = game.view(states, 0), Search(seconds=asked), Workspace(), []
    for _ in range(LATER + 1):
        start = time.perf_counter()
        search.run(game, views, rng, workspace=workspace)
        taken.append(time.perf_counter() - start)
    return taken[1:]


def main() -> None:
    print(machine())
    print(f"\nseconds taken: the first search of a process; median and most of {LATER} later ones")
    print(f"{'':12} {'asked':>6} {'first':>7} {'median':>7} {'most':>7}")
    for name in registered_games():
        results(name, 0.05, 1)  # compile
        for asked in ASKED:
            program = FIRST.format(folder=sys.path[0], name=name, asked=asked)
            first = float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)
            taken = later(name, asked)
            print(f"{name:12} {asked:6} {first:7.3f} {statistics.median(taken):7.3f} {max(taken):7.3f}", flush=True)


if __name__ == "__main__":
    main()
