"""A real Chromium, without a window."""

import itertools
import os
from types import SimpleNamespace

import pytest

from tests.board.screens import NAMES, browser_path


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    """A folder for the games that boards keep, apart from the user's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def own_seeds(monkeypatch):
    """A game without a seed is the same whenever the test is run, and another than the one before it."""
    numbers = itertools.count(1_000_000)
    monkeypatch.setattr("pbm_agents.play.start.secrets", SimpleNamespace(randbits=lambda _: next(numbers)))


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            pytest.skip(f"there is no Chromium on this machine: none of {', '.join(NAMES)} and none of Playwright's")
        root = hasattr(os, "getuid") and os.getuid() == 0
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


@pytest.fixture
def context(chromium):
    """A window of its own; an error in the page is an error of the test, but for attempts to find a lost server."""
    context = chromium.new_context(
        viewport={"width": 1200, "height": 850}, color_scheme="light", reduced_motion="reduce"
    )
    context.set_default_timeout(120_000)
    errors = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield context
    context.close()
    assert [error for error in errors if "WebSocket connection" not in error] == []
