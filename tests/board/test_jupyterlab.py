"""The widget in JupyterLab, in a real Chromium: a lesson, a game, a restarted kernel, a notebook opened again."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from pbm_envs import Curio
from tests.board.boards import PATIENCE
from tests.board.test_lesson_page import play_lesson

sync_api = pytest.importorskip("playwright.sync_api")
sync_api.expect.set_options(timeout=1000 * PATIENCE)
expect = sync_api.expect
pytest.importorskip("jupyterlab")
pytestmark = pytest.mark.slow

CODE = """\
from pbm_agents.play.widget import BoardWidget
board = BoardWidget("curio", "random", seed=3, base=2, rows=4, cols=3)
board"""
MINE = ".pbm[data-turn=mine]"
PLAYED = f"{MINE}:has(.pbm-moves [data-ply])"
KERNELS = """async ([method, path]) => {
    const token = document.cookie.match(/_xsrf=([^;]+)/)?.[1] ?? "";
    const ask = async (url, method) => fetch(`/api/kernels${url}`, { method, headers: { "X-XSRFToken": token } });
    for (const { id } of await (await ask("", "GET")).json()) await ask(`/${id}${path}`, method);
}"""


@contextlib.contextmanager
def jupyterlab(folder):
    """The address of a server with one notebook, which has settings of its own."""
    kernel = folder / "share" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    cell = {"id": "a", "cell_type": "code", "metadata": {}, "source": CODE, "outputs": [], "execution_count": None}
    language = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (folder / "notebooks").mkdir()
    (folder / "notebooks" / "game.ipynb").write_text(
        json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": language}, "cells": [cell]})
    )
    settings = ("CONFIG_DIR", "RUNTIME_DIR", "DATA_DIR")
    environment = os.environ | {f"JUPYTER_{name}": str(folder / name) for name in settings}
    environment |= {f"JUPYTERLAB_{name}_DIR": str(folder / name) for name in ("SETTINGS", "WORKSPACES")}
    environment["JUPYTER_PATH"] = str(folder / "share")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
    ]
    words += [f"--ServerApp.root_dir={folder / 'notebooks'}", "--LabApp.news_url=None"]
    command = [sys.executable, "-m", "jupyterlab", *words]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        address, end = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
        try:
            while True:
                assert process.poll() is None
                assert time.monotonic() < end
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{address}/api", timeout=5).close()
                    break
                time.sleep(0.5)
            yield address
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()


@pytest.fixture
def page(chromium):
    window = chromium.new_context(
        viewport={"width": 1300, "height": 900}, color_scheme="light", reduced_motion="reduce"
    )
    window.set_default_timeout(1000 * PATIENCE)
    yield window.new_page()
    window.close()


def open_notebook(page, address):
    page.goto(f"{address}/lab/tree/game.ipynb?reset")
    page.locator(".jp-CodeCell .cm-content").first.wait_for()
    page.get_by_text("Python 3 | Idle").wait_for()  # else it would ask which kernel


def run_cell(page):
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")


def play(page):
    page.locator(".pbm-can").first.click()
    page.locator(".pbm-next").first.click()


def test_a_board_in_jupyterlab(page, tmp_path):
    picture = page.locator('.jp-OutputArea img[alt="The board as it was last shown"]')
    with jupyterlab(tmp_path) as address:
        open_notebook(page, address)
        run_cell(page)
        page.wait_for_selector(MINE)
        play_lesson(page, Curio())
        page.keyboard.press("Escape")  # the form
        page.get_by_role("button", name="Leave").click()
        expect(page.get_by_role("region", name="Exercise")).to_be_hidden()
        page.wait_for_selector(MINE)
        play(page)
        page.wait_for_selector(PLAYED)
        moves = page.locator(".pbm-moves [data-ply]").all_text_contents()
        expect(picture).to_have_count(1)
        expect(picture).to_be_hidden()
        page.keyboard.press("Control+s")  # the board has the focus
        path, end = tmp_path / "notebooks" / "game.ipynb", time.monotonic() + PATIENCE
        while len(json.loads(path.read_text())["cells"][0]["outputs"]) < 2:
            assert time.monotonic() < end
            time.sleep(0.2)

        open_notebook(page, address)  # its kernel still runs: the game goes on
        page.wait_for_selector(PLAYED)
        expect(page.locator(".pbm-moves [data-ply]")).to_have_text(moves)

        page.evaluate(KERNELS, ["POST", "/restart"])  # the board says so when it is used
        play(page)
        page.get_by_text("No kernel answers").wait_for()

        page.evaluate(KERNELS, ["DELETE", ""])  # no kernel: a picture
        open_notebook(page, address)
        picture.wait_for()
        expect(page.locator(".pbm")).to_have_count(0)
        assert picture.evaluate("async (image) => (await image.decode(), image.naturalWidth)") > 100

        run_cell(page)  # the browser knows its address
        page.get_by_role("button", name="Go on with it").click()
        expect(page.locator(".pbm-moves [data-ply]")).to_have_text(moves)
