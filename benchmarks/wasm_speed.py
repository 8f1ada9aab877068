"""Measure the games in a browser: kernels as WebAssembly in Node beside those of Python, and the page without a server.

    make wasm && python benchmarks/wasm_speed.py
    make play && python benchmarks/wasm_speed.py page

Both do the same work on the default board of each game: playouts, masks and observations of a batch of first positions,
and one search with playouts. They take turns. The table has the best of the rounds, and the median of the ratios.

Of the page: its size, and the time until a board can be played. A server of files runs on this machine. Each load is in
a new window of Chromium, without a cache, from the request of the page until a move can be made.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from machine import machine
from pbm_agents import Search, Workspace

import pbm_envs

ROOT = Path(__file__).parents[1]
BROWSER, OUT, SITE = (ROOT / folder for folder in ("browser", "build/wasm", "build/site/play"))
GAMES, MASKS, SIMULATIONS, ROUNDS, TURNS, LOADS = 2000, 20, 2000, 5, 5, 11
"""Games in a batch; masks of each; simulations; rounds, in turns of the two; loads of the page."""


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


def own_files(name: str) -> list[Path]:
    """Return the files that the page of a game loads."""
    pages = [path for path in SITE.iterdir() if path.suffix not in (".svg",) and path.name != "index.html"]
    others = [other for other in pbm_envs.registered_games() if other != name]
    return [path for path in pages if path.stem.partition("-")[0] not in others]


def page() -> None:
    """Print the table of the page."""
    sys.path.append(str(ROOT))
    from playwright.sync_api import sync_playwright

    from tests.board.screens import browser_path

    print(machine())
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", "0", "--directory", str(SITE)]
    server = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert server.stdout is not None
    address = server.stdout.readline().split("(")[1].split(")")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(playwright), args=["--no-sandbox"])
        print(f"Chromium {browser.version}, median of {LOADS} loads\n\ngame            bytes   seconds until a move")
        for name in pbm_envs.registered_games():
            seconds = []
            for _ in range(LOADS):
                window = browser.new_context(service_workers="block")
                page, start = window.new_page(), time.perf_counter()
                page.goto(f"{address}{name}.html", wait_until="commit")
                page.wait_for_selector(".pbm[data-turn=mine]")
                seconds.append(time.perf_counter() - start)
                window.close()
            size = sum(path.stat().st_size for path in own_files(name))
            print(f"{name:10}{size:>12,}{statistics.median(seconds):>10.2f}", flush=True)
        browser.close()
    server.terminate()


if __name__ == "__main__":
    page() if sys.argv[1:] == ["page"] else main()
