"""Whole games by clicks in Firefox and in WebKit, where these are installed."""

import re
from random import Random

import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.board.boards import serving, start

pytest.importorskip("websockets")
from tests.board import others

pytestmark = pytest.mark.slow

OURS = "document.querySelector('.pbm[data-turn=mine], .pbm[data-turn=over]') !== null"


@pytest.fixture(scope="module")
def firefox():
    if not others.firefox_path():
        pytest.skip(f"no Firefox here: none of {', '.join(others.NAMES)}")
    with others.firefox() as window:
        yield window


@pytest.fixture
def webkit():
    if not others.webkit_path():
        pytest.skip("no WebKit here that can be driven: webkit2gtk-driver and xvfb, as Debian calls them")
    with others.webkit() as window:
        yield window


def count(browser, selector):
    return browser.evaluate(
        f"[...document.querySelectorAll('{selector}')].filter((each) => each.checkVisibility()).length"
    )


def click_one(browser, rng, *selectors):
    """Click one of the elements that are there, by chance."""
    found = [(selector, number) for selector in selectors for number in range(count(browser, selector))]
    browser.click(*rng.choice(found))


@pytest.mark.parametrize(
    "game", [Chameleon(size=3), Curio(base=2, rows=4, cols=3), Trinim(), Unlur(radius=3)], ids=lambda game: game.name
)
def test_a_whole_game_in_firefox(firefox, game):
    play(firefox, game)


def test_a_whole_game_in_webkit(webkit):
    play(webkit, Curio(base=2, rows=4, cols=3))


def play(browser, game):
    """Play by clicks until the game is over, then the rematch and the rules."""
    browser.resize(1200, 850)
    rng = Random(4)
    with serving(start(game, "person", "random", seed=6)) as port:
        browser.goto(f"http://127.0.0.1:{port}/")
        browser.wait(OURS)
        while browser.evaluate("document.querySelector('.pbm').dataset.turn") != "over":
            click_one(browser, rng, ".pbm-can", ".pbm-words button")
            if count(browser, ".pbm-next"):
                click_one(browser, rng, ".pbm-next")
            elif count(browser, ".pbm-chooser button"):
                click_one(browser, rng, ".pbm-chooser button")
            browser.wait(OURS)
        headline = browser.evaluate("document.querySelector('.pbm-headline').textContent")
        assert re.search("won|lost|draw", headline, re.IGNORECASE)
        assert browser.evaluate("document.querySelector('.pbm-result h2').textContent") == headline
        browser.click(".pbm-result button")
        browser.wait(f"{OURS} && document.querySelectorAll('.pbm-moves [data-ply]').length === 0")
        browser.click(".pbm-bar button")
        browser.wait("document.querySelector('.pbm-drawer').open")
        assert count(browser, ".pbm-short svg") >= 4
        assert browser.console == []
        browser.goto("about:blank")
