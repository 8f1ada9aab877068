"""A real Chromium, without a window."""

import os
import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        path = next(filter(None, map(shutil.which, NAMES)), own if os.path.exists(own) else None)
        if path is None:
            pytest.skip(f"there is no Chromium on this machine: none of {', '.join(NAMES)} and none of Playwright's")
        root = hasattr(os, "getuid") and os.getuid() == 0
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        yield browser
        browser.close()


@pytest.fixture
def context(chromium):
    """A window of its own; an error in the page is an error of the test, but for attempts to find a lost server."""
    context = chromium.new_context(viewport={"width": 1200, "height": 850}, color_scheme="light")
    context.set_default_timeout(120_000)
    errors = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    context.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    yield context
    context.close()
    assert [error for error in errors if "WebSocket connection" not in error] == []
