"""The page of `pbm serve`, flow by flow, in a real Chromium: a newcomer, the history, analysis, lost servers, watching,
phones, keys, contrast and names for screen readers."""

import json
import re
import subprocess
import sys
import warnings
from random import Random

import numpy as np
import pytest
from pbm_agents.play.web import listen

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.board.boards import PATIENCE, serving, start
from tests.board.test_browser import OURS, cell, click_a_move, marked, new_game, open_tab, texts

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
pytestmark = pytest.mark.slow

SMALL = Curio(base=2, rows=4, cols=3)
FOUR = [Chameleon(size=5), Curio(), Trinim(), Unlur(radius=3)]
SIZES = [(1920, 1080), (1400, 900), (1024, 768), (390, 844)]


def test_a_newcomer_is_told_what_to_do(context):
    """Title, tab, goal, rules with symbols; movable pieces are marked, and every click is answered."""
    with serving(
        start(SMALL, "person", "tests.board.agents:dark", board="D12 D11 D22/. . ./. . ./L21 L22 L11")
    ) as port:
        page = open_tab(context, port)
        expect(page.get_by_role("heading", level=1)).to_have_text("Curio")
        assert page.title() == "● Your move \N{EN DASH} Curio"
        expect(page.locator(".pbm-goal")).to_contain_text("Capture the last royal piece")
        assert marked(page, "pbm-own") == {0, 1, 2}
        cell(page, 9).click()
        expect(page.locator(".pbm-told")).to_contain_text("This enemy shows you 1")
        page.get_by_role("button", name="Rules").click()
        rules = page.get_by_role("dialog", name="Rules")
        expect(rules).to_contain_text("the other side, which you do not know")
        assert rules.locator(".pbm-symbols svg").count() > 4
        expect(rules.locator(".pbm-short li svg")).to_have_count(5)
        page.keyboard.press("Escape")
        expect(rules).to_be_hidden()


def test_a_word_says_what_it_does(context):
    with serving(start(Unlur(radius=3), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="Take Black").click()
        page.wait_for_selector(f":is({OURS}):has(.pbm-moves [data-ply])")


def test_the_form_for_a_new_game(context):
    """Errors stand beside the button and change nothing; then the form closes and the board is in view."""
    with serving(start(Chameleon(size=3), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="New game").click()
        form = page.get_by_role("dialog", name="New game")
        form.get_by_role("radio", name="Trinim").check()
        assert form.get_by_label("Opponent").locator("option").first.inner_text() == "Easy \N{EN DASH} Greedy, rated 40"
        form.get_by_text("Variants").click()
        form.get_by_label("seed").fill("x")
        form.get_by_role("button", name="Start").click()
        expect(form.get_by_role("alert")).to_contain_text("seed is 'x'")
        form.get_by_label("seed").fill("")
        assert page.locator("h1").inner_text() == "Chameleon"
        form.get_by_label("size").select_option("3")
        form.get_by_role("button", name="Start").click()
        expect(form).to_be_hidden()
        expect(page.locator(".pbm-telling.pbm-note")).to_contain_text("is a draw")
        page.wait_for_selector(OURS)
        assert page.locator("h1").inner_text() == "Trinim"
        expect(page.locator(".pbm-picture")).to_be_in_viewport()
        assert "4" not in form.get_by_label("size").locator("option").all_inner_texts()
        new_game(page, "Curio", side="1")
        expect(page.locator(".pbm-strip").last).to_contain_text("DarkYou")


def test_the_form_is_kept_while_the_colours_change(context):
    """The system's colours are followed until somebody chooses; what was typed into the form stays."""
    with serving(start(Chameleon(size=3), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        assert page.locator(".pbm").get_attribute("data-theme") == "light"
        page.get_by_role("button", name="New game").click()
        form = page.get_by_role("dialog", name="New game")
        form.get_by_role("radio", name="Trinim").check()
        form.get_by_label("size").select_option("6")
        form.get_by_label("Side").select_option("1")
        pictures = form.locator(".pbm-game-picture svg")
        expect(pictures).to_have_count(4)
        light = pictures.first.evaluate("svg => svg.outerHTML")
        page.emulate_media(color_scheme="dark")
        page.wait_for_selector('.pbm[data-theme="dark"]')
        page.wait_for_function(
            "light => document.querySelector('.pbm-game-picture svg').outerHTML !== light", arg=light
        )
        assert (form.get_by_label("size").input_value(), form.get_by_label("Side").input_value()) == ("6", "1")
        assert form.get_by_role("radio", name="Trinim").is_checked()
        form.get_by_role("button", name="Start").click()
        expect(form).to_be_hidden()
        expect(page.locator(".pbm-picture")).to_be_in_viewport(ratio=0.9)
        page.wait_for_selector(OURS)
        page.get_by_role("button", name="dark or light").click()
        page.wait_for_selector('.pbm[data-theme="light"]')
        page.wait_for_selector(OURS)
        page.emulate_media(color_scheme="light")
        page.emulate_media(color_scheme="dark")
        page.reload()
        page.wait_for_selector(OURS)
        assert page.locator(".pbm").get_attribute("data-theme") == "light"  # the person's choice


def test_nothing_moves_for_those_who_do_not_want_it(chromium):
    window = chromium.new_context(reduced_motion="reduce")
    window.set_default_timeout(120_000)
    with serving(start(Chameleon(size=3), "person", "random", seed=1)) as port:
        page = open_tab(window, port)
        moving = """() => [...document.querySelectorAll(".pbm, .pbm *")].flatMap((element) =>
            [null, "::before", "::after"].map((part) => getComputedStyle(element, part)).filter((style) =>
                style.animationName !== "none" || parseFloat(style.transitionDuration) > 0
                || style.scrollBehavior === "smooth")).length"""
        busy = "document.querySelector('.pbm-headline').classList.add('pbm-busy')"
        page.evaluate(busy)
        assert page.evaluate(moving) == 0
        page.emulate_media(reduced_motion="no-preference")
        assert page.evaluate(moving) == 1
    window.close()


def test_a_remark_on_the_game_stands_on_the_page(context):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = Trinim(size=8)
    with serving(start(game, "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        expect(page.locator(".pbm-telling.pbm-note")).to_contain_text(
            "Every two-player game of Trinim of size 8 is a draw"
        )


def test_back_on_and_from_there(context):
    with serving(start(Chameleon(size=4), "person", "random", seed=2)) as port:
        page = open_tab(context, port)
        for seed in range(2):
            click_a_move(page, Random(seed))
        stones = ".pbm-picture circle"
        latest, played = page.locator(stones).count(), texts(page)
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".pbm-headline")).to_have_text("After move 3 of 4")
        page.get_by_role("button", name="to the start").click()
        expect(page.locator(".pbm-headline")).to_have_text("After move 0 of 4")
        assert page.locator(stones).count() == 0
        page.get_by_role("button", name="one move on").click()
        expect(page.locator('.pbm-moves [aria-current="true"]')).to_have_text(played[0])
        page.get_by_role("button", name="to the last position").click()
        page.wait_for_selector(OURS)
        expect(page.locator(".pbm-headline")).to_contain_text("Your move")
        assert page.locator(stones).count() == latest
        page.locator(".pbm-moves [data-ply='2']").click()
        page.get_by_role("button", name="Play on from here").click()
        page.wait_for_selector(OURS)
        assert texts(page) == played[:2]
        click_a_move(page, Random(3))
        assert len(texts(page)) == 4


INKED = """() => {
    const inside = (box, x, y) => x > box.left && x < box.right && y > box.top && y < box.bottom;
    const svg = document.querySelector(".pbm-picture svg");
    const drawn = svg.querySelector("g");  // letters are paths; dots are circles
    const ink = [...drawn.querySelectorAll("path, circle")].map((shape) => shape.getBoundingClientRect());
    const covered = [];
    for (const shape of svg.querySelectorAll(".pbm-line line, .pbm-line polygon, .pbm-ring")) {
        const matrix = shape.getScreenCTM();
        for (let step = 0; step <= 100; step += 1) {
            const point = shape.getPointAtLength((shape.getTotalLength() * step) / 100).matrixTransform(matrix);
            if (ink.some((box) => inside(box, point.x, point.y))) covered.push([point.x, point.y]);
        }
    }
    return covered;
}"""
"""Points of arrows and rings that lie on a number, a dot or a letter of the board."""


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_analysis_stands_beside_the_numbers(context, seed):
    """Marks of five moves in a colour of their own; moves of pieces as arrows; the results as a chart."""
    with serving(start(Curio(), "person", "random", seed=seed, hint="mcts:simulations=60")) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="Analyse").click()
        expect(page.locator(".pbm-heat tbody tr")).to_have_count(5)
        assert page.locator(".pbm-marks .pbm-line").count() == 5
        assert page.evaluate(INKED) == []
        assert page.locator(".pbm-pill").first.evaluate(
            "mark => getComputedStyle(mark.querySelector('rect')).fill"
        ) == ("rgb(106, 53, 184)")
        page.locator(".pbm-heat tbody button").first.click()
        page.wait_for_selector(f":is({OURS}):has(.pbm-moves [data-ply])")
        page.get_by_role("button", name="Chances").click()
        page.get_by_role("img", name="what you could expect").wait_for()


def test_lines_are_ringed_and_lit_as_a_whole(context):
    """Trinim: no arrow, since nothing moves; the line of a table's row lights the pieces between its ends too."""
    game = Trinim()
    with serving(start(game, "person", "random", seed=7, hint="mcts:simulations=300")) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="Analyse").click()
        page.locator(".pbm-heat td").first.wait_for()
        moves = page.locator(".pbm-heat tbody button").all_inner_texts()
        lines = [move for move in moves if "-" in move]
        assert lines
        assert (page.locator(".pbm-ring").count(), page.locator(".pbm-line").count()) == (len(lines), 0)
        for move in moves:
            page.get_by_role("button", name=move, exact=True).hover()
            before = game.init(1, np.random.default_rng(1))
            after = before.copy()
            game.step(after, np.array([game.string_to_action(move)]))
            assert marked(page, "pbm-lit") == set(np.flatnonzero(before["pieces"][0] != after["pieces"][0]).tolist())


def test_the_end_has_a_banner_with_a_rematch(context):
    with serving(start(Chameleon(size=3), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.get_by_label("more", exact=True).click()
        page.get_by_role("button", name="Resign").click()
        page.get_by_role("button", name="Really resign?").click()
        page.get_by_role("heading", name="you resigned").wait_for()
        page.get_by_role("button", name="Exchange seats").click()
        page.wait_for_selector(".pbm[data-turn=mine]")
        assert len(texts(page)) == 1
        expect(page.locator(".pbm-result")).to_be_hidden()


def storage(page):
    return json.dumps(page.evaluate("() => [{...sessionStorage}, {...localStorage}]"))


def test_the_game_goes_on_after_a_reload_and_in_a_new_tab(context):
    with serving(start(SMALL, "person", "random", seed=5)) as port:
        page = open_tab(context, port)
        click_a_move(page, Random(1))
        played, picture = texts(page), page.locator(".pbm-picture").inner_html()
        page.get_by_role("button", name="dark or light").click()
        page.wait_for_selector('.pbm[data-theme="dark"]')
        page.reload()
        page.wait_for_selector(OURS)
        assert texts(page) == played
        assert page.locator(".pbm").get_attribute("data-theme") == "dark"
        assert " D1" not in storage(page)  # nothing of the game but its address
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?game=[\w-]{22}\.here\.[\w-]{16}", page.url)
        page.close()
        other = open_tab(context, port)
        assert texts(other) == []
        other.get_by_role("button", name="Go on with it").click()
        expect(other.locator(".pbm-moves [data-ply]")).to_have_count(len(played))
        other.get_by_role("button", name="dark or light").click()
        other.wait_for_selector('.pbm[data-theme="light"]')
        other.wait_for_selector(OURS)
        assert other.locator(".pbm-picture [data-cell]").count() == picture.count("data-cell")


def test_the_game_goes_on_after_the_server_was_lost_and_restarted(context, tmp_path):
    """A banner that stays, nothing to click on; then the same game, without a word from the person."""
    from pbm_agents.play.kept import KeptGames
    from pbm_agents.play.limits import Limits
    from pbm_agents.play.web import application, server

    def run(begin, port):
        """A server that is started anew keeps its games in the same folder."""
        import threading

        listening = listen("127.0.0.1", port)
        running = server(application(begin, "127.0.0.1", Limits(), kept=KeptGames(tmp_path)))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
        thread.start()

        def stop():
            running.should_exit = True
            thread.join(PATIENCE)
            listening.close()

        return listening.getsockname()[1], stop

    port, stop = run(start(SMALL, "person", "random", seed=5), 0)
    page = open_tab(context, port)
    click_a_move(page, Random(1))
    played = texts(page)
    stop()
    expect(page.get_by_role("alert").first).to_contain_text("connection to pbm serve is lost")
    assert page.title().startswith("Connection lost")
    assert page.locator(".pbm-table").evaluate("element => element.inert")
    _, stop = run(start(Chameleon(size=3), "person", "random"), port)
    try:
        expect(page.locator(".pbm-banner").first).to_be_hidden()
        page.wait_for_selector(OURS)
        assert texts(page) == played
        click_a_move(page, Random(2))
        assert len(texts(page)) > len(played)
    finally:
        page.close()
        stop()


def test_agents_are_watched_and_records_are_opened(context, tmp_path):
    session = start(Chameleon(size=3), "random", "random", seed=2).session()
    while not session.done:
        session.play_agent_move()
    record = session.record()
    with serving(start(Chameleon(size=3), "random", "random", seed=1)) as port:
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{port}/")
        page.get_by_role("button", name="Fast").click()
        page.wait_for_selector(".pbm[data-turn=over]")
        page.get_by_role("heading", name=re.compile("won|lost")).wait_for()
        file = page.evaluate_handle(
            "text => { const data = new DataTransfer(); data.items.add(new File([text], 'a.jsonl')); return data; }",
            record.to_json() + "\n",
        )
        page.dispatch_event("#board", "drop", {"dataTransfer": file})
        expect(page.locator(".pbm-headline")).to_have_text(f"After move 0 of {record.plies}")
        page.get_by_role("button", name="Fast").click()
        expect(page.locator(".pbm-headline")).to_contain_text(re.compile("won|lost"))
        assert texts(page) == list(record.moves)


def test_serve_shows_the_games_of_a_file(context, tmp_path):
    """`pbm serve --replay games.jsonl`: a list of games, each from the start, move by move."""
    records = []
    for seed in (2, 3):
        session = start(Chameleon(size=3), "random", "random", seed=seed).session()
        while not session.done:
            session.play_agent_move()
        records.append(session.record())
    path = tmp_path / "games.jsonl"
    path.write_text("".join(f"{record.to_json()}\n" for record in records))
    command = [sys.executable, "-m", "pbm_agents.cli", "serve", "--replay", str(path), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            page = context.new_page()
            page.goto(re.search(r"http://\S+", process.stdout.readline())[0])
            expect(page.locator(".pbm-headline")).to_have_text(f"After move 0 of {records[0].plies}")
            page.get_by_text("Games (2)").click()
            page.get_by_role("button", name="2. random").click()
            expect(page.locator(".pbm-headline")).to_have_text(f"After move 0 of {records[1].plies}")
            page.keyboard.press("ArrowRight")
            expect(page.locator(".pbm-headline")).to_have_text(f"After move 1 of {records[1].plies}")
            page.get_by_role("button", name="to the last position").click()
            page.wait_for_selector(".pbm[data-turn=over]")
            assert texts(page) == list(records[1].moves)
            page.close()
        finally:
            process.kill()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium, scheme):
    """Levels A and AA of WCAG on every screen: boards, rules, new game, analysis, the end, a lost server."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    settings = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}}
    window = chromium.new_context(viewport={"width": 1200, "height": 850}, color_scheme=scheme, reduced_motion="reduce")
    window.set_default_timeout(120_000)

    def check(page, screen):
        found = axe.run(page, options=settings).response["violations"]
        told = [
            (each["id"], [(node["html"][:120], node["failureSummary"]) for node in each["nodes"]][:3]) for each in found
        ]
        assert told == [], screen

    with serving(start(FOUR[0], "person", "random", seed=1, hint="mcts:simulations=30")) as port:
        page = open_tab(window, port)
        for title in ("Chameleon", "Curio", "Trinim", "Unlur"):
            new_game(page, title)
            check(page, title)
        new_game(page, "Curio")
        page.get_by_role("button", name="Rules").click()
        page.get_by_role("dialog", name="Rules").wait_for()
        check(page, "rules")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Lesson").click()
        page.get_by_role("region", name="Exercise").wait_for()
        check(page, "lesson")
        page.get_by_role("button", name="New game").click()
        page.get_by_role("button", name="Puzzles").click()
        expect(page.locator(".pbm-headline")).to_contain_text("Puzzle 1 of")
        check(page, "puzzle")
        page.get_by_role("button", name="Leave").click()
        expect(page.locator(".pbm-exercise")).to_be_hidden()
        page.get_by_role("button", name="New game").click()
        page.get_by_text("Variants", exact=True).click()
        check(page, "new game")
        page.keyboard.press("Escape")
        click_a_move(page, Random(1))
        page.get_by_role("button", name="Analyse").click()
        page.locator(".pbm-heat td").first.wait_for()
        check(page, "analysis")
        page.get_by_label("more", exact=True).click()
        page.get_by_role("button", name="Resign").click()
        page.get_by_role("button", name="Really resign?").click()
        page.get_by_role("heading", name="resigned").wait_for()
        check(page, "the end")
    page.locator(".pbm-banner").first.wait_for()
    check(page, "lost")
    window.close()


@pytest.mark.parametrize("game", FOUR, ids=lambda game: game.name)
def test_the_board_is_as_large_as_the_window_allows(context, game):
    """And nothing lies beside the window; the status is above the board."""
    with serving(start(game, "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            board = page.locator(".pbm-picture svg").bounding_box()
            assert page.locator(".pbm-headline").bounding_box()["y"] < board["y"]
            if width > 1000:
                assert page.evaluate("document.documentElement.scrollHeight") <= height
                assert board["height"] >= height - 290
            else:
                assert board["width"] >= width - 20
