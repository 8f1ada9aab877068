"""One side of `pbm bench --compare`: a process that plays with the pbm_envs on its path, as often as it is told to.

Run as a file, so that both sides run this one and only pbm_envs differs. Arguments: a game, its options as JSON, the
seconds of a turn. It prints the names of its measurements, then, for each line that it reads (the name of one),
how much it did a second.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from pbm_envs import make_game, sample_actions

BATCH, SEED = 1024, 2008


def measurements(game: Any) -> dict[str, Callable[[], float]]:
    """Pieces of work by name, each of which returns how much it did."""
    rng = np.random.default_rng(SEED)

    def playouts() -> float:
        game.playout(game.init(BATCH, rng), rng)
        return BATCH

    def plies(count: int) -> Callable[[], float]:
        states = game.init(count, rng)

        def play() -> float:
            """Some plies, with the observation and the mask of the player to move; games that are over start anew."""
            for _ in range(20):
                views = game.view(states, states["to_move"])
                game.observe(views)
                game.step(states, sample_actions(game.legal_action_mask(views), rng))
                over = np.flatnonzero(states["done"])
                if over.size:
                    states[over] = game.init(over.size, rng)
            return 20 * count

        return play

    return {"playouts": playouts, f"plies, {BATCH} games": plies(BATCH), "plies, 1 game": plies(1)}


def main() -> None:
    name, options, seconds = sys.argv[1:4]
    warnings.simplefilter("ignore")  # whoever compares has been warned of what is the matter with a game (T7)
    works = measurements(make_game(name, **json.loads(options)))
    for work in works.values():
        work()  # compiles
    print(json.dumps(list(works)), flush=True)
    for line in sys.stdin:
        amount, start = 0.0, perf_counter()
        while not amount or perf_counter() - start < float(seconds):
            amount += works[line.strip()]()
        print(amount / (perf_counter() - start), flush=True)


if __name__ == "__main__":
    main()
