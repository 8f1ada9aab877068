"""What a person before the board is told, and what becomes of what they do: the messages of `pbm_agents.play.table`."""

import queue
import sys

import pytest
from pbm_agents.play.start import MAX_TEXT_LENGTH
from pbm_agents.play.table import Table

from pbm_envs import Chameleon, Curio, Trinim, make_game
from pbm_envs.records import GameRecord, verify
from tests import environments
from tests.board.agents import GO
from tests.board.boards import PATIENCE, Person, start

HERE = "tests.board.agents"
SMALL = {name: make_game(name, **options) for name, options in environments.SMALL.items()} | {
    "curio": Curio(base=2, rows=4, cols=3),
    "trinim of two": Trinim(size=5),
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("seat", [0, 1])
def test_a_whole_game_against_random_from_each_seat(name, seat):
    game = SMALL[name]
    players = ["random"] * game.num_players
    players[seat] = "person"
    with Person(start(game, *players, seed=5)) as person:
        position = person.position if person.position["legal"] else person.settle()
        while not position["done"]:
            cells = {move["move"]: move["cells"] for move in position["legal"]}
            assert all(f'data-cell="{cell}"' in position["svg"] for named in cells.values() for cell in named)
            position = person.play(next(iter(cells)))
        assert position["legal"] == []
        assert sum(player["return"] for player in position["players"]) == 0
        person.say("save")
        record = GameRecord.from_json(person.hear("record")["text"])
        assert record.agents == tuple(players)
        assert [move["move"] for move in position["moves"]] == list(record.moves)
        verify(record)
        assert person.table.orders.record == record


def test_moves_name_their_cells():
    with Person(start(Chameleon(size=3), "person", "person")) as person:
        cells = {move["move"]: move["cells"] for move in person.position["legal"]}
        assert cells["b1x"] == cells["b1o"] == [1]
        cells = {move["move"]: move["cells"] for move in person.play("b1x")["legal"]}
        assert cells["swap"] == []
    with Person(start(Trinim(), seed=1)) as person:
        cells = {move["move"]: move["cells"] for move in person.position["legal"]}
        assert (cells["E1"], cells["E3-E1"]) == ([0], [5, 0])


def test_wrong_orders_are_answered_and_change_nothing():
    with Person(start(Chameleon(size=3), "person", "random", seed=1)) as person:
        for message, answer in [
            (None, "expected an object with 'do'"),
            ([], "expected an object with 'do'"),
            ({"do": ["play"]}, "expected an object with 'do'"),
            ({"do": "dance"}, "one of hello, play"),
            ({"do": "play"}, "'move' is 'None': expected a text"),
            ({"do": "play", "move": 3}, "'move' is '3': expected a text"),
            ({"do": "play", "move": "x" * (MAX_TEXT_LENGTH + 1)}, f"of at most {MAX_TEXT_LENGTH} characters"),
            ({"do": "play", "move": "z9z"}, "'z9z' is not a move of Chameleon"),
            ({"do": "play", "move": "swap"}, "'swap' is illegal here: expected one of a1x"),
            ({"do": "undo"}, "there is no move of yours to take back"),
            ({"do": "hello", "theme": "pink"}, "theme is 'pink': expected one of light, dark"),
            ({"do": "new", "game": "chess"}, "'chess' is not a game"),
            ({"do": "new", "game": "this:poem"}, "'this:poem' is not a game of pbm_envs: expected one of chameleon"),
            ({"do": "new", "game": "trinim", "options": ["size=4"]}, "size is 4"),
            ({"do": "new", "game": "trinim", "options": "size=4"}, "expected a list of texts"),
            ({"do": "look", "ply": 1}, "'ply' is '1': expected an integer from 0 to 0"),
            ({"do": "branch", "ply": True}, "expected an integer from 0 to 0"),
            ({"do": "open", "record": "{}"}, "schema is None"),
            ({"do": "open", "number": 0}, "expected an integer from 0 to -1"),
            ({"do": "new", "game": "trinim", "players": ["person"] * 3}, "expected at most 2"),
            ({"do": "new", "game": "trinim", "players": ["person", "sage"]}, "'sage' is not an agent"),
            ({"do": "new", "game": "trinim", "seed": "-1"}, "seed is '-1': expected an integer"),
        ]:
            person.table.receive(message)
            assert answer in person.hear("error")["text"]
        assert "this" not in sys.modules, "a page made the server import a module"
        person.say("hello")
        person.hear("setup")
        assert person.settle() == person.position
        assert person.position["game"] == "chameleon"


def test_orders_before_hello_change_nothing():
    answers = queue.SimpleQueue()
    table = Table(answers.put, start(Chameleon(size=3), "random", "random", seed=1), at_once=False)
    for message in ({"do": "pace", "seconds": 3}, {"do": "undo"}, {"do": "look", "ply": 0}, {"do": "hello"}):
        table.receive(message)
    while (message := answers.get(timeout=PATIENCE))["type"] != "position":
        assert message["type"] != "error"
    assert message["watching"]["pace"] == 1
    table.close()


def test_a_new_game_with_other_options_and_seats():
    with Person(start(Chameleon(size=3))) as person:
        person.say("new", game="trinim", options=["num_players=3"], players=["random", "person", "random"], seed="8")
        position = person.settle()
        assert (position["game"], position["options"]["num_players"]) == ("trinim", "3")
        assert [player["name"] for player in position["players"]] == ["Random (1)", "You", "Random (3)"]
        assert [move["player"] for move in position["moves"]] == [0]
        assert (person.table.orders.record.seed, person.table.orders.record.options["size"]) == (8, 5)


def test_what_a_game_warns_of_is_told():
    """T7"""
    with Person(start(Chameleon(size=3))) as person:
        person.say("new", game="trinim", options=["size=3"])
        assert "is a draw" in person.hear("note")["text"]
        assert person.settle()["game"] == "trinim"


def test_the_form_offers_every_option():
    with Person(start(Chameleon(size=3))) as person:
        for form in person.setup["games"]:
            options = {option["name"]: option for option in form["options"]}
            assert options.keys() == make_game(form["name"]).options.keys()
            assert options["allow_resign"]["choices"] == ["true", "false"]
        faces = next(option for option in person.setup["games"][1]["options"] if option["name"] == "face")
        assert (faces["default"], faces["choices"]) == ("large", ["large", "small", "random"])


SIZES = (3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20)
"""Of Trinim's boards, whose cells divide by three."""


def test_the_form_never_offers_what_is_refused():
    """Curio's pieces depend on its base, and both on the board; Trinim has no boards of 10 cells."""
    with Person(start(Chameleon(size=3))) as person:
        person.say("choices", game="curio", options=["base=3", "rows=4"])
        choices = person.hear("choices")["choices"]
        assert choices["num_pieces"] == ["none", "6"]
        assert choices["base"] == ["2", "3", "4"]
        assert "2" not in choices["rows"]
        person.say("choices", game="trinim", options=[])
        assert person.hear("choices")["choices"]["size"] == [str(n) for n in SIZES]
        person.say("new", game="curio", options=["base=3"])
        assert person.settle()["options"]["num_pieces"] == "none", "it follows from the base"


def test_undo_hint_and_analysis():
    """After a1x c1o a3x b1o the search wins with a2x; what it thinks goes with the position."""
    moves = ("a1x", "c1o", "a3x", "b1o")
    with Person(start(Chameleon(size=3), "person", "random", moves=moves, hint="mcts:simulations=200")) as person:
        assert [(move["player"], move["given"]) for move in person.position["moves"]] == [(0, True), (1, True)] * 2
        sure = {"sure": "it wins, which is proven"}
        assert person.do("hint")["hint"] == {"move": "a2x", "cells": [3], "call": "a2x"} | sure
        found = person.do("analyse")
        best = found["analysis"][0]
        assert (best["move"], best["value"], best["proven"]) == ("a2x", 1, True)
        assert found["values"] == [None] * 4 + [1]
        assert person.do("analyse")["analysis"] is None
        assert person.play("c3x")["analysis"] is None
        assert len(person.do("undo")["moves"]) == 4
        assert person.play("a2x")["headline"] == "You won: your chain of x joins top and bottom"
        assert "the game is over" in person.error("hint")
        assert not person.do("undo")["done"]


def test_an_adviser_that_does_not_search_shows_no_thinking():
    with Person(start(Chameleon(size=3), hint="random")) as person:
        assert "'random' does not show its thinking" in person.error("analyse")
        assert person.do("hint")["hint"]["move"] in [move["move"] for move in person.position["legal"]]


def test_an_agent_that_fails_forfeits():
    with Person(start(Chameleon(size=3), "person", "tests.cli.agents:Crash")) as person:
        headline = person.play("b2x")["headline"]
        assert headline == "You won: tests.cli.agents:Crash forfeited by RuntimeError: lost my way"


def test_everyone_may_resign_and_three_go_on():
    with Person(start(Trinim(size=3, num_players=3), "person", "random", "random", seed=1)) as person:
        position = person.play("resign")
        while not position["done"]:
            position = person.settle()
        assert position["players"][0]["return"] == -0.5
        verify(person.table.orders.record)


@pytest.mark.parametrize("allow_resign", [False, True])
def test_resigning_is_said(allow_resign):
    with Person(start(Chameleon(size=3, allow_resign=allow_resign), "person", "random")) as person:
        assert person.play("resign")["headline"] == "You lost: you resigned"


def test_a_game_that_was_left_says_nothing_more():
    GO.clear()
    with Person(start(Chameleon(size=3), f"{HERE}:Waiting", "person")) as person:
        assert person.position["headline"] == f"{HERE}:Waiting is thinking"
        assert "an agent is thinking" in person.error("undo")
        assert "an agent is thinking" in person.error("play", move="b2x")
        person.say("new", game="unlur", options=["radius=3"], players=["person", "random"])
        assert person.settle()["game"] == "unlur"
        GO.set()
        position = person.play("black")
        assert position["moves"][0]["move"] == "black"


def test_two_persons_change_seats():
    """Without a word in a perfect-information game; where something is hidden, the board is hidden in between."""
    with Person(start(Chameleon(size=3), "person", "person")) as person:
        assert person.play("b2x")["headline"].startswith("Your move: place a letter to join left and right, or swap")
    with Person(start(SMALL["curio"], "person", "person", seed=2)) as person:
        assert set(person.position) == {
            "type",
            "curtain",
            "game",
            "title",
            "goal",
            "watching",
            "table",
            "clock",
            "round",
        }
        light = person.do("sit")
        after = person.play(light["legal"][0]["move"])
        assert (after["legal"], after["hand over"], after["headline"]) == ([], True, "Player 2 is to move")
        assert "not your turn" in person.error("play", move="pass")
        assert person.do("hide")["curtain"] == "Player 2"
        assert "not your turn" in person.error("hint")
        dark = person.do("sit")
        assert dark["legal"]
        assert dark["svg"] != after["svg"]


def test_a_move_that_is_shown_can_be_taken_back():
    with Person(start(Chameleon(size=3), "person", "person")) as person:
        person.play("a1x")
        person.play("b2o")
        person.play("c3x")
        assert person.do("look", ply=2)["ply"] == 2
        person.do("undo")
        shown = person.do("undo")
        assert shown["ply"] == shown["plies"] == 1
