"""The page of `pbm serve` in a real Chromium: games by clicks, tabs, what is highlighted, undo, heat, saving."""

import random
import re

import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.records import GameRecord, verify
from tests.board.boards import PATIENCE, measured, serving, start

sync_api = pytest.importorskip("playwright.sync_api")
sync_api.expect.set_options(timeout=1000 * PATIENCE)
expect = sync_api.expect
pytestmark = pytest.mark.slow

GAMES = [Chameleon(size=4), Curio(base=2, rows=4, cols=3), Trinim(), Trinim(size=3, num_players=3), Unlur(radius=3)]
OURS = ".pbm[data-turn=mine], .pbm[data-turn=over]"


def open_tab(context, port):
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/")
    page.wait_for_selector(OURS)
    return page


def cell(page, index):
    return page.locator(f'[data-cell="{index}"]')


def marked(page, name):
    return set(measured(page, f".{name}", "each => Number(each.dataset.cell)"))


def texts(page):
    """The moves so far."""
    return page.locator(".pbm-moves [data-ply]").all_text_contents()


def click_a_move(page, rng):
    """As a person does, until the next move is theirs; how many clicks it took."""
    cells, words = page.locator(".pbm-can"), page.locator(".pbm-words button")
    count, clicks = cells.count(), 1
    k = rng.randrange(count + words.count())
    if k >= count:
        words.nth(k - count).click()
    else:
        cells.nth(k).click()
        chooser, ends = page.locator(".pbm-chooser button"), page.locator(".pbm-next")
        if chooser.first.is_visible() or ends.count():
            clicks += 1
            choices = ends if ends.count() else chooser
            choices.nth(rng.randrange(choices.count())).click()
    page.wait_for_selector(OURS)
    return clicks


@pytest.mark.parametrize("game", GAMES, ids=str)
def test_a_whole_game_by_clicks_against_random(context, game):
    rng, clicks = random.Random(4), []
    players = ["person", *["random"] * (game.num_players - 1)]
    with serving(start(game, *players, seed=6)) as port:
        page = open_tab(context, port)
        while page.locator(".pbm").get_attribute("data-turn") != "over":
            clicks.append(click_a_move(page, rng))
        assert re.search("won|lost|draw", page.locator(".pbm-headline").inner_text(), re.IGNORECASE)
        with page.expect_download() as download:
            page.get_by_label("more", exact=True).click()
            page.get_by_role("button", name="Save").click()
        assert download.value.suggested_filename == f"{game.name}.jsonl"
        record = GameRecord.from_json(download.value.path().read_text())
        verify(record)
        assert list(record.moves) == texts(page)
        assert len(clicks) == -(-record.plies // game.num_players)
        assert record.agents == tuple(players)
        if game.name != "unlur":
            assert max(clicks) == 2


def new_game(page, title, agent="random", side=None, **options):
    page.get_by_role("button", name="New game").click()
    form = page.get_by_role("dialog", name="New game")
    form.get_by_role("radio", name=title).check()
    form.get_by_label("Opponent").select_option("other")
    form.get_by_label("Agent", exact=True).fill(agent)
    for name, value in options.items():
        form.get_by_label(name.replace("_", " ")).select_option(value)
    if side is not None:
        form.get_by_label("Side").select_option(side)
    form.get_by_role("button", name="Start").click()
    form.wait_for(state="hidden")
    page.wait_for_selector(OURS)


def test_hovering_shows_the_moves_through_a_cell(context):
    """Curio, from Dark's side: the moves from a piece, then those to a cell."""
    game = Curio(base=2, rows=4, cols=3)
    board = "D12 D11 D22/. . ./. . ./L21 L22 L11"
    with serving(start(game, "random", "person", seed=1, board=board, moves=("c1-c2",))) as port:
        page = open_tab(context, port)
        session = start(game, "random", "person", seed=1, board=board, moves=("c1-c2",)).session()
        moves = [game.action_cells(action) for action in session.legal()]
        for index in {origin for origin, _ in moves} | {end for _, end in moves}:
            cell(page, index).hover()
            assert marked(page, "pbm-hover") == {index}
            assert marked(page, "pbm-through") == {c for move in moves if index in move for c in move} - {index}
        origin, end = moves[0]
        cell(page, origin).click()
        assert marked(page, "pbm-first") == {origin}
        assert marked(page, "pbm-next") == {b for a, b in moves if a == origin}
        cell(page, end).hover()
        assert marked(page, "pbm-through") == {origin}
        page.keyboard.press("Escape")
        assert not marked(page, "pbm-first")
        away = next(c for c in range(12) if not any(c in move for move in moves))
        cell(page, away).hover()
        assert not marked(page, "pbm-hover") | marked(page, "pbm-through")


def test_undo_hint_thinking_resigning_and_colours(context):
    moves = ("a1x", "c1o", "a3x", "b1o")
    begin = start(Chameleon(size=3), "person", "random", seed=1, moves=moves, hint="mcts:simulations=100")
    with serving(begin) as port:
        page = open_tab(context, port)
        plain = page.locator(".pbm-picture").inner_html()
        page.get_by_role("button", name="Hint").click()
        page.get_by_text("The hint: a2x").wait_for()
        expect(page.locator(".pbm-pill text")).to_have_text(["x hint"])
        page.get_by_role("button", name="Analyse").click()
        page.locator(".pbm-heat td").first.wait_for()
        expect(page.locator(".pbm-heat tbody button").first).to_have_text("a2x")
        expect(page.locator(".pbm-pill").first).to_be_attached()
        page.locator(".pbm-heat tbody tr").first.hover()
        assert marked(page, "pbm-lit") == {3}
        page.get_by_placeholder("or type a move").fill("z9z")
        page.keyboard.press("Enter")
        page.get_by_text("'z9z' is not a move of Chameleon").wait_for()
        page.get_by_placeholder("or type a move").fill("C3X")
        page.keyboard.press("Enter")
        expect(page.locator(".pbm-moves [data-ply]")).to_have_count(6)
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".pbm-moves [data-ply]")).to_have_count(4)
        page.get_by_role("button", name="dark or light").click()
        page.wait_for_selector('.pbm[data-theme="dark"]')
        page.wait_for_selector(OURS)
        expect(page.locator(".pbm-picture")).not_to_have_js_property("innerHTML", plain)
        page.get_by_label("more", exact=True).click()
        page.get_by_role("button", name="Resign").click()
        assert texts(page) == list(moves)
        page.get_by_role("button", name="Really resign?").click()
        page.get_by_role("heading", name="You lost: you resigned").wait_for()


def test_by_keys(context):
    with serving(start(Chameleon(size=3), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        cell(page, 0).focus()
        for key in ("ArrowRight", "ArrowDown", "Enter", "Enter"):
            page.keyboard.press(key)
        page.wait_for_selector(f":is({OURS}):has(.pbm-moves [data-ply])")
        assert texts(page)[0] in ("b2x", "a2x")  # both lie below b1
        assert cell(page, 0).get_attribute("aria-label").startswith("a1, ")


def test_persons_hand_over_without_seeing_each_others_boards(context):
    with serving(start(GAMES[1], "person", "person", seed=6)) as port:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.get_by_role("button", name="I am Player 1").click()
        page.wait_for_selector(OURS)
        rng = random.Random(2)
        page.locator(".pbm-can").nth(rng.randrange(3)).click()
        page.locator(".pbm-next").first.click()
        page.get_by_role("button", name="hand over").click()
        page.get_by_role("button", name="I am Player 2").wait_for()
        assert page.locator(".pbm-main svg").count() == 0
        page.get_by_role("button", name="I am Player 2").click()
        page.wait_for_selector(OURS)
