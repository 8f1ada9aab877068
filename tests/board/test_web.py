"""The server: who is let in, tabs that do not disturb each other, and what a browser may do with the page."""

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest
from pbm_agents.cli.app import app
from pbm_agents.play.access import is_loopback
from pbm_agents.play.limits import Limits
from pbm_agents.play.page import MODULES
from pbm_agents.play.web import MAX_MESSAGE_BYTES, MAX_TABLES, application, listen
from typer.testing import CliRunner
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from pbm_envs import Chameleon
from tests.board.boards import PATIENCE, Tab, serving, start

GAME = Chameleon(size=3)


@pytest.fixture(scope="module")
def port():
    with serving(start(GAME, "person", "random", seed=1)) as port:
        yield port


def get(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer, body


@pytest.mark.parametrize(
    ("path", "kind", "part"),
    [
        ("/", "text/html", "page.js"),
        ("/page.js", "text/javascript", 'from "./board.js"'),
        ("/board.js", "text/javascript", "export default { render }"),
        *((f"/{name}", "text/javascript", "export ") for name in MODULES),
        ("/board.css", "text/css", ".pbm"),
    ],
)
def test_the_page_is_files_of_its_own(port, path, kind, part):
    answer, body = get(port, path)
    assert (answer.status, answer.headers.get_content_type()) == (200, kind)
    assert part in body
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    for known in ("// ", "://${location.host}", "http://www.w3.org/2000/svg"):
        body = body.replace(known, "")
    assert "//" not in body  # it fetches from nowhere else


@pytest.mark.parametrize("path", ["/table.py", "/../table.py", "/..%2ftable.py", "//etc/passwd", "/play/board.js"])
def test_there_is_nothing_else(port, path):
    assert get(port, path)[0].status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "10.0.0.1"])
def test_a_page_that_has_bent_its_name_to_us_is_refused(port, host):
    answer, body = get(port, "/", Host=host)
    assert answer.status == 403
    assert "page.js" not in body


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (None, "http://evil.example"),
        (None, None),
        (None, "null"),
        (None, "http://127.0.0.1:1"),
        ("evil.example", "http://evil.example"),
    ],
)
def test_a_socket_from_elsewhere_is_refused(port, host, origin):
    address = f"127.0.0.1:{port}" if host is None else host
    with (
        socket.create_connection(("127.0.0.1", port)) as sock,
        pytest.raises(InvalidStatus) as refused,
        connect(f"ws://{address}/table", sock=sock, origin=origin),
    ):
        pass
    assert refused.value.response.status_code == 403


async def status(server, **headers):
    """The status with which the server answers a request for its page."""
    answers = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        answers.append(message)

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": raw, "query_string": b"", "http_version": "1.1"}
    await server(scope, receive, send)
    return next(message["status"] for message in answers if message["type"] == "http.response.start")


@pytest.mark.parametrize(
    ("host", "name", "welcome"),
    [
        ("127.0.0.1", "localhost:8765", True),
        ("127.0.0.1", "[::1]:8765", True),
        ("127.0.0.1", "192.168.0.7:8765", False),
        ("0.0.0.0", "192.168.0.7:8765", True),
        ("0.0.0.0", "[fe80::1]:8765", True),
        ("0.0.0.0", "evil.example:8765", False),
        ("0.0.0.0", "evil.example", False),
        ("board.lan", "Board.lan:8765", True),
        ("board.lan", "evil.lan:8765", False),
    ],
)
def test_names_of_this_server(host, name, welcome):
    """A server that listens at `host`, asked for its page under `name`: the Host header decides."""
    server = application(start(GAME, "person", "random"), host, Limits())
    assert asyncio.run(status(server, host=name)) == (200 if welcome else 403)


def test_loopback():
    assert [is_loopback(host) for host in ("127.0.0.1", "127.1.2.3", "::1", "localhost")] == [True] * 4
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "192.168.0.7", "board.lan", ""))


def test_two_tabs_do_not_disturb_each_other(port):
    with Tab(port) as one, Tab(port) as other:
        after = one.play("b2x")
        other.say("new", game="unlur", options=["radius=3"], players=["person", "random"])
        assert other.settle()["game"] == "unlur"
        one.say("hello", theme="dark")
        one.hear("setup")
        assert one.settle() == after
        assert len(one.play(after["legal"][0]["move"])["moves"]) == 4
    with Tab(port) as third:
        assert third.position["moves"] == []


@pytest.mark.parametrize("text", ["", "{", "null", "3", '"hello"', "[" * 5000, b"\x00\xff"])
def test_what_is_no_message_is_answered(port, text):
    with Tab(port) as tab:
        tab.socket.send(text)
        assert "expected an object with 'do'" in tab.hear("error")["text"]
        assert len(tab.play("b2x")["moves"]) == 2


def test_odd_characters_come_back(port):
    with Tab(port) as tab:
        tab.socket.send('{"do": "play", "move": "\\ud800<b>"}')
        assert "is not a move of Chameleon" in tab.hear("error")["text"]


def test_messages_that_are_too_long_end_the_connection(port):
    with Tab(port) as tab:
        tab.socket.send(json.dumps({"do": "play", "move": "x" * MAX_MESSAGE_BYTES}))
        with pytest.raises(ConnectionClosed) as closed:
            tab.hear()
        assert closed.value.rcvd.code == 1009
    with Tab(port) as tab:
        assert tab.position["legal"]


def test_agents_that_are_files_or_modules_are_named_at_the_start_only(port):
    with Tab(port) as tab:
        for name in ("os:abort", "network:file=/etc/passwd", "mcts:network=x.pt", "network"):
            assert "where the server is started" in tab.error("new", game="unlur", players=["person", name])
    with serving(start(GAME), limits=Limits(own_agents=("tests.cli.agents:Crash",))) as port, Tab(port) as tab:
        assert tab.setup["agents"][-1] == "tests.cli.agents:Crash"
        tab.say("new", game="chameleon", options=["size=3"], players=["person", "tests.cli.agents:Crash"])
        assert tab.settle()["seats"][1] == "tests.cli.agents:Crash"


def test_closing_a_tab_makes_room_for_another():
    with serving(start(GAME, "person", "random")) as port:
        with contextlib.ExitStack() as tabs:
            for _ in range(MAX_TABLES):
                tabs.enter_context(Tab(port))
            with pytest.raises(ConnectionClosed, match="256 boards are open"):
                Tab(port)
        deadline = time.monotonic() + PATIENCE
        while True:  # the server notices in a moment
            try:
                with Tab(port) as tab:
                    assert tab.position["legal"]
                break
            except ConnectionClosed:
                assert time.monotonic() < deadline, "the server still counts boards that were closed"
                time.sleep(0.05)


def test_a_port_that_is_taken_is_an_error():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"127.0.0.1, port {number}: .*in use; expected a free port"):
            listen("127.0.0.1", number)
    with pytest.raises(OSError, match="nowhere"):
        listen("nowhere.invalid", 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("serve chess", "'chess' is not a game of pbm_envs"),
        ("serve chameleon -o size=2", "size is 2: expected an integer from 3 to 26"),
        ("serve chameleon sage", "'sage' is not an agent"),
        ("serve chameleon --hint sage", "'sage' is not an agent"),
        ("serve chameleon --moves z9z", "'z9z' is not a move of Chameleon"),
        ("serve chameleon --host nowhere.invalid", "nowhere.invalid, port 8765"),
        ("serve chameleon --clock soon", "the clock is 'soon': expected seconds per game such as 300"),
        ("serve chameleon random random --clock 300", "only agents play: expected a person, or no clock"),
    ],
)
def test_errors_of_the_command_are_one_line(words, message):
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_ctrl_c_ends_the_server_while_an_agent_thinks():
    words = ["serve", "chameleon", "mcts:seconds=100", "person", "--port", "0", "--no-open", "--host", "127.0.0.1"]
    command = [sys.executable, "-m", "pbm_agents.cli", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = int(re.search(r"http://127.0.0.1:(\d+)/", process.stdout.readline())[1])
            with Tab(port) as tab:
                assert tab.position["thinking"] == "answer"
                process.send_signal(signal.SIGINT)
                _, said = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in said
