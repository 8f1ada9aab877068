"""Lessons and puzzles on the board: each one is walked through as a person would, by the messages of the page."""

import json

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, make_game, registered_games
from pbm_envs.authoring import Example, Step
from pbm_envs.records import play_moves
from pbm_envs.text.puzzles import load_puzzles
from tests.board.boards import Person, start
from tests.board.test_secrets import WORLDS

LESSONS = [name for name in registered_games() if make_game(name).lesson]


def test_all_games_have_a_lesson_of_five_to_eight_steps():
    assert set(registered_games()) == set(LESSONS)
    assert all(5 <= len(make_game(name).lesson) <= 8 for name in LESSONS)


@pytest.fixture(scope="module")
def person():
    with Person(start(Chameleon(size=3), "person", "random", seed=1)) as person:
        yield person


@pytest.mark.parametrize("name", LESSONS)
def test_every_step_of_a_lesson_is_legal_and_necessary(person, name):
    """Each accepted move is legal, some legal moves are not accepted, and nobody goes on without an accepted one."""
    steps = make_game(name).lesson
    texts = {text for step in steps for text in (step.task, step.right, step.wrong)}
    assert len(texts) == 3 * len(steps)
    for number, step in enumerate(steps):
        shown = person.do("exercise", game=name, kind="lesson", number=number)
        assert (shown["exercise"]["task"], shown["exercise"]["state"]) == (step.task, "open")
        assert (shown["exercise"]["number"], shown["exercise"]["count"]) == (number, len(steps))
        legal = [move["move"] for move in shown["legal"]]
        accepted = {make_game(name, **step.example.options).string_to_action(move) for move in step.moves}
        actions = {make_game(name, **step.example.options).string_to_action(move): move for move in legal}
        assert accepted < set(actions)
        wrong = next(move for action, move in actions.items() if action not in accepted)
        refused = person.play(wrong)
        assert (refused["exercise"]["state"], refused["exercise"]["said"]) == ("wrong", step.wrong)
        assert (refused["svg"], refused["legal"]) == (shown["svg"], shown["legal"])
        if number + 1 < len(steps):
            assert "solve them first" in person.error("exercise", game=name, kind="lesson", number=number + 1)
        for move in step.moves:
            solved = person.play(move)
            assert (solved["exercise"]["state"], solved["exercise"]["said"]) == ("right", step.right)
            assert solved["svg"] != shown["svg"]
            assert solved["exercise"]["last"] == (number + 1 == len(steps))
            person.do("exercise", game=name, kind="lesson", number=number)
        person.play(step.moves[0])
    assert not person.do("leave")["exercise"]


@pytest.mark.parametrize("name", LESSONS)
def test_what_lessons_say_about_winning_is_true(name):
    """Where an accepted move wins at once, all accepted moves do, and no other."""
    for step in make_game(name).lesson:
        game = make_game(name, **step.example.options)
        state = game.init(1, np.random.default_rng(0), board=step.example.board)
        for _ in play_moves(game, state, step.example.moves):
            pass
        assert int(state["to_move"][0]) == step.example.player
        wins = set()
        for action in np.flatnonzero(game.legal_action_mask(state)[0]):
            after = state.copy()
            game.step(after, [action])
            if after["done"][0] and after["returns"][0, step.example.player] > 0:
                wins.add(int(action))
        assert wins in (set(), {game.string_to_action(move) for move in step.moves})


@pytest.mark.parametrize("name", registered_games())
def test_every_puzzle_is_playable_with_the_answer_of_the_solver(person, name):
    puzzles = load_puzzles(name)
    assert len(puzzles) > 10
    for number, puzzle in enumerate(puzzles):
        shown = person.do("exercise", game=name, kind="puzzles", number=number)
        assert shown["exercise"]["task"] == puzzle.task.replace("`", '"')
        if shown["exercise"]["asks"] == "move":
            assert set(puzzle.answers) <= {move["move"] for move in shown["legal"]}
            revealed = person.do("reveal")["exercise"]
            assert [move["move"] for move in revealed["answers"]] == list(puzzle.answers)
            assert person.play(puzzle.answers[0])["exercise"]["state"] == "right"
        else:
            assert shown["legal"] == []
            assert person.do("answer", text="no idea")["exercise"]["state"] == "wrong"
            revealed = person.do("reveal")["exercise"]
            assert puzzle.answers[0] in revealed["said"]
            assert person.do("answer", text=puzzle.answers[0])["exercise"]["state"] == "right"
    person.do("leave")


def test_the_game_waits_while_a_lesson_is_on_the_board():
    with Person(start(Chameleon(size=3), "person", "random", seed=1)) as person:
        before = person.play("a1x")
        lesson = person.do("exercise", game="unlur", kind="lesson")
        assert (lesson["game"], lesson["exercise"]["number"]) == ("unlur", 0)
        for order in ("undo", "hint", "analyse", "save"):
            assert "'leave' first" in person.error(order)
        assert person.do("leave") == before
        assert "no lesson" in person.error("reveal")
        assert person.do("exercise", game="unlur", kind="lesson")["exercise"]
        begun = person.do("new", game="trinim", players=["person", "random"])
        assert (begun["game"], begun["exercise"]) == ("trinim", None)


def test_a_game_goes_on_from_a_puzzle():
    with Person(start(Chameleon(size=3), "person", "random", seed=1, hint="random")) as person:
        number = next(k for k, puzzle in enumerate(load_puzzles("chameleon")) if puzzle.number == 2)
        puzzle = load_puzzles("chameleon")[number]
        person.do("exercise", game="chameleon", kind="puzzles", number=number)
        assert person.play(puzzle.answers[0])["exercise"]["can play on"]
        position = person.do("branch")
        assert position["exercise"] is None
        assert [move["move"] for move in position["moves"]][: len(puzzle.moves) + 1] == [
            *puzzle.moves,
            puzzle.answers[0],
        ]
        assert "champion:simulations=1000" in position["seats"]


def test_any_game_brings_its_own_lesson_or_none(monkeypatch, person):
    step = Step("Win.", Example(("a1o",), player=1, options={"size": 3}), ("swap",), "Well done.", "No.")
    monkeypatch.setattr(Chameleon, "lesson", (step,))
    assert person.do("exercise", game="chameleon", kind="lesson")["exercise"]["task"] == "Win."
    assert person.play("swap")["exercise"]["said"] == "Well done."
    person.do("leave")
    monkeypatch.setattr(Chameleon, "lesson", ())
    assert "Chameleon has no lesson" in person.error("exercise", game="chameleon", kind="lesson")
    assert not person.do("look", ply=None)["lesson"]


def test_wrong_orders_are_answered(person):
    for message, answer in [
        ({"game": "chess", "kind": "lesson"}, "'chess' is not a game"),
        ({"game": "curio", "kind": "opera"}, "expected lesson or puzzles"),
        ({"game": "curio", "kind": "lesson", "number": 9}, "expected an integer from 0 to 5"),
        ({"game": "curio", "kind": "lesson", "number": "1"}, "expected an integer"),
        ({"kind": "lesson"}, "'game' is"),
    ]:
        assert answer in person.error("exercise", **message)
    person.do("exercise", game="curio", kind="lesson")
    assert "illegal" in person.error("play", move="a1-a5")
    assert "is not a move of Curio" in person.error("play", move="castle")
    person.do("leave")


def test_hidden_faces_of_the_game_and_of_the_exercise_stay_hidden():
    sent = []
    for board in WORLDS:
        with Person(start(Curio(base=2, rows=4, cols=3), "person", "random", board=board, seed=1)) as person:
            conversation = [person.do("exercise", game="curio", kind="lesson")]
            conversation += [person.do("exercise", game="curio", kind="puzzles", number=k) for k in range(3)]
            person.say("explain", cells=[0])
            conversation += [person.hear("explained"), person.do("leave")]
            sent.append(json.dumps(conversation))
    assert sent[0] == sent[1]
    for puzzle in load_puzzles("curio"):
        assert puzzle.board not in sent[0]
