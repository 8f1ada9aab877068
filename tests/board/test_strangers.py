"""What strangers ran into on the page: forms, moves that follow, slow links, phones, tabs that meet."""

import json
import re
import threading
from itertools import pairwise
from random import Random

import pytest
from pbm_agents.play.kept import KeptGames

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.board.boards import PATIENCE, measured, nearly_over, serving, start
from tests.board.test_browser import OURS, cell, click_a_move, marked, open_tab, texts
from tests.board.test_clock import Hours

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.slow

SMALL = Curio(base=2, rows=4, cols=3)
FOUR = [Chameleon(), Curio(), Trinim(), Unlur()]


def test_two_persons_begin_a_game_of_hidden_pieces(context):
    with serving(start(Chameleon(size=4), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="New game").click()
        form = page.get_by_role("dialog", name="New game")
        form.get_by_role("radio", name="Curio").check()
        form.get_by_label("Opponent").select_option("person")
        form.get_by_role("button", name="Start").click()
        expect(form).to_be_hidden()
        expect(page.locator(".pbm-goal")).to_contain_text("royal")
        page.get_by_role("button", name="I am Player 1").click()
        page.wait_for_selector(OURS)


def test_the_list_of_moves_follows_the_game(context):
    moves, _ = nearly_over(Chameleon(size=6))
    with serving(start(Chameleon(size=6), "random", "person", seed=1, moves=moves[:29])) as port:
        page = open_tab(context, port)
        within = """() => {
            const list = document.querySelector(".pbm-moves").getBoundingClientRect();
            const now = document.querySelector(".pbm-moves [aria-current]").getBoundingClientRect();
            return now.top >= list.top && now.bottom <= list.bottom;
        }"""
        assert page.evaluate(within)
        for _ in range(12):
            page.keyboard.press("ArrowLeft")
        expect(page.locator(".pbm-headline")).to_have_text("After move 17 of 29")
        assert page.evaluate(within)


def hold(page, when):
    """Hold back the messages of which `when(message)` is true; return their list, and a function that sends one."""
    held, sockets = [], []

    def pass_on(text):
        if when(json.loads(text)):
            held.append(text)
        else:
            sockets[0].send(text)

    def route(socket):
        sockets.append(socket)
        socket.connect_to_server().on_message(pass_on)

    page.route_web_socket("**/table", route)
    return held, lambda text: sockets[0].send(text)


def test_on_a_slow_link_a_move_is_drawn_at_once_and_no_click_is_lost_in_silence(context):
    """The answers wait until the test lets them go."""
    holding = threading.Event()
    with serving(start(Chameleon(size=5), "person", "random", seed=1)) as port:
        page = context.new_page()
        held, send = hold(page, lambda message: holding.is_set())
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector(OURS)
        holding.set()
        cell(page, 12).click()
        page.locator(".pbm-chooser button").first.click()
        expect(page.locator(".pbm-headline")).to_contain_text("Your move: c3")
        expect(page.locator(".pbm-marks")).to_have_count(1)
        said = page.locator(".pbm-side > .pbm-telling")
        for click in (cell(page, 3), page.get_by_role("button", name="Analyse")):
            said.evaluate("element => (element.textContent = '')")
            click.click()
            expect(said).to_contain_text("Wait: your move c3")
        holding.clear()
        for message in held:
            send(message)
        page.wait_for_selector(f":is({OURS}):has(.pbm-moves [data-ply])")
        assert len(texts(page)) == 2


def test_no_click_is_taken_between_a_greeting_and_its_position(context):
    """The board is drawn anew then, which would forget what was chosen on the old one."""
    holding = threading.Event()
    with serving(start(Chameleon(size=5), "person", "random", seed=1)) as port:
        page = context.new_page()
        held, send = hold(page, lambda message: holding.is_set() and message["type"] == "position")
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_selector(OURS)
        holding.set()
        page.get_by_role("button", name="dark or light").click()
        while not held:
            page.wait_for_timeout(20)
        assert page.locator(".pbm").get_attribute("data-turn") == ""
        cell(page, 12).click()
        expect(page.get_by_role("alert").last).to_contain_text("Wait: the last click is still on its way")
        holding.clear()
        for message in held:
            send(message)
        page.wait_for_selector(OURS)
        click_a_move(page, Random(1))
        assert len(texts(page)) == 2


@pytest.mark.parametrize("game", FOUR, ids=lambda game: game.name)
def test_nothing_is_cut_on_a_phone(chromium, game):
    """Start and end, 360 and 390 pixels wide: the result and the clocks are in view, and nothing scrolls sideways."""
    moves, last = nearly_over(game)
    players = ["random", "random"]
    players[start(game, *players, seed=7, moves=moves).session().mover] = "person"
    for given in ((), moves):
        with serving(start(game, *(players if given else ("person", "random")), seed=7, moves=given)) as port:
            for width in (360, 390):
                window = chromium.new_context(viewport={"width": width, "height": 780}, reduced_motion="reduce")
                page = open_tab(window, port)
                if given:
                    page.get_by_label("a move").fill(last)
                    page.get_by_role("button", name="Play", exact=True).click()
                    page.wait_for_selector(".pbm[data-turn=over]")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                ends = measured(page, ":is(.pbm-clock, .pbm-return)", "each => each.getBoundingClientRect().right")
                assert ends
                assert all(0 < end <= width for end in ends)
                window.close()


def test_cells_too_small_for_a_finger_ask_for_a_second_tap(chromium):
    window = chromium.new_context(viewport={"width": 320, "height": 700}, has_touch=True)
    with serving(start(Unlur(radius=8), "person", "random", seed=1)) as port:
        page = open_tab(window, port)
        middle = page.get_by_role("gridcell", name="f8, empty")
        assert middle.bounding_box()["width"] < 24
        middle.tap()
        expect(page.locator(".pbm-under")).to_contain_text("f8: the same cell once more plays it")
        assert texts(page) == []
        middle.tap()
        page.wait_for_selector(f":is({OURS}):has(.pbm-moves [data-ply])")
        assert texts(page)[0] == "f8"
    window.close()


def test_the_board_keeps_its_place_when_a_move_can_be_chosen(context):
    with serving(start(Trinim(), "person", "random", seed=7)) as port:
        page = open_tab(context, port)
        before = page.locator(".pbm-picture svg").bounding_box()
        cell(page, 12).click()
        page.locator(".pbm-chooser button").first.wait_for()
        assert page.locator(".pbm-picture svg").bounding_box() == before


def test_a_focused_cell_does_not_look_selected(context):
    with serving(start(SMALL, "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        look = "element => [getComputedStyle(element).fill, getComputedStyle(element).stroke]"
        page.locator(".pbm-title").click()
        page.keyboard.press("Tab")
        while page.evaluate("document.activeElement.getAttribute('role')") != "gridcell":
            page.keyboard.press("Tab")
        focused = page.locator(".pbm-picture [data-cell]:focus")
        plain = focused.evaluate(look)
        page.keyboard.press("Enter")
        chosen = page.locator(".pbm-first").evaluate(look)
        assert plain[0] != chosen[0]
        assert plain[1] != chosen[1] or "pbm-first" in focused.get_attribute("class")


def test_headings_skip_no_level_and_options_have_no_backticks(context):
    with serving(start(Chameleon(size=4), "person", "random", seed=1, hint="mcts:simulations=20")) as port:
        page = open_tab(context, port)
        click_a_move(page, Random(1))
        page.get_by_role("button", name="Analyse").click()
        page.locator(".pbm-heat td").first.wait_for()
        headings = measured(
            page, ":is(h1, h2, h3, h4):not(dialog *)", "each => each.checkVisibility() && Number(each.tagName[1])"
        )
        levels = list(filter(None, headings))
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        page.get_by_role("button", name="New game").click()
        form = page.get_by_role("dialog", name="New game")
        for title in ("Chameleon", "Curio", "Trinim", "Unlur"):
            form.get_by_role("radio", name=title).check()
            assert "`" not in form.text_content()


def test_pictures_of_games_come_one_by_one_with_a_word_until_then(context, monkeypatch):
    from pbm_agents.play import orders

    go, draw = threading.Event(), orders.form_picture

    def slow(name, theme):
        assert name == "chameleon" or go.wait(PATIENCE)
        return draw(name, theme)

    monkeypatch.setattr(orders, "form_picture", slow)
    with serving(start(Chameleon(size=4), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="New game").click()
        pictures = page.locator(".pbm-game-picture")
        pictures.first.locator("svg").wait_for()
        waiting = "element => getComputedStyle(element, '::before').content"
        assert pictures.last.evaluate(waiting) == '"is being drawn"'
        go.set()
        pictures.last.locator("svg").wait_for()


def test_two_tabs_of_a_game_stay_in_step(context):
    with serving(start(Chameleon(size=4), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        click_a_move(page, Random(1))
        other = context.new_page()
        other.goto(page.url)
        moves = page.locator(".pbm-moves [data-ply]")
        expect(other.locator(".pbm-moves [data-ply]")).to_have_text(texts(page))
        other.wait_for_selector(OURS)
        click_a_move(other, Random(2))
        expect(moves).to_have_count(4)
        expect(other.locator(".pbm-moves [data-ply]")).to_have_text(moves.all_text_contents())


def test_a_game_between_two_browsers(chromium, context):
    """An invitation, a move, a takeback with consent, and a spectator, each by its link."""
    guests = chromium.new_context(viewport={"width": 390, "height": 780}, reduced_motion="reduce")
    guests.set_default_timeout(120_000)
    with serving(start(Chameleon(size=4), "person", "person", seed=1)) as port:
        host = open_tab(context, port)

        def invited(label):
            host.get_by_label("more", exact=True).click()
            host.get_by_role("button", name="Share and open").click()
            host.get_by_role("button", name=label).click()
            item = host.locator(".pbm-links li").filter(has_text=label)
            link = item.get_by_label("link", exact=True)
            expect(link).to_have_value(re.compile("game="))
            address = link.input_value()
            host.keyboard.press("Escape")
            page = guests.new_page()
            page.goto(address)
            return page

        guest, spectator = invited("Invite Player 2"), invited("Invite spectators")
        host.wait_for_selector(OURS)
        cell(host, 5).click()
        host.locator(".pbm-chooser button").first.click()
        for page in (guest, spectator):
            expect(page.locator(".pbm-moves [data-ply]")).to_have_count(1)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
        expect(guest.locator(".pbm")).to_have_attribute("data-turn", "mine")
        expect(spectator.get_by_role("button", name="Undo")).to_be_hidden()
        host.get_by_role("button", name="Undo").click()
        guest.get_by_role("button", name="Agree").click()
        expect(host.locator(".pbm-moves [data-ply]")).to_have_count(0)
        cell(host, 6).click()
        host.locator(".pbm-chooser button").first.click()
        expect(guest.locator(".pbm")).to_have_attribute("data-turn", "mine")
        guest.close()
        expect(host.locator(".pbm-headline")).to_have_text("Player 2 is to move (not connected)")
    guests.close()


def test_a_clock_counts_down_and_ends_the_game_in_words(context):
    """Chosen in the form; the server's time stands still until the test lets it pass."""
    hours = Hours()
    with serving(start(Chameleon(size=4), "person", "random", seed=1), kept=KeptGames(timekeeper=hours)) as port:
        page = open_tab(context, port)
        assert page.get_by_role("timer", name="time left").count() == 0
        page.get_by_role("button", name="New game").click()
        form = page.get_by_role("dialog", name="New game")
        form.get_by_label("Opponent").select_option("other")
        form.get_by_label("Agent", exact=True).fill("random")
        form.get_by_label("Clock").select_option("60")
        form.get_by_role("button", name="Start").click()
        own = page.locator(".pbm-strips").last.get_by_role("timer", name="time left")
        expect(own).to_have_text("1:00")
        page.wait_for_selector(OURS)
        click_a_move(page, Random(1))
        expect(page.locator(".pbm-moves [data-ply]")).to_have_count(2)
        hours.wait(52)
        page.get_by_role("button", name="dark or light").click()  # asks for the position, and so for the time
        expect(own).to_have_text(re.compile("0:0[0-8]"))
        expect(own).to_have_class(re.compile("pbm-hurry"))
        hours.wait(8)
        page.get_by_role("heading", name="You lost: you ran out of time").wait_for()
        expect(own).not_to_have_class(re.compile("pbm-hurry"))


def test_a_player_shows_spectators_the_own_side(chromium, context):
    with serving(start(SMALL, "person", "random", seed=1)) as port:
        page = open_tab(context, port)

        def shared(label):
            page.get_by_label("more", exact=True).click()
            page.get_by_role("button", name="Share and open").click()
            page.get_by_role("button", name=label).click()

        shared("Show spectators your side")
        field = page.locator(".pbm-links li").filter(has_text="your side").get_by_label("link", exact=True)
        expect(field).to_have_value(re.compile("game=.*view"))
        address = field.input_value()
        page.keyboard.press("Escape")
        spectators = chromium.new_context()
        spectators.set_default_timeout(120_000)
        watcher = spectators.new_page()
        watcher.goto(address)
        expect(watcher.locator(".pbm-picture svg")).to_be_visible()
        own = watcher.locator(".pbm-picture").inner_html()
        expect(watcher.get_by_role("button", name="Undo")).to_be_hidden()
        shared("Show your side no longer")
        expect(watcher.locator(".pbm-picture")).not_to_have_js_property("innerHTML", own)
        spectators.close()


def test_a_board_that_comes_or_goes_leaves_a_half_made_choice(context):
    """The headline is written whenever a position arrives, which the page notes here."""
    with serving(start(SMALL, "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.locator(".pbm-own").first.click()
        page.evaluate("""() => {
            const note = () => document.body.classList.add("again");
            new MutationObserver(note).observe(document.querySelector(".pbm-headline"), { childList: true });
        }""")
        chosen = marked(page, "pbm-first"), marked(page, "pbm-next")
        assert all(chosen)
        other = context.new_page()
        for change in (lambda: other.goto(page.url), other.close):
            change()
            page.locator("body.again").wait_for()
            assert (marked(page, "pbm-first"), marked(page, "pbm-next")) == chosen
            page.evaluate("document.body.classList.remove('again')")
        page.locator(".pbm-next").first.click()
        expect(page.locator(".pbm-moves [data-ply]")).to_have_count(2)


def test_a_position_has_a_link(context):
    with serving(start(Trinim(), "person", "random", seed=4)) as port:
        page = open_tab(context, port)
        click_a_move(page, Random(1))
        page.get_by_label("more", exact=True).click()
        page.get_by_role("button", name="Share and open").click()
        address = page.locator(".pbm-links li").filter(has_text="This position").get_by_label("link").input_value()
        other = context.new_page()
        other.goto(address)
        expect(other.locator(".pbm-moves [data-ply]")).to_have_text(texts(page))
        page.get_by_label("a record or a link").fill(address)
        page.get_by_role("button", name="Open", exact=True).click()
        expect(page.get_by_role("dialog")).to_be_hidden()
        expect(page.locator(".pbm-moves [data-ply]")).to_have_count(2)


def test_a_link_shows_no_other_position_first(context):
    """The greeting is answered with the server's own game: nobody sees it, unless the link leads nowhere."""
    with serving(start(Trinim(), "person", "random", seed=4)) as port:
        page = context.new_page()
        held, send = hold(page, lambda message: message["type"] == "position" and message["plies"])
        page.goto(f"http://127.0.0.1:{port}/#game=trinim&moves=D4")
        while not held:
            page.wait_for_timeout(20)
        assert page.locator(".pbm [data-cell]").count() == 0
        send(held[0])
        expect(page.locator(".pbm-moves [data-ply]")).to_have_text(["D4"])
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/#game=trinim&moves=D9")
        page.wait_for_selector(OURS)
        expect(page.get_by_role("alert").filter(has_text="D9")).to_be_visible()


@pytest.mark.parametrize("game", FOUR, ids=lambda game: game.name)
def test_labels_of_moves_do_not_overlap_and_one_scale_stands_beside_them(context, game):
    """Ranks on the board, percentages in the table: none above what can be expected."""
    with serving(start(game, "person", "random", seed=3, hint="champion:simulations=100")) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="Analyse").click()
        page.locator(".pbm-heat td").first.wait_for()
        boxes = measured(page, ".pbm-pill rect", "each => each.getBoundingClientRect().toJSON()")
        assert boxes
        for number, one in enumerate(boxes):
            for other in boxes[:number]:
                aside = abs(one["x"] - other["x"]) >= (one["width"] + other["width"]) / 2 - 1
                assert aside or abs(one["y"] - other["y"]) >= (one["height"] + other["height"]) / 2 - 1
        shown = page.locator(".pbm-heat td:last-child").all_inner_texts()
        told = int(re.search(r"expect (\d+)%", page.locator(".pbm-analysis p").inner_text())[1])
        assert max(int(text.strip("%")) for text in shown if text.endswith("%")) <= told if "%" in str(shown) else True


def test_a_hint_says_how_sure_it_is_and_the_end_where_the_game_turned(context):
    game = Chameleon(size=4)
    with serving(start(game, "person", "random", seed=1, hint="champion:simulations=200")) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="Hint").click()
        expect(page.get_by_role("alert").last).to_contain_text(re.compile(r"The hint: \w+, .*(move|proven|better)"))
        rng = Random(3)
        while page.locator(".pbm").get_attribute("data-turn") != "over":
            click_a_move(page, rng)
        page.get_by_role("img", name="what you could expect").wait_for()
        turn = page.locator(".pbm-turn")
        expect(turn).to_contain_text("The game turned at")
        turn.get_by_role("button").click()
        expect(page.locator(".pbm-headline")).to_contain_text(re.compile("After move|won|lost"))
