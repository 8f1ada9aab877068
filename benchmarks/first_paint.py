"""How long until the page of `pbm serve` shows a board? Each game at its usual size, everything compiled, in Chromium.

    pip install -e ".[bench,test]" && python benchmarks/first_paint.py

From the start of the navigation to the frame in which the board is painted, by the browser's own clock. Beside it how
busy the machine is with other things: how much longer than its processor time a short computation takes.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

from machine import machine
from playwright.sync_api import sync_playwright

from pbm_envs import make_game, registered_games

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.board.boards import serving, start
from tests.board.screens import browser_path

VISITS = 9
PAINTED = """
window.painted = new Promise((resolve) => {
    const look = () => {
        if (!document.querySelector(".pbm-picture [data-cell]")) return requestAnimationFrame(look);
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())));
    };
    requestAnimationFrame(look);
});
"""


def milliseconds(window, port: int) -> float:
    page = window.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    painted = page.evaluate("window.painted")
    page.close()
    return float(painted)


def crowd() -> float:
    """How much longer than its processor time a short computation takes."""
    begun, used = time.perf_counter(), time.process_time()
    while time.process_time() - used < 0.5:
        pass
    return (time.perf_counter() - begun) / (time.process_time() - used)


def main() -> None:
    print(machine())
    with sync_playwright() as playwright:
        root = hasattr(os, "getuid") and os.getuid() == 0
        browser = playwright.chromium.launch(
            executable_path=browser_path(playwright), args=["--no-sandbox"] if root else []
        )
        print(f"Chromium {browser.version}")
        print(f"\nmilliseconds from the start of the navigation to the frame with the board; {VISITS} visits")
        print(f"{'':12}{'least':>8}{'median':>8}{'most':>8}{'busy':>8}", flush=True)
        for name in registered_games():
            window = browser.new_context(viewport={"width": 1280, "height": 800})
            window.add_init_script(PAINTED)
            with serving(start(make_game(name), "person", "random", seed=1)) as port:
                milliseconds(window, port)  # compiled, and read from disk
                times = sorted(milliseconds(window, port) for _ in range(VISITS))
                window.close()
            print(f"{name:12}{times[0]:8.0f}{statistics.median(times):8.0f}{times[-1]:8.0f}{crowd():8.2f}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
