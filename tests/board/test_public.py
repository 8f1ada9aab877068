"""A public server: what it asks for, and whom it lets in."""

import http.client
import socket

import pytest
from pbm_agents.cli.app import app
from pbm_agents.play.access import COOKIE, Publication
from typer.testing import CliRunner
from websockets.exceptions import InvalidStatus

from pbm_envs import Chameleon
from tests.board.boards import PATIENCE, Tab, serving, start

TOKEN = "correct-horse-battery-staple"
HOST = "boards.example.org"
ADDRESS = f"https://{HOST}"


@pytest.fixture(scope="module")
def port():
    begin = start(Chameleon(size=3), "person", "random", seed=1)
    with serving(begin, publication=Publication.of(ADDRESS, TOKEN)) as port:
        yield port


def ask(port, path="/", method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, body, {"Host": HOST} | headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def cookie(port):
    answer, _ = ask(port, "/?game=a.b.c", "POST", f"token={TOKEN}")
    assert (answer.status, answer.headers["Location"]) == (303, f"{ADDRESS}/?game=a.b.c")
    return answer.headers["Set-Cookie"]


def tab(port, host=HOST, origin=ADDRESS, **headers):
    """A tab behind a proxy, which passes the Host header on."""
    connection = socket.create_connection(("127.0.0.1", port))
    return Tab(port, uri=f"ws://{host}/table", sock=connection, origin=origin, additional_headers=headers)


def test_who_has_the_token_plays(port):
    given = cookie(port)
    assert all(word in given.lower() for word in ("httponly", "secure", "samesite=lax", "max-age"))
    assert TOKEN not in given
    sent = given.partition(";")[0]
    answer, page = ask(port, Cookie=f"other=1; {sent}")
    assert (answer.status, "page.js" in page) == (200, True)
    with tab(port, Cookie=sent) as person:
        assert person.play("b2x")["plies"] == 2


@pytest.mark.parametrize("path", ["/", "/page.js", "/table", "/nothing"])
@pytest.mark.parametrize("cookies", [None, f"{COOKIE}={TOKEN}", f"{COOKIE}=", "; = x", f"{COOKIE}={'0' * 64}"])
def test_everybody_else_is_asked_for_it(port, path, cookies):
    answer, page = ask(port, path, **({"Cookie": cookies} if cookies else {}))
    assert answer.status == 401
    assert '<form method="post">' in page
    assert "page.js" not in page
    assert "form-action 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("body", ["", "token=", "token=wrong", f"token={TOKEN}x", "token=%C3%A9", "x" * 999])
def test_a_wrong_token_is_refused(port, body):
    answer, page = ask(port, "/", "POST", body)
    assert (answer.status, answer.headers["Set-Cookie"]) == (401, None)
    assert "not the token" in page


def test_a_long_form_is_not_read(port):
    assert ask(port, "/", "POST", "x" * 5000)[0].status == 413


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "evil.example", f"{HOST}:1", f"{HOST}.evil.example", ""])
def test_other_names_are_refused_even_with_the_token(port, host):
    sent = cookie(port).partition(";")[0]
    answer, page = ask(port, "/", Host=host, Cookie=sent)
    assert (answer.status, "page.js" in page) == (403, False)


@pytest.mark.parametrize(
    ("host", "origin", "known"),
    [
        (HOST, ADDRESS, False),
        (HOST, f"http://{HOST}", True),
        (HOST, "https://evil.example", True),
        (HOST, "null", True),
        (HOST, None, True),
        ("evil.example", ADDRESS, True),
        ("evil.example", "https://evil.example", True),
        ("127.0.0.1", "http://127.0.0.1", True),
    ],
)
def test_sockets_need_name_origin_and_token(port, host, origin, known):
    headers = {"Cookie": cookie(port).partition(";")[0]} if known else {}
    with pytest.raises(InvalidStatus) as refused:
        tab(port, host, origin, **headers)
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("https://A.example/", "https://a.example"),
        ("http://a.example:8080", "http://a.example:8080"),
        ("https://a.example:443", "https://a.example"),
        ("http://[::1]:80", "http://[::1]"),
    ],
)
def test_addresses_are_those_that_browsers_send(given, address):
    assert Publication.of(given, TOKEN).address == address


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--public", "--public is given without --address and --token: expected the address"),
        (f"--public --token {TOKEN}", "without --address: expected"),
        (f"--public --address {ADDRESS}", "without --token: expected"),
        (f"--public --address boards.example.org --token {TOKEN}", "--address is 'boards.example.org': expected http"),
        (f"--public --address {ADDRESS}/play --token {TOKEN}", "a host without a path"),
        (f"--public --address ftp://{HOST} --token {TOKEN}", "expected http or https"),
        (f"--public --address {ADDRESS} --token short", "--token has 5 characters: expected at least 16"),
        (f"--address {ADDRESS}", "--address is given without --public"),
    ],
)
def test_publishing_needs_an_address_and_a_token(words, message):
    result = CliRunner().invoke(app, ["serve", *words.split()])
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_it_says_what_it_does_not_do():
    said = Publication.of(ADDRESS, TOKEN).warnings(256)
    for word in ("no TLS", "no accounts", "256 boards", "no backups"):
        assert word in said
    assert TOKEN not in said
    assert "everybody on the way can read" not in said
    assert "everybody on the way can read" in Publication.of(f"http://{HOST}", TOKEN).warnings(1)
