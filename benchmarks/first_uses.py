"""How long do first uses take, when nothing is compiled yet?

    pip install -e ".[bench]" && python benchmarks/first_uses.py

A new process with an empty cache makes an environment and takes its first step, takes one on a board of another size,
and searches for the first time; another one makes a vector environment. Seconds of the processor, and by the clock, in
the process that is used. Writes `results/first_uses.txt`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "first_uses.txt"
GAMES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "curio": ({}, {"rows": 6, "cols": 6}),
    "chameleon": ({"size": 11}, {"size": 9}),
}
USES = ("step", "step, second size", "search", "vector environment")


def first_step(game: Any) -> None:
    from pbm_envs.envs.factories import make_aec_env

    env = make_aec_env(game)
    env.reset(seed=0)
    env.step(int(env.last()[0]["action_mask"].argmax()))
    env.last()


def first_search(game: Any) -> None:
    from pbm_agents.search import Search

    rng = np.random.default_rng(0)
    states = game.init(1, rng)
    Search(simulations=8).run(game, game.view(states, states["to_move"]), rng)


def first_vector_step(game: Any) -> None:
    from pbm_envs.envs.factories import make_vector_env

    envs = make_vector_env(game, 16)
    _, info = envs.reset(seed=0)
    envs.step(info["action_mask"].argmax(axis=1))


def use_first(name: str, uses: list[str]) -> None:
    """A process with an empty cache: one line of seconds a use, of the processor and by the clock."""
    import pbm_agents  # noqa: F401  importing is measured elsewhere

    import pbm_envs

    first, second = GAMES[name]
    for use in uses:
        job = {"search": first_search, "vector environment": first_vector_step}.get(use, first_step)
        options = second if use == "step, second size" else first
        processor, clock = time.process_time(), time.perf_counter()
        job(pbm_envs.make_game(name, **options))
        print(json.dumps([time.process_time() - processor, time.perf_counter() - clock]), flush=True)


def row(name: str) -> str:
    """The line of a game: first uses in a process with an empty cache, and the vector environment's in another one."""
    lines: list[str] = []
    for uses in (USES[:3], USES[3:]):
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, __file__, name, *uses]
            environment = os.environ | {"PBM_ENVS_CACHE_DIR": cache}
            said = subprocess.run(
                command, env=environment, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        lines += said.stdout.splitlines()
    cells = ["{:.1f} ({:.1f})".format(*json.loads(line)) for line in lines]
    return f"{name:12}" + "".join(f"{cell:>20}" for cell in cells)


def main() -> None:
    from machine import machine

    lines = [machine(), "", "first uses with an empty cache: seconds of the processor (by the clock)"]
    lines.append(f"{'':12}" + "".join(f"{use:>20}" for use in USES))
    for name in GAMES:
        lines.append(row(name))
        print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        use_first(sys.argv[1], sys.argv[2:])
    else:
        main()
