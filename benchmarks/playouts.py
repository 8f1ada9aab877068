"""How many random games a second, from the start, through the batch interface, on one core?

    python benchmarks/playouts.py

Each round plays BATCH games of every game; quoted are the median of the rounds and the plies a second.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from machine import machine

from pbm_envs import make_game, registered_games

BATCH, ROUNDS = 10_000, 9


def main() -> None:
    rng = np.random.default_rng(2008)
    games = {name: make_game(name) for name in registered_games()}
    rounds: dict[str, list[float]] = {name: [] for name in games}
    plies = {}
    for game in games.values():
        game.playout(game.init(10, rng), rng)  # compile
    for _ in range(ROUNDS):
        for name, game in games.items():
            states = game.init(BATCH, rng)
            start = time.perf_counter()
            game.playout(states, rng)
            rounds[name].append(BATCH / (time.perf_counter() - start))
            plies[name] = states["ply"].mean()
    print(machine())
    print(f"\nrandom games a second, one core, batches of {BATCH}, median of {ROUNDS} rounds")
    print(f"{'':12} {'games/s':>10} {'(min ... max)':>21} {'plies a game':>13} {'million plies/s':>16}")
    for name, speeds in rounds.items():
        median = statistics.median(speeds)
        spread = f"({min(speeds):,.0f} ... {max(speeds):,.0f})"
        print(f"{name:12} {median:10,.0f} {spread:>21} {plies[name]:13.1f} {median * plies[name] / 1e6:16.2f}")


if __name__ == "__main__":
    main()
