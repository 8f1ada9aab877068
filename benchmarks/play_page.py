"""Measure the page on which the games are played without a server: its size, and the time until a board can be played.

    make play && python benchmarks/play_page.py

A server of files runs on this machine. Each load is in a new window of Chromium, without a cache, from the request of
the page until a move can be made.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from machine import machine
from playwright.sync_api import sync_playwright

import pbm_envs

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site" / "play"
LOADS = 11
sys.path.append(str(ROOT))


def own_files(name: str) -> list[Path]:
    """Return the files that the page of a game loads."""
    pages = [path for path in SITE.iterdir() if path.suffix not in (".svg",) and path.name != "index.html"]
    others = [other for other in pbm_envs.registered_games() if other != name]
    return [path for path in pages if path.stem.partition("-")[0] not in others]


def main() -> None:
    """Print the table."""
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
    main()
