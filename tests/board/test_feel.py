"""How the board feels, in a real Chromium: pieces that move, marks that last, colours, sound."""

from random import Random

import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.board.boards import measured, serving, start
from tests.board.test_browser import OURS, cell, click_a_move, open_tab, texts

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.slow

COUNTING = """
window.animated = [];
const animate = Element.prototype.animate;
Element.prototype.animate = function (frames, settings) {
    window.animated.push([this.getAttribute("class") ?? "", settings.duration]);
    return animate.call(this, frames, settings);
};
"""
MOVING_PARTS = ".pbm-picture svg > g:first-child > g"
CAPTURE = "D22 D12 D13/. D11 ./. L23 ./L33 L12 L13"
"""Curio: Light's 2 on b2 captures the 1 before it on b3, and turns."""
GAMES = {
    "chameleon": (Chameleon(size=4), {}),
    "curio": (Curio(base=3, rows=4, cols=3), {"board": CAPTURE}),
    "trinim": (Trinim(), {}),
    "unlur": (Unlur(radius=3), {}),
}


def drawn(page):
    return measured(page, ".pbm-picture svg > g:first-child > *", "each => each.outerHTML")


@pytest.mark.parametrize("name", GAMES)
def test_pieces_move_and_leave_nothing_behind(chromium, name):
    """After a move, its answer, a step back and an undo, the picture is that of a page that is opened then."""
    game, rest = GAMES[name]
    window = chromium.new_context(viewport={"width": 1200, "height": 850}, reduced_motion="no-preference")
    window.set_default_timeout(120_000)
    with serving(start(game, "person", "random", seed=1, **rest)) as port:
        page = window.new_page()
        page.add_init_script(COUNTING)
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector(OURS)
        assert page.evaluate("animated") == []

        def moved():
            expect(page.locator(MOVING_PARTS)).to_have_count(0)
            effects = page.evaluate("animated.splice(0)")
            assert effects
            assert all(duration == 150 for _, duration in effects)
            return effects

        if name == "curio":
            cell(page, 4).click()
            cell(page, 7).click()
            page.wait_for_selector(f":is({OURS}):has(.pbm-moves [data-ply])")
            assert any(kind == "pbm-ghost" for kind, _ in moved())  # the captured piece, and the side that turned away
        else:
            click_a_move(page, Random(1))
            moved()
        assert len(texts(page)) == 2
        other = window.new_page()
        other.goto(page.url)
        other.wait_for_selector(OURS)
        assert drawn(page) == drawn(other)
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".pbm-headline")).to_have_text("After move 1 of 2")
        moved()
        page.get_by_role("button", name="to the last position").click()
        page.wait_for_selector(OURS)
        moved()
        assert drawn(page) == drawn(other)
        if name != "curio":  # there hidden faces have been seen
            page.get_by_role("button", name="Undo").click()
            expect(page.locator(".pbm-moves [data-ply]")).to_have_count(0)
            moved()
        page.emulate_media(reduced_motion="reduce")
        click_a_move(page, Random(2))
        assert page.evaluate("animated") == []
    window.close()


LAST = "each => [each.closest('.pbm-strip').querySelector('strong').textContent, each.textContent]"


def test_the_last_move_is_marked_on_the_board_and_at_its_player(context):
    """Words without a cell too; at earlier positions, after an undo, and when the game is over."""
    given = ("c3", "d3", "black")
    with serving(start(Unlur(radius=4), "person", "random", seed=1, moves=given)) as port:
        page = open_tab(context, port)

        def last():
            return measured(page, ".pbm-last", LAST)

        def rings():
            return page.locator(".pbm-picture svg > g:first-child > circle[fill=none]").count()

        (player, move) = last()[0]
        assert move == texts(page)[-1]
        assert rings() == (move not in ("black", "white"))
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".pbm-headline")).to_have_text(f"After move {len(texts(page)) - 1} of {len(texts(page))}")
        for ply in range(len(texts(page)) - 1, 0, -1):
            expect(page.locator(".pbm-headline")).to_have_text(f"After move {ply} of {len(texts(page))}")
            assert [each[1] for each in last()] == [texts(page)[ply - 1]]
            assert rings() == (texts(page)[ply - 1] not in ("black", "white"))
            page.keyboard.press("ArrowLeft")
        expect(page.locator(".pbm-headline")).to_contain_text("After move 0")
        assert last() == []
        page.get_by_role("button", name="to the last position").click()
        page.wait_for_selector(OURS)
        assert last() == [[player, move]]
        click_a_move(page, Random(2))
        assert last()[0][1] == texts(page)[-1]
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".pbm-last")).to_have_text(move)
        assert last() == [[player, move]]


def test_forced_colours_leave_nothing_that_only_a_colour_told(chromium):
    """Whose turn it is, which move is shown, which button is pressed; the board keeps its colours on its own paper."""
    window = chromium.new_context(
        viewport={"width": 1200, "height": 850}, reduced_motion="reduce", forced_colors="active", color_scheme="dark"
    )
    window.set_default_timeout(120_000)
    look = "each => { const style = getComputedStyle(each); return [style.borderColor, style.backgroundColor].join(); }"
    with serving(start(Chameleon(size=4), "person", "random", seed=1, hint="mcts:simulations=20")) as port:
        page = open_tab(window, port)
        page.get_by_role("button", name="dark or light").click()
        page.wait_for_selector(f".pbm[data-theme=light]:is({OURS})")
        click_a_move(page, Random(1))
        page.get_by_role("button", name="Analyse").click()
        page.locator(".pbm-heat td").first.wait_for()
        for marked, others in (
            (".pbm-active", ".pbm-strip:not(.pbm-active)"),
            (".pbm-moves [aria-current]", ".pbm-moves button:not([aria-current])"),
            (
                "button[aria-pressed=true]",
                ".pbm-orders button[aria-pressed=false], .pbm-orders button:not([aria-pressed])",
            ),
        ):
            [own] = measured(page, marked, look)
            assert own not in measured(page, others, look)
        assert measured(page, ".pbm-picture", "each => getComputedStyle(each).backgroundColor") == [
            "rgb(250, 249, 246)"
        ]
        page.get_by_role("button", name="New game").click()
        labels = ".pbm-games label"
        assert len(set(measured(page, labels, look))) == 2
    window.close()


def test_a_quiet_sound_on_request_is_remembered(context):
    """Off at first; one tone to hear it, one for each move, none for a look at an earlier position."""
    counting = """
    window.tones = 0;
    const begin = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (time) { window.tones += 1; return begin.call(this, time); };
    """
    with serving(start(Chameleon(size=5), "person", "random", seed=1)) as port:
        page = context.new_page()
        page.add_init_script(counting)
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector(OURS)
        click_a_move(page, Random(1))
        assert page.evaluate("tones") == 0
        page.get_by_label("more", exact=True).click()
        button = page.get_by_role("button", name="Sound")
        expect(button).to_have_attribute("aria-pressed", "false")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(page.get_by_text("Sound is on")).to_be_visible()
        assert page.evaluate("tones") == 1
        click_a_move(page, Random(2))
        assert page.evaluate("tones") == 3
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".pbm-headline")).to_have_text("After move 3 of 4")
        assert page.evaluate("tones") == 3
        page.reload()
        page.wait_for_selector(OURS)
        assert page.evaluate("tones") == 0
        click_a_move(page, Random(3))
        assert page.evaluate("tones") == 2
        page.get_by_label("more", exact=True).click()
        page.get_by_role("button", name="Sound").click()
        expect(page.get_by_text("Sound is off")).to_be_visible()
        click_a_move(page, Random(4))
        assert page.evaluate("tones") == 2
