"""How long does Curio take to draw a world where unknown captures pile up? 12x12 cells, the hardest options.

    python benchmarks/determinize.py --games 1000

Random games of 70 pieces a side, with faces turned at random, captures that turn nothing and are not revealed. Each
game is looked at by both players every EVERY plies and at its end; one world is drawn for each view, alone in its
batch. Times are of the processor, so other work on the machine does not count. What Numba has made before is frozen
(`gc.freeze`): else Python looks through all of it, 70 milliseconds long, once in some thousand views.
"""

from __future__ import annotations

import argparse
import gc
import time

import numpy as np
from machine import machine

from pbm_envs import Curio, sample_actions
from pbm_envs.core.types import States

HARDEST = {"rows": 12, "cols": 12, "num_pieces": 70, "face": "random", "turn": False, "reveal_captured": False}
CAPTURES = ("le", "le_total")
EVERY = 250


def draw_times(game: Curio, states: States, rng: np.random.Generator) -> list[float]:
    """Milliseconds for each player's view of each game."""
    found = []
    for row in range(len(states)):
        for player in range(game.num_players):
            view = game.view(states[row : row + 1], player)
            start = time.thread_time()
            game.determinize(view, rng)
            found.append(1000 * (time.thread_time() - start))
    return found


def play(game: Curio, count: int, rng: np.random.Generator) -> list[float]:
    """Milliseconds for every view along so many random games."""
    states, found = game.init(count, rng), list[float]()
    while len(states):
        game.step(states, sample_actions(game.legal_action_mask(states), rng))
        over = states["done"]
        found += draw_times(game, states[over | (states["ply"] % EVERY == 0)], rng)
        states = states[~over]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1000)
    arguments = parser.parse_args()
    print(machine())
    print(f"{arguments.games} random games, milliseconds of processor time for a view\n")
    print(f"{'capture':10}{'views':>10}{'mean':>10}{'99%':>10}{'99.9%':>10}{'worst':>10}")
    games = [Curio(capture=capture, **HARDEST) for capture in CAPTURES]
    for game in games:
        play(game, 2, np.random.default_rng(1))  # compile
    gc.collect()
    gc.freeze()
    for game in games:
        times = play(game, arguments.games // len(games), np.random.default_rng(16))
        shown = (np.mean(times), np.percentile(times, 99), np.percentile(times, 99.9), np.max(times))
        print(
            f"{game.options['capture']:10}{len(times):10,}" + "".join(f"{value:10.1f}" for value in shown), flush=True
        )


if __name__ == "__main__":
    main()
