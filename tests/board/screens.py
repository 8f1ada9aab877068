"""Screens of the board page. `python -m tests.board.screens [NAME ...]` writes them anew: for the documentation, and as
what `test_screens` compares with. `python -m tests.board.screens --all FOLDER [GAME ...]` writes each game at four
widths in both themes at the start, in the middle, with a hint, with an analysis and at the end, for people to look at.
"""

import os
import shutil
import sys
from itertools import product
from pathlib import Path

from pbm_envs import Chameleon, Curio, Trinim, Unlur, make_game, registered_games
from tests.board.boards import nearly_over, serving, start

FOLDER = Path(__file__).parents[2] / "docs" / "_static" / "screenshots"
HINT = "mcts:simulations=200"
WIDE, PHONE = (1280, 800), (390, 780)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")


def analysis(page):
    page.get_by_role("button", name="Analyse").click()
    page.locator(".pbm-heat td").first.wait_for()


def rules(page):
    page.get_by_role("button", name="Rules").click()
    page.get_by_role("dialog", name="Rules").wait_for()


def form(page):
    page.get_by_role("button", name="New game").click()
    page.get_by_role("dialog", name="New game").wait_for()
    page.locator(".pbm-game-picture svg").last.wait_for()


def back(page):
    page.get_by_role("button", name="one move back").click()
    page.get_by_role("button", name="Play on from here").wait_for()


def resign(page):
    page.get_by_label("more", exact=True).click()
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Really resign?").click()
    page.get_by_role("heading", name="resigned").wait_for()


def nothing(page):
    pass


CONNECTED = ("f6x", "e7o", "g5x", "d7o", "g7x", "f5o")
BLACK = ("d4", "f6", "g8", "h7", "black", "e5", "f8", "d6")
SCREENS = {
    "curio": (Curio(), (), WIDE, "light", nothing),
    "curio-analysis": (Curio(), (), WIDE, "dark", analysis),
    "curio-rules": (Curio(), (), WIDE, "light", rules),
    "chameleon": (Chameleon(), CONNECTED, WIDE, "light", back),
    "trinim-form": (Trinim(), (), WIDE, "light", form),
    "unlur-end": (Unlur(), BLACK, WIDE, "dark", resign),
    "trinim-phone": (Trinim(), (), PHONE, "light", analysis),
    "unlur-phone": (Unlur(), BLACK, PHONE, "dark", nothing),
}
"""Game, moves that are given, size, colours, what is done."""


def browser_path(playwright):
    """A Chromium of this machine, or None."""
    own = playwright.chromium.executable_path
    return next(filter(None, map(shutil.which, NAMES)), own if os.path.exists(own) else None)


def new_window(browser, width, height, scheme):
    window = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    window.set_default_timeout(120_000)
    return window


def shoot(browser, name):
    """One screen as PNG."""
    game, moves, (width, height), scheme, act = SCREENS[name]
    window = new_window(browser, width, height, scheme)
    with serving(start(game, "person", HINT, seed=7, moves=moves, hint=HINT)) as port:
        page = window.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector(".pbm[data-turn=mine]")
        act(page)
        page.evaluate("for (const clock of document.querySelectorAll('.pbm-clock')) clock.textContent = '0:42'")
        picture = page.screenshot()
        window.close()
    return picture


WIDTHS = {360: 740, 390: 844, 820: 1180, 1280: 800}
"""Heights by width: two phones, a tablet, a window."""


def shoot_all(browser, game, folder):
    """A game at all sizes in both themes, as GAME-MOMENT-WIDTH-THEME.png."""
    moves, last = nearly_over(game)
    for moment, given in (("start", ()), ("middle", moves[: len(moves) // 2]), ("end", moves)):
        players = [HINT, HINT]
        players[start(game, *players, seed=7, moves=given).session().mover] = "person"
        with serving(start(game, *players, seed=7, moves=given, hint=HINT)) as port:
            for width, scheme in product(WIDTHS, ("light", "dark")):
                window = new_window(browser, width, WIDTHS[width], scheme)
                page = window.new_page()
                page.goto(f"http://127.0.0.1:{port}/")
                page.wait_for_selector(".pbm[data-turn=mine]")

                def shot(name, page=page, end=f"{width}-{scheme}"):
                    page.screenshot(path=folder / f"{game.name}-{name}-{end}.png", full_page=True)

                if moment == "end":
                    page.get_by_label("a move").fill(last)
                    page.get_by_role("button", name="Play", exact=True).click()
                    page.get_by_role("img", name="what you could expect").wait_for()
                shot(moment)
                if moment == "middle":
                    page.get_by_role("button", name="Hint").click()
                    page.get_by_text("The hint: ").wait_for()
                    shot("hint")
                    analysis(page)
                    shot("analysis")
                window.close()


def main():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        root = hasattr(os, "getuid") and os.getuid() == 0
        path = browser_path(playwright)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"] if root else [])
        if sys.argv[1:2] == ["--all"]:
            folder = Path(sys.argv[2])
            folder.mkdir(parents=True, exist_ok=True)
            for name in sys.argv[3:] or registered_games():
                shoot_all(browser, make_game(name), folder)
            return
        for name in sys.argv[1:] or SCREENS:
            (FOLDER / f"{name}.png").write_bytes(shoot(browser, name))
            print(FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
