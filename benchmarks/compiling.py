"""Measure the compilation that the first use of a game and of the search needs, once per machine.

    pip install -e ".[bench,cli]" && python benchmarks/compiling.py [GAME ...]

For each game, a new process with an empty cache does the work of `pbm warm-up`: everything that the rules need, then a
first search, then a first search with a network's priors, then a champion's first move. The search is compiled once for
all games, together with the parts of the game that it calls.

The other columns are the waiting times of a user without a warm-up. A new process with an empty cache makes an
environment and takes its first step, takes a step on a board of another size, and searches for the first time. Another
process makes a vector environment.

Times are seconds of processor time, which do not depend on the machine's load, with wall-clock seconds in parentheses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import numpy as np
from machine import machine
from pbm_agents import Search
from pbm_agents.play.ahead import STEPS

from pbm_envs import Game, make_game, registered_games
from pbm_envs.envs.factories import make_aec_env, make_vector_env

OTHER_SIZES = {"chameleon": {"size": 9}, "curio": {"rows": 6, "cols": 6}, "trinim": {"size": 6}, "unlur": {"radius": 5}}


def first_step(game: Game) -> None:
    env = make_aec_env(game)
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    env.last()


def first_search(game: Game) -> None:
    rng = np.random.default_rng(0)
    states = game.init(1, rng)
    Search(simulations=8).run(game, game.view(states, states["to_move"]), rng)


def first_vector_step(game: Game) -> None:
    envs = make_vector_env(game, 16)
    _, info = envs.reset(seed=0)
    envs.step(info["action_mask"].argmax(axis=1))


USES: dict[str, tuple[Callable[[Game], object], bool]] = {
    **{name: (step, False) for name, step in STEPS.items()},
    "step": (first_step, False),
    "step, second size": (first_step, True),
    "first search": (first_search, False),
    "vector environment": (first_vector_step, False),
}
"""The timed uses, each with whether it takes a board of another size."""
PERSON = (("step", "step, second size", "first search"), ("vector environment",))
"""The uses that each process times, in order."""


def use(name: str, uses: Sequence[str]) -> None:
    """Print a line per use with processor and wall-clock seconds; called in a new process."""
    for job, other_size in (USES[one] for one in uses):
        processor, clock = time.process_time(), time.perf_counter()
        job(make_game(name, **OTHER_SIZES[name] if other_size else {}))
        print(json.dumps([time.process_time() - processor, time.perf_counter() - clock]), flush=True)


def seconds(name: str, uses: Sequence[str]) -> list[str]:
    """Return the seconds of each use, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"PBM_ENVS_CACHE_DIR": cache}
        command = [sys.executable, __file__, name, *uses]
        said = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return ["{:.1f} ({:.1f})".format(*json.loads(line)) for line in said.stdout.splitlines()]


def row(title: str, cells: Sequence[str]) -> str:
    return f"{title:24}" + "".join(f"{cell:>19}" for cell in cells)


def main(names: Sequence[str]) -> None:
    print(machine())
    print("\nwhat `pbm warm-up` does, with an empty cache for each game: seconds of the processor (by the clock)")
    print(row("", list(STEPS)))
    for name in names:
        print(row(name, seconds(name, list(STEPS))), flush=True)
    print("\nfirst uses of who warms nothing up")
    print(row("", [use for uses in PERSON for use in uses]))
    for name in names:
        print(row(f"first uses of {name}", [cell for uses in PERSON for cell in seconds(name, uses)]), flush=True)


if __name__ == "__main__":
    if set(sys.argv[2:]) & set(USES):
        use(sys.argv[1], sys.argv[2:])
    else:
        main(sys.argv[1:] or registered_games())
