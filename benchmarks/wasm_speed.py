"""Measure the games in a browser: kernels as WebAssembly in Node beside those of Python, and the page without a server.

    make wasm && python benchmarks/wasm_speed.py
    make play && python benchmarks/wasm_speed.py sizes
    make play && python benchmarks/wasm_speed.py page
    make play && python benchmarks/wasm_speed.py memory

Both do the same work on the default board of each game: playouts, masks and observations of a batch of first positions,
and one search with playouts. They take turns. The table has the best of the rounds, and the median of the ratios.

Of the page: the sizes of its files, and the time until a board can be played. A server of files runs on this machine.
Each load is in a new window of Chromium, without a cache, from the request of the page until a move can be made.
The memory of page and worker is as Chromium measures it, without WebAssembly's, which the worker notes.
"""

from __future__ import annotations

import http.server
import json
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine
from pbm_agents import Search, Workspace

import pbm_envs

ROOT = Path(__file__).parents[1]
BROWSER, OUT, SITE = (ROOT / folder for folder in ("browser", "build/wasm", "build/site/play"))
USED = "performance.measureUserAgentSpecificMemory().then(({ bytes }) => bytes)"
NOTED = """
const { instantiate } = WebAssembly, made = [];
WebAssembly.instantiate = async (...given) => {
  const found = await instantiate(...given);
  made.push((found.instance ?? found).exports.memory);
  return found;
};
globalThis.noted = () => made.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
"""
"""What the page and its worker use without WebAssembly's memory, and what makes the worker note that."""
MEMORY_GAMES = 4
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
        print(f"{name}:")
        for work, amount in amounts.items():
            speeds = [max(amount / each[side][work] for each in both) for side in range(2)]
            ratio = statistics.median(there[work] / here[work] for here, there in both)
            print(f"  {work:20}{speeds[0]:>15,.0f}{speeds[1]:>12,.0f}{ratio:>16.2f}", flush=True)


def own_files(name: str) -> list[Path]:
    """Return the files that the page of a game loads."""
    pages = [path for path in SITE.iterdir() if path.suffix not in (".svg",) and path.name != "index.html"]
    others = [other for other in pbm_envs.registered_games() if other != name]
    return [path for path in pages if path.stem.partition("-")[0] not in others]


class Isolated(http.server.SimpleHTTPRequestHandler):
    """Serves the folder without a log, with the headers that let a page measure its memory."""

    def end_headers(self) -> None:
        """Add the headers."""
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def opened() -> Iterator[tuple[Any, str]]:
    """Yield a browser, and the address of the folder, which is served as it is."""
    sys.path.append(str(ROOT))
    from playwright.sync_api import sync_playwright

    from tests.board.screens import browser_path

    print(machine())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Isolated, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--enable-blink-features=ForceEagerMeasureMemory"]
        browser = playwright.chromium.launch(executable_path=browser_path(playwright), args=arguments)
        yield browser, f"http://127.0.0.1:{server.server_port}/"
        browser.close()
    server.shutdown()


def sizes() -> None:
    """Print the table of the sizes of the page's files."""
    print(f"{machine()}\n\nbytes        wasm        json        page with everything")
    for name in pbm_envs.registered_games():
        own = [(SITE / f"{name}.{kind}").stat().st_size for kind in ("wasm", "json")]
        whole = sum(path.stat().st_size for path in own_files(name))
        print(f"{name:10}{own[0]:>9,}{own[1]:>12,}{whole:>12,}")


def page() -> None:
    """Print the table of the times until a page can be played."""
    with opened() as (browser, address):
        print(f"Chromium {browser.version}, median of {LOADS} loads\n\ngame      seconds until a move")
        for name in pbm_envs.registered_games():
            seconds = []
            for _ in range(LOADS):
                window = browser.new_context(service_workers="block")
                page, start = window.new_page(), time.perf_counter()
                page.goto(f"{address}{name}.html", wait_until="commit")
                page.wait_for_selector(".pbm[data-turn=mine]")
                seconds.append(time.perf_counter() - start)
                window.close()
            print(f"{name:10}{statistics.median(seconds):>10.2f}", flush=True)


def memory() -> None:
    """Print the table of the page's memory: when it is open, and after each of some games against the champion."""
    with opened() as (browser, address):
        from tests.board.test_browser import OURS, click_a_move

        print(f"Chromium {browser.version}, games of random moves against the champion of the middle level\n")
        print(f"mebibytes     open   after {MEMORY_GAMES} games, one by one                  WebAssembly's memory")
        for name in pbm_envs.registered_games():
            window, rng = browser.new_context(service_workers="block", reduced_motion="reduce"), random.Random(3)
            window.set_default_timeout(120_000)
            page = window.new_page()
            page.route(
                "**/play-worker.mjs",
                lambda route: route.fulfill(response=(it := route.fetch()), body=it.text() + NOTED),
            )
            page.goto(f"{address}{name}.html")
            page.wait_for_selector(OURS)
            used = [page.evaluate(USED)]
            for k in range(MEMORY_GAMES):
                if k:
                    page.get_by_role("button", name="Rematch").click()
                    page.wait_for_selector(".pbm[data-turn=mine]")
                while page.locator(".pbm").get_attribute("data-turn") != "over":
                    click_a_move(page, rng)
                used.append(page.evaluate(USED))
            shown = "".join(f"{amount / 2**20:>8.1f}" for amount in [*used, page.workers[0].evaluate("noted()")])
            print(f"{name:10}{shown}", flush=True)
            window.close()


if __name__ == "__main__":
    {"sizes": sizes, "page": page, "memory": memory}[sys.argv[1]]() if sys.argv[1:] else main()
