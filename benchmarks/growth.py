"""How do a step, an observation, a mask and a random game grow with the board?

    pip install -e ".[bench]" && python benchmarks/growth.py

Batches of BATCH games on one core, by processor time: nanoseconds a game, after a sixth of the longest game, and the
exponent of the growth against the number of cells between the first and the last board. A step need not grow; an
observation and a mask are written anew and grow as they do; a random game grows as its plies, and in Trinim as the
lines that it breaks (exponent 1.5, all of them).
"""

from __future__ import annotations

import math
import os
import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
from machine import machine

from pbm_envs import Game, make_game, sample_actions
from pbm_envs.core.state import copy_states

BATCH, ROUNDS, SEED = 512, 7, 2008
BOARDS = {
    "chameleon": ("size", (5, 7, 11, 15, 19, 26)),
    "unlur": ("radius", (4, 6, 8, 10, 13)),
    "trinim": ("size", (3, 5, 9, 14, 20)),
}
WIDTHS = (8, 9, 7, 13)
"""Of the columns."""


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) / BATCH


def round_of(game: Game, rng: np.random.Generator) -> list[float]:
    states = game.init(BATCH, rng)
    half = game.max_plies // 6
    for _ in range(half):
        masks = game.legal_action_mask(states)
        masks[states["done"]] = True
        game.step(states, sample_actions(masks, rng))
    masks = game.legal_action_mask(states)
    masks[states["done"]] = True
    actions, stepped = sample_actions(masks, rng), copy_states(states)
    views = game.view(states, states["to_move"])
    planes = game.observe(views)  # first writes to new memory take longer
    fresh = game.init(BATCH, rng)
    return [
        seconds(lambda: game.step(stepped, actions)),
        seconds(lambda: game.observe(views, out=planes)),
        seconds(lambda: game.legal_action_mask(views, out=masks)),
        seconds(lambda: game.playout(fresh, rng)),
    ]


def main() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    warnings.simplefilter("ignore")  # T7: some sizes of Trinim are always drawn
    print(machine())
    print(f"\nnanoseconds a game, batches of {BATCH}, median of {ROUNDS} rounds")
    print(f"{'':14}{'cells':>6}{'actions':>8}{'step':>8}{'observe':>9}{'mask':>7}{'random game':>13}")
    rng = np.random.default_rng(SEED)
    for name, (option, sizes) in BOARDS.items():
        games = [make_game(name, **{option: size}) for size in sizes]
        for game in games:
            round_of(game, rng)  # compile
        rounds = [[round_of(game, rng) for game in games] for _ in range(ROUNDS)]
        medians = [
            [statistics.median(one[k][figure] for one in rounds) * 1e9 for figure in range(4)]
            for k in range(len(games))
        ]
        for game, size, figures in zip(games, sizes, medians, strict=True):
            print(
                f"{name:10} {size:3}{game.board.size:6}{game.num_actions:8}"
                + "".join(f"{figure:{width},.0f}" for figure, width in zip(figures, WIDTHS, strict=True))
            )
        span = math.log(games[-1].board.size / games[0].board.size)
        powers = [math.log(last / first) / span for first, last in zip(medians[0], medians[-1], strict=True)]
        print(f"{'exponent':28}" + "".join(f"{power:{width}.2f}" for power, width in zip(powers, WIDTHS, strict=True)))


if __name__ == "__main__":
    main()
