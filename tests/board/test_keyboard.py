"""Whole games with the keyboard alone, in a real Chromium: from the form to the rematch, the focus never lost."""

import re
from random import Random

import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.board import agents
from tests.board.boards import serving, start
from tests.board.test_browser import OURS, open_tab, texts

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.slow

FOCUSED = "(selector) => document.activeElement.matches(selector)"
PLACES = """() => {
    const middle = (cell) => {
        const box = cell.getBoundingClientRect();
        return [Number(cell.dataset.cell), box.left + box.width / 2, box.top + box.height / 2];
    };
    const all = (selector) => [...document.querySelectorAll(`.pbm-picture ${selector}`)].map(middle);
    return { now: middle(document.activeElement), can: all(".pbm-can"), next: all(".pbm-next") };
}"""
ARROWS = [("ArrowLeft", -1, 0), ("ArrowRight", 1, 0), ("ArrowUp", 0, -1), ("ArrowDown", 0, 1)]
STEPS = 80
"""More than any way over these boards, and more than the page has places for the focus."""


class Keys:
    """A person without a mouse."""

    def __init__(self, page):
        self.page = page

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)
            assert self.page.evaluate("document.activeElement.closest('.pbm') !== null"), key

    def tab(self, selector):
        """Tab until an element has the focus; the end of the page, where the browser's own bar begins, is passed."""
        for _ in range(STEPS):
            if self.page.evaluate(FOCUSED, selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"no Tab leads to {selector}")

    def walk(self, index):
        """Go to a cell by arrows: each the one that leads nearest to it."""
        tried = set()
        for _ in range(STEPS):
            places = self.page.evaluate(PLACES)
            cells = {cell: (x, y) for cell, x, y in [*places["can"], *places["next"]]}
            at, x, y = places["now"]
            if at == index:
                return
            aim_x, aim_y = cells[index]
            ways = sorted(ARROWS, key=lambda way: way[1] * (x - aim_x) + way[2] * (y - aim_y))
            key = next(key for key, *_ in ways if (at, key) not in tried)
            tried.add((at, key))
            self.press(key)
        raise AssertionError(f"no arrows lead to cell {index}")


def play(keys, rng):
    """A move by arrows and Enter, and by choosers or words, if there are any."""
    page = keys.page
    words = page.locator(".pbm-words button").count()
    if words and rng.randrange(3) == 0:
        keys.tab(".pbm-words button")
        keys.press("Enter")
    else:
        keys.tab('.pbm-picture [role="gridcell"]')
        keys.walk(rng.choice(page.evaluate(PLACES)["can"])[0])
        keys.press("Enter")
        if page.locator(".pbm-chooser").is_visible() or page.locator(".pbm-next").count():
            ends = page.evaluate(PLACES)["next"] if page.evaluate(FOCUSED, ".pbm-picture *") else []
            if ends:
                keys.walk(rng.choice(ends)[0])
            keys.press("Enter")
        if page.locator(".pbm-chooser").is_visible():  # several moves lead there
            keys.tab(".pbm-chooser button")
            keys.press("Enter")
    page.wait_for_selector(OURS)


@pytest.mark.parametrize(
    "game", [Chameleon(size=3), Curio(base=2, rows=4, cols=3), Trinim(), Unlur(radius=3)], ids=lambda game: game.name
)
def test_a_whole_game_with_the_keyboard_only(context, game):
    rng = Random(3)
    with serving(start(game, "person", "random", seed=6)) as port:
        page = open_tab(context, port)
        keys = Keys(page)
        keys.tab(".pbm-bar button:nth-of-type(3)")
        keys.press("Enter")
        expect(page.get_by_role("dialog", name="New game")).to_be_visible()
        assert page.evaluate(FOCUSED, f"input[type=radio][value={game.name}]")
        keys.press("ArrowRight", "ArrowLeft")  # another game, and back: its options are those of the game on the board
        keys.tab(".pbm-new summary")
        keys.press("Enter")
        keys.tab(".pbm-new [aria-label=Seed]")
        page.keyboard.type("6")
        keys.press("Enter")
        expect(page.get_by_role("dialog", name="New game")).to_be_hidden()
        page.wait_for_selector(f":is({OURS}):not(:has(.pbm-moves [data-ply]))")
        while page.locator(".pbm").get_attribute("data-turn") != "over":
            play(keys, rng)
            assert page.evaluate("document.activeElement.closest('.pbm') !== null")
        expect(page.locator(".pbm-headline")).to_have_text(re.compile("won|lost|draw", re.IGNORECASE))
        assert texts(page)
        keys.tab(".pbm-result button")
        keys.press("Enter")
        page.wait_for_selector(f":is({OURS}):not(:has(.pbm-moves [data-ply]))")
        assert page.evaluate("document.activeElement.closest('.pbm-picture') !== null")
        play(keys, rng)
        expect(page.locator(".pbm-moves [data-ply]")).to_have_count(2)


def test_the_board_gets_the_focus_of_a_button_that_is_gone(context):
    """At once, not when the agent has answered: here it thinks until the test has looked."""
    agents.GO.clear()
    try:
        with serving(start(Unlur(radius=3), "person", "tests.board.agents:Waiting", seed=6)) as port:
            page = open_tab(context, port)
            Keys(page).tab(".pbm-words button")
            page.keyboard.press("Enter")
            page.wait_for_selector(".pbm-headline:has-text('thinking')")
            assert page.evaluate("document.activeElement.closest('.pbm-picture') !== null")
            agents.GO.set()
            page.wait_for_selector(OURS)
            assert page.evaluate("document.activeElement.closest('.pbm-picture') !== null")
    finally:
        agents.GO.set()
