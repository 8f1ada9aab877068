"""A Firefox of this machine, driven by WebDriver BiDi over its own socket: Playwright needs one that it has patched."""

import base64
import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from websockets.sync.client import connect

from tests.board.boards import PATIENCE

NAMES = ("firefox", "firefox-esr")
PREFERENCES = {"ui.prefersReducedMotion": 1, "browser.aboutwelcome.enabled": False, "app.update.auto": False}
PAUSE = 0.02
"""Seconds between two looks at the page."""


def firefox_path():
    """The path of a Firefox, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox:
    """One window. `console` are the errors of its pages."""

    def __init__(self, socket):
        self.socket = socket
        self.numbers = itertools.count(1)
        self.console = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self.window = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method, **params):
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.recv(PATIENCE))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.console.append(message["params"]["text"])
            if message.get("id") == number:
                assert message["type"] == "success", message
                return message["result"]

    def goto(self, address):
        self.ask("browsingContext.navigate", context=self.window, url=address, wait="complete")

    def resize(self, width, height):
        self.ask("browsingContext.setViewport", context=self.window, viewport={"width": width, "height": height})

    def evaluate(self, expression):
        """The value of an expression of JavaScript, by way of JSON."""
        text = f"JSON.stringify({expression})"
        result = self.ask("script.evaluate", expression=text, target={"context": self.window}, awaitPromise=True)
        assert result["type"] == "success", result
        return json.loads(result["result"].get("value", "null"))

    def wait(self, expression):
        """Wait until an expression is true; return its value."""
        end = time.monotonic() + PATIENCE
        while not (value := self.evaluate(expression)):
            assert time.monotonic() < end, expression
            time.sleep(PAUSE)
        return value

    def click(self, selector, number=0):
        """Click in the middle of an element with the mouse."""
        element = f"document.querySelectorAll({json.dumps(selector)})[{number}]"
        box = self.wait(
            f"{element} && ({element}.scrollIntoView({{ block: 'nearest' }}), {element}.getBoundingClientRect())"
        )
        x, y = round(box["x"] + box["width"] / 2), round(box["y"] + box["height"] / 2)
        actions = [{"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}]
        self.act("pointer", [*actions, {"type": "pointerUp", "button": 0}])

    def press(self, *keys):
        self.act("key", [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")])

    def act(self, kind, actions):
        self.ask("input.performActions", context=self.window, actions=[{"type": kind, "id": kind, "actions": actions}])

    def screenshot(self):
        return base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self.window)["data"])


@contextlib.contextmanager
def firefox():
    """A Firefox without a window on the screen, with a profile of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        with open(f"{profile}/user.js", "w") as file:
            file.writelines(
                f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in PREFERENCES.items()
            )
        command = [firefox_path(), "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"]
        log = Path(profile, "log")
        with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
            try:
                end = time.monotonic() + PATIENCE
                while not (address := re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text())):
                    if process.poll() is not None:  # such as Ubuntu's command that only names a package
                        pytest.skip(f"Firefox does not start here: {log.read_text()[-300:]}")
                    assert time.monotonic() < end, log.read_text()
                    time.sleep(PAUSE)
                with connect(f"{address[1]}/session", max_size=None, open_timeout=PATIENCE) as socket:
                    yield Firefox(socket)
            finally:
                process.terminate()
                process.wait(PATIENCE)
