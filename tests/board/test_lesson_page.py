"""A lesson and a puzzle on the page, by clicks, in a real Chromium; and what Curio says about pieces."""

import re

import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.text.puzzles import load_puzzles
from tests.board.boards import serving, start
from tests.board.test_browser import cell, open_tab

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.slow


def play(page, game, move):
    """A move by clicks: on its cells, then on its letter; or on its word."""
    action = game.string_to_action(move)
    cells = game.action_cells(action)
    for each in cells:
        cell(page, each).click()
    text = game.action_to_string(action)
    letters = page.locator(".pbm-chooser").get_by_role("button", name=text, exact=True)
    if not cells:
        page.get_by_role("button", name=game.wording.calls[text]).click()
    elif len(cells) == 1 and letters.count():  # the chooser opens with the click
        letters.click()


def play_lesson(page, game):
    """From its button to the form of a game, with a look at each answer."""
    page.get_by_role("button", name="Lesson").click()
    exercise = page.get_by_role("region", name="Exercise")
    for number, step in enumerate(game.lesson):
        expect(page.locator(".pbm-headline")).to_have_text(f"Lesson, step {number + 1} of {len(game.lesson)}")
        expect(exercise).to_contain_text(step.task)
        expect(exercise.get_by_role("button", name="Next")).to_have_count(0)
        exercise.get_by_role("button", name="Show me").click()
        expect(page.locator(".pbm-marks > *, .pbm-words .pbm-primary").first).to_be_attached()
        play(page, type(game)(**step.example.options), step.moves[0])
        expect(exercise.get_by_role("alert")).to_have_text(step.right)
        expect(exercise.locator("progress")).to_have_js_property("value", number + 1)
        if number + 1 < len(game.lesson):
            exercise.get_by_role("button", name="Next").click()
    exercise.get_by_role("button", name="Play a game").click()
    expect(page.get_by_role("dialog", name="New game")).to_be_visible()


@pytest.mark.parametrize("game", [Chameleon(), Curio(), Trinim(), Unlur()], ids=lambda game: game.name)
def test_a_lesson_from_its_button_to_the_form_of_a_game(context, game):
    """One game with letters, one with pieces that move, one with lines, one with stones and words."""
    with serving(start(game, "person", "random", seed=1)) as port:
        play_lesson(open_tab(context, port), game)


def test_a_wrong_move_is_answered_with_a_sentence(context):
    step = Curio().lesson[0]
    with serving(start(Curio(), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="Lesson").click()
        expect(page.locator(".pbm-headline")).to_contain_text("step 1")
        play(page, Curio(), "a1-a2")
        expect(page.get_by_role("region", name="Exercise").get_by_role("alert")).to_have_text(step.wrong)
        page.get_by_role("button", name="Leave").click()
        expect(page.locator(".pbm-headline")).to_contain_text("Your move")


def test_puzzles_from_the_form(context):
    """A count is typed, a move is clicked, and the game goes on from there."""
    puzzles = load_puzzles("curio")
    with serving(start(Trinim(), "person", "random", seed=1)) as port:
        page = open_tab(context, port)
        page.get_by_role("button", name="New game").click()
        page.get_by_role("radio", name="Curio").check()
        page.get_by_role("button", name="Puzzles").click()
        exercise = page.get_by_role("region", name="Exercise")
        expect(exercise).to_contain_text(puzzles[0].task)
        exercise.get_by_label("your answer").fill("3")
        exercise.get_by_role("button", name="Check").click()
        expect(exercise.get_by_role("alert")).to_contain_text("No, says the solver.")
        exercise.get_by_label("your answer").fill(puzzles[0].answers[0])
        exercise.get_by_role("button", name="Check").click()
        expect(exercise.get_by_role("alert")).to_have_text("Right, says the solver.")
        exercise.get_by_role("button", name="Next").click()
        expect(page.locator(".pbm-headline")).to_have_text(f"Puzzle 2 of {len(puzzles)}")


def test_pieces_of_curio_explain_themselves(context):
    board = "D12 . . . D44/. . . . ./D23 . . . ./L13 . D34 . ./L31 L22 . . L41"
    with serving(start(Curio(), "person", "random", board=board, seed=1)) as port:
        page = open_tab(context, port)
        told = page.locator(".pbm-told")
        cell(page, 1).click()
        expect(told).to_contain_text("Your 2 moves up to 2 cells")
        cell(page, 7).click()
        expect(told).to_have_text("This enemy shows you 3: your 2 captures enemies that show you 2 or less.")
        expect(page.locator(".pbm-range").first).to_be_attached()
        cell(page, 10).click()
        expect(told).to_contain_text("it may move up to")
        expect(page.locator(".pbm-headline")).to_have_text(re.compile("^Your move: move a piece"))
