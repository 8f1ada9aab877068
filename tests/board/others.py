"""Browsers of this machine other than Chromium: Firefox, driven by WebDriver BiDi over its own socket, since Playwright
needs one that it has patched; and WebKitGTK's small browser, driven by its WebDriver on a display of its own.
"""

import contextlib
import itertools
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

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


def webkit_path():
    """The path of WebKitGTK's small browser if it can be driven here, or None."""
    found = sorted(Path("/usr").glob("lib*/**/webkit2gtk-*/MiniBrowser"))
    return str(found[-1]) if found and shutil.which("WebKitWebDriver") and shutil.which("Xvfb") else None


class Window:
    """One window. `console` are the errors of its pages, as far as the browser tells them."""

    def evaluate(self, expression):
        """The value of an expression of JavaScript, by way of JSON."""
        raise NotImplementedError

    def act(self, actions):
        raise NotImplementedError

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
        actions.append({"type": "pointerUp", "button": 0})
        self.act([{"type": "pointer", "id": "mouse", "actions": actions}])


class Firefox(Window):
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
        text = f"JSON.stringify({expression})"
        result = self.ask("script.evaluate", expression=text, target={"context": self.window}, awaitPromise=True)
        assert result["type"] == "success", result
        return json.loads(result["result"].get("value", "null"))

    def act(self, actions):
        self.ask("input.performActions", context=self.window, actions=actions)


class WebKit(Window):
    def __init__(self, driver, browser):
        self.address, self.console = f"{driver}/session", []
        options = {"binary": browser, "args": ["--automation"]}
        capabilities = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
        self.address += "/" + self.ask("", capabilities=capabilities)["sessionId"]

    def ask(self, path, **body):
        with urlopen(Request(self.address + path, json.dumps(body).encode()), timeout=PATIENCE) as answer:
            return json.loads(answer.read())["value"]

    def goto(self, address):
        self.ask("/url", url=address)

    def resize(self, width, height):
        self.ask("/window/rect", width=width, height=height)

    def evaluate(self, expression):
        return json.loads(self.ask("/execute/sync", script=f"return JSON.stringify({expression})", args=[]) or "null")

    def act(self, actions):
        self.ask("/actions", actions=actions)


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


@contextlib.contextmanager
def webkit():
    """A WebKitGTK, on a screen that nobody sees."""
    display, driver = ["Xvfb", "-displayfd", "1", "-screen", "0", "1300x950x24"], None
    with subprocess.Popen(display, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as screen:
        try:
            environment = {**os.environ, "DISPLAY": f":{screen.stdout.readline().strip()}", "GDK_BACKEND": "x11"}
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            driver = subprocess.Popen(["WebKitWebDriver", f"--port={port}"], env=environment)
            address, end = f"http://127.0.0.1:{port}", time.monotonic() + PATIENCE
            while True:
                with contextlib.suppress(URLError):
                    urlopen(f"{address}/status", timeout=PATIENCE).close()
                    break
                assert driver.poll() is None
                assert time.monotonic() < end
                time.sleep(PAUSE)
            yield WebKit(address, webkit_path())
        finally:
            for process in filter(None, (driver, screen)):
                process.terminate()
                process.wait(PATIENCE)
