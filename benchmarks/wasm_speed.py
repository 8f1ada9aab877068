"""Compare the kernels as WebAssembly, in Node, with the compiled kernels of Python, in one run.

    make wasm && python benchmarks/wasm_speed.py

Both do the same work on the default board of each game: playouts, masks and observations of a batch of first positions,
and one search with playouts. They take turns. The table has the best of the rounds, and the
median of the ratios.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import machine
from pbm_agents import Search, Workspace

import pbm_envs

BROWSER, OUT = (Path(__file__).parents[1] / folder for folder in ("browser", "build/wasm"))
GAMES, MASKS, SIMULATIONS, ROUNDS, TURNS = 2000, 20, 2000, 5, 5
"""Games in a batch; masks of each; simulations; rounds, in turns of the two."""


def native(name: str) -> dict[str, float]:
    """Return the seconds of each piece of work in Python."""
    game, seeds, workspace = pbm_envs.make_game(name), np.arange(GAMES, dtype=np.uint64), Workspace()
    states = game.init(GAMES, seeds.copy())
    view, search = game.view(states[:1], 0), Search(simulations=SIMULATIONS)
    mask, planes = game.legal_action_mask(states), game.observe(states)

    def seconds(run: Callable[[], object]) -> float:
        times = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        return min(times)

    return {
        "playouts": seconds(lambda: game.playout(states.copy(), seeds.copy())),
        "masks": seconds(lambda: [game.legal_action_mask(states, out=mask) for _ in range(MASKS)]),
        "observations": seconds(lambda: game.observe(states, out=planes)),
        "simulations": seconds(lambda: search.run(game, view, np.ones(1, np.uint64), workspace=workspace)),
    }


def in_node(name: str) -> dict[str, float]:
    """Return the seconds of the same work in Node."""
    command = ["node", str(BROWSER / "speed.mjs"), str(OUT), name, *map(str, (GAMES, SIMULATIONS, ROUNDS))]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print the table."""
    node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    print(f"{machine()}\nNode {node}\n")
    print("per second                     native        Node   native / Node")
    amounts = {"playouts": GAMES, "masks": GAMES * MASKS, "observations": GAMES, "simulations": SIMULATIONS}
    for name in pbm_envs.registered_games():
        both = [(native(name), in_node(name)) for _ in range(TURNS)]
        sizes = ", ".join(f"{(OUT / f'{name}.{kind}').stat().st_size:,} bytes of {kind}" for kind in ("wasm", "json"))
        print(f"{name}: {sizes}")
        for work, amount in amounts.items():
            speeds = [max(amount / each[side][work] for each in both) for side in range(2)]
            ratio = statistics.median(there[work] / here[work] for here, there in both)
            print(f"  {work:20}{speeds[0]:>15,.0f}{speeds[1]:>12,.0f}{ratio:>16.2f}", flush=True)


if __name__ == "__main__":
    main()
