"""The page of `make play`: no Python plays, only files are served. A game of each kind against the champion, without a
network, on a phone, by keys, and after a crash.
"""

import contextlib
import functools
import http.server
import random
import re
import threading
from html import unescape
from pathlib import Path

import pytest

import pbm_envs
from tests.board.test_browser import OURS, click_a_move

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
pytestmark = pytest.mark.slow

SMALL = {"chameleon": ["size=5"], "curio": ["base=2", "rows=4", "cols=3"], "trinim": ["size=6"], "unlur": ["radius=4"]}
MOST_BYTES = 1_000_000
ROOT = Path(__file__).parents[2]
NARROW = {"width": 390, "height": 844}


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log; tabs that are closed end their requests."""

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(OSError):
            super().handle()


@pytest.fixture(scope="module")
def site(wasm):
    """The address of the folder, served as it is."""
    handler = functools.partial(Quiet, directory=wasm.parent / "site")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/play/"
    server.shutdown()
    server.server_close()


def against_the_champion(name):
    """The end of the address of a small board."""
    options = "".join(f"&option={option.replace('=', '%3D')}" for option in SMALL[name])
    return f"{name}.html#game={name}{options}&player=person&player=champion%3Asimulations%3D100"


def moves_made(page):
    return page.locator(".pbm-moves [data-ply]")


@pytest.mark.parametrize("name", pbm_envs.registered_games())
def test_a_finished_game_against_the_champion(context, site, name):
    page, rng = context.new_page(), random.Random(5)
    page.goto(site + against_the_champion(name))
    expect(page.locator(".pbm-strip", has_text="Champion, 100 simulations")).to_have_count(1)
    page.wait_for_selector(OURS)
    while page.locator(".pbm").get_attribute("data-turn") != "over":
        click_a_move(page, rng)
    expect(page.locator(".pbm-result")).to_be_visible()
    expect(page.locator(".pbm-headline")).to_contain_text(re.compile("You (won|lost)|draw"))


def test_a_game_is_small_and_has_three_levels(context, site, wasm):
    """Each page with all that it loads, as files."""
    folder = wasm.parent / "site" / "play"
    for name in pbm_envs.registered_games():
        others = [other for other in pbm_envs.registered_games() if other != name]
        files = [path for path in folder.iterdir() if path.stem.split("-")[0] not in others]
        assert sum(path.stat().st_size for path in files) < MOST_BYTES
    page = context.new_page()
    page.goto(f"{site}trinim.html")
    page.wait_for_selector(OURS)
    expect(page.locator(".pbm-strip .pbm-name")).to_have_text(["Medium", "You"])
    page.get_by_role("button", name="New game").click()
    form = page.get_by_role("dialog", name="New game")
    expect(form.get_by_label("Clock")).to_have_count(0)  # none would run
    assert [text.split()[0] for text in form.get_by_label("Opponent").locator("option").all_inner_texts()[:3]] == [
        "Easy",
        "Medium",
        "Strong",
    ]


def test_names_over_the_moves_are_short(context, site):
    """Without the settings of agents, which stand on the boards of their seats."""
    page = context.new_page()
    page.goto(
        f"{site}trinim.html#game=trinim&option=num_players%3D3&player=person" + 2 * "&player=mcts%3Asimulations%3D90"
    )
    page.wait_for_selector(OURS)
    click_a_move(page, random.Random(5))
    expect(page.locator(".pbm-moves thead th")).to_have_text(["You", "Search (2)", "Search (3)"])
    expect(page.locator(".pbm-strip .pbm-name").first).to_have_text("Search, 90 simulations (2)")
    page.goto("about:blank")
    page.goto(f"{site}trinim.html#film")  # between two agents that differ in their settings
    expect(page.locator(".pbm-moves thead th")).to_have_text(2 * [re.compile(r"^Search, [\d,]+$")])


def test_a_position_has_a_link_with_its_players(context, site):
    page, other = context.new_page(), context.new_page()
    page.goto(f"{site}trinim.html#game=trinim&option=size%3D6&player=person&player=mcts%3Asimulations%3D31")
    page.wait_for_selector(OURS)
    click_a_move(page, random.Random(5))
    page.get_by_label("more", exact=True).click()
    page.get_by_role("button", name="Share and open").click()
    expect(page.locator(".pbm-links button")).to_have_text(["Copy"])  # nobody can be invited
    other.goto(page.locator(".pbm-links").get_by_label("link").input_value())
    expect(moves_made(other)).to_have_text(moves_made(page).all_text_contents())
    expect(other.locator(".pbm-strip .pbm-name")).to_have_text(["Search, 31 simulations", "You"])


def test_positions_of_the_guides_can_be_played(context, site):
    """It is the reader's turn in each, after the moves that lead to it."""
    page, found = context.new_page(), set()
    for path in (ROOT / "docs").rglob("*.md"):
        for name, start in re.findall(
            r'data-play="(\w+)" data-start="([^"]*=[^"]*)"', path.read_text(encoding="utf-8")
        ):
            page.goto("about:blank")
            page.goto(f"{site}{name}.html#{unescape(start)}")
            page.wait_for_selector(OURS)
            expect(page.get_by_role("alert").filter(visible=True)).to_have_count(0)
            found.add((path.stem, moves_made(page).count()))
    assert found == {
        ("first_game", 132), ("first_game", 0), ("search", 1), ("search", 0), ("hidden", 0), ("pictures", 0),
        ("champions", 1), ("environments", 4), ("exploitability", 0), ("language_models", 7), ("play", 0),
    }  # fmt: skip


def test_a_page_that_was_open_needs_no_network(context, site):
    page = context.new_page()
    page.goto(f"{site}unlur.html")
    page.wait_for_selector("html[data-offline=unlur]")
    context.set_offline(True)
    page.reload()
    page.wait_for_selector(OURS)
    page.locator(".pbm-can").first.click()
    expect(moves_made(page).nth(1)).to_be_visible()


HANGS = "\naddEventListener('message', ({ data }) => { while (data.do === 'hint'); });"
MOST_PATIENCE = 60_000
"""Milliseconds after which the page has given up a worker that does not answer, whatever the level."""


@pytest.mark.parametrize("how", ["fails", "hangs"])
def test_a_crash_is_told_and_a_new_game_follows(chromium, site, how):
    window = chromium.new_context(service_workers="block")  # which would have all files
    window.set_default_timeout(120_000)
    page = window.new_page()
    if how == "fails":
        page.route("**/code.mjs", lambda route: route.abort())
        page.goto(f"{site}trinim.html")
    else:
        page.clock.install()  # its timers run as usual, until they are told to hurry
        page.route(
            "**/play-worker.mjs",
            lambda route: route.fulfill(response=(done := route.fetch()), body=done.text() + HANGS),
        )
        page.goto(f"{site}trinim.html")
        page.wait_for_selector(OURS)
        page.get_by_role("button", name="Hint").click()
        page.clock.run_for(MOST_PATIENCE)
    expect(page.get_by_role("alert").filter(has_text="has stopped")).to_be_visible()
    page.unroute_all()
    page.get_by_role("alert").get_by_role("button", name="New game").click()
    page.wait_for_selector(OURS)
    expect(page.get_by_role("alert").filter(has_text="has stopped")).to_be_hidden()
    window.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_keys_and_axe(chromium, site, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    window = chromium.new_context(viewport=NARROW, color_scheme=scheme, reduced_motion="reduce")
    window.set_default_timeout(120_000)
    page = window.new_page()
    for address in ("index.html", "curio.html", "chameleon.html"):
        page.goto(site + address)
        if address != "index.html":
            page.wait_for_selector(OURS)
        found = axe.run(page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"][:120]) for each in found] == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.locator(".pbm-can").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".pbm-chooser button")
    page.keyboard.press("Enter")
    expect(moves_made(page).nth(1)).to_be_visible()
    window.close()
