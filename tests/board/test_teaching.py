"""What beginners are told: rules for players, the phase of the game, what a piece can do, why a game is over."""

import re

import pytest
from pbm_agents.play.messages import explanation, headline, position

from pbm_envs import Chameleon, Curio, Trinim, Unlur, make_game, registered_games
from tests.board.boards import Person, start

FOUR = {"rows": 5, "cols": 5}
CURIO = "D12 . . . D44/. . . . ./D23 . . . ./L13 . D34 . ./L31 L22 . . L41"


@pytest.mark.parametrize("name", registered_games())
def test_the_rules_are_written_for_players_with_pictures(name):
    with Person(start(make_game(name), "person", *["random"] * (make_game(name).num_players - 1), seed=1)) as person:
        person.say("rules")
        message = person.hear("rules")
        assert message["html"] == ""
        assert len(message["rules"]) >= 4
        assert sum(len(rule["text"].split()) for rule in message["rules"]) < 250, "a minute to read"
        for rule in message["rules"]:
            assert not re.search(
                r"player_\d|\([A-Z]\d+\)|=|`", rule["text"] + rule["svg"].split(">")[0].split("aria")[1][7:]
            )
            assert rule["svg"].startswith("<svg")


def test_a_game_without_rules_for_players_shows_its_page_of_rules(monkeypatch):
    monkeypatch.setattr(Chameleon, "short_rules", ())
    with Person(start(Chameleon(size=3), "person", "random")) as person:
        person.say("rules")
        message = person.hear("rules")
        assert message["rules"] == []
        assert "<h3>Chameleon</h3>" in message["html"]


def test_the_rules_follow_the_options():
    def text(game):
        return " ".join(rule.text for rule in game.short_rules)

    assert "swap" in text(Chameleon())
    assert "swap" not in text(Chameleon(swap_rule=False))
    assert "captures any enemy" in text(Curio(capture="any"))
    assert "more than its number" in text(Curio(capture="gt"))
    assert "turns around" not in text(Curio(turn=False))
    assert "the larger number of every piece faces its owner" in text(Curio())
    assert "faces its owner" not in text(Curio(face="random"))
    assert "20 moves" in text(Curio(no_capture_limit=20))
    assert "for everybody" in text(Trinim(size=6, num_players=3))


def session_after(game, moves=(), board=None, players=("person", "random")):
    return start(game, *players, moves=tuple(moves), board=board, seed=1).session()


@pytest.mark.parametrize(
    ("game", "moves", "board", "said"),
    [
        (Unlur(radius=3), (), None, "place a black stone on an inner cell, or take Black"),
        (Unlur(radius=3), ("c3", "black"), None, "place a white stone to join two opposite sides"),
        (Unlur(radius=3), ("black", "c3"), None, "place a black stone to join sides 1, 3, 5 or 2, 4, 6"),
        (Chameleon(size=3), (), None, "place an x or an o to join top and bottom"),
        (Chameleon(size=3), ("a1x", "swap"), None, "place an x or an o to join left and right"),
        (Curio(), (), None, "move a piece or capture"),
        (Trinim(), (), None, "take one piece, or a line without a gap"),
    ],
)
def test_the_headline_knows_the_phase(game, moves, board, said):
    assert headline(session_after(game, moves, board), 0, "") == f"Your move: {said}"


def test_the_swap_is_explained_when_it_is_offered():
    session = session_after(Chameleon(size=3), ("b2x",), players=("random", "person"))
    said = headline(session, 1, "")
    assert "or swap: you join top and bottom then, and the first letter stays" in said
    session.play("swap")
    assert "swap" not in headline(session_after(Chameleon(size=3, swap_rule=False), ("b2x",)), 1, "")


@pytest.mark.parametrize(
    ("cells", "said", "marked"),
    [
        (["a1"], "Your 3 moves up to 3 cells in a straight line, and captures enemies that show you 3 or less.", "b2"),
        (["e1"], "It is royal: keep it.", "e5"),
        (["a3"], "This enemy shows you 2. You do not know its other side: it may move up to 4 cells.", "e3"),
        (["c2"], "This enemy shows you 3", "c5"),
        (["b1", "c2"], "This enemy shows you 3: your 2 captures enemies that show you 2 or less.", "b3"),
        (["b1", "b5"], "b5 is 4 cells away, and your 2 moves up to 2 cells.", "b3"),
        (["b1", "c4"], "Pieces move in straight lines: c4 is not in a line with b1.", "b3"),
        (["b1", "d1"], "", ""),
        (["b5"], "", ""),
    ],
)
def test_curio_says_what_a_piece_may_do_and_why_another_may_not(cells, said, marked):
    game = Curio(**FOUR)
    session = session_after(game, board=CURIO)
    names = list(game.board.names)
    told = explanation(session, 0, [names.index(cell) for cell in cells])
    assert said in told["text"]
    assert (names.index(marked) in told["range"]) if marked else not told["text"]


def test_a_piece_that_is_blocked_is_explained():
    board = ". . . . D12/. . . . ./. . . . D44/L22 L22 . . ./L11 L33 . . ."
    told = explanation(session_after(Curio(), board=board), 0, [0])
    assert "It cannot move now: every way is blocked." in told["text"]
    assert told["range"] == []


def test_nothing_is_explained_when_it_is_not_your_turn_or_there_is_nothing_to_say():
    session = session_after(Curio(), board=CURIO, players=("random", "person"))
    assert explanation(session, 1, [0])["text"] == ""
    assert position(session_after(Curio(), board=CURIO), 0)["explains"]
    assert not position(session_after(Chameleon(size=3)), 0)["explains"]
    with Person(start(Curio(), "person", "random", board=CURIO)) as person:
        for wrong in ([], [25], [0, 1, 2], "0", [True], ["a1"]):
            assert "cells" in person.error("explain", cells=wrong)


ENDINGS = [
    (Chameleon(size=3), None, ["b1x", "c1o", "b2x", "c2o", "b3x"], "You won: your chain of x joins top and bottom",
     "You lost: a chain of x joins top and bottom for Vert"),
    (Chameleon(size=3), None, ["a1x", "b1x", "a2o", "c1x"],
     "You lost: a chain of x joins left and right for Horz", "You won: your chain of x joins left and right"),
    (Chameleon(size=3), None, ["a1x", "b1x", "c1x"],
     "You lost: a chain of x joins left and right for Horz, by your own move",
     "You won: your chain of x joins left and right"),
    (Unlur(radius=3), None, ["b2", "c3", "d3", "black", "c5", "a2", "b1", "e4"],
     "You won: a black chain joins the opposite sides 1 and 4, which wins for White",
     "You lost: your black chain joins the opposite sides 1 and 4, which wins for White"),
    (Unlur(radius=3), None, ["b3", "c4", "d4", "d3", "black", "b1", "a2", "b4", "d5", "c2", "e3"],
     "You won: your black chain joins sides 1, 3 and 5", "You lost: a black chain joins sides 1, 3 and 5"),
    (Curio(base=2, rows=4, cols=3), "D12 D11 D22/. . ./. . ./L21 L22 L11", ["a1-a3", "a4-a3", "b1-b3", "c4-b3"],
     "You lost: Dark captured your last royal piece", "You won: you captured Light's last royal piece"),
    (Curio(base=2, rows=4, cols=3, no_capture_limit=2), None, None, "Draw: no capture for 2 moves",
     "Draw: no capture for 2 moves"),
    (Curio(base=2, rows=4, cols=3), "D22 . ./D11 . ./. L11 ./L22 . .", ["b2-a3", "a4-a3"],
     "Draw: each side has one piece left", "Draw: each side has one piece left"),
    (Trinim(size=3, num_players=3), "r/../...", ["C1"],
     "Draw: you scored 2 (even: green and blue); Random (2) scored 3 (even: red, green and blue); "
     "Random (3) scored 3 (even: red, green and blue)", None),
    (Trinim(size=3, num_players=3), "r/r./...", ["C1", "B2"],
     "You lost: you scored 2 (even: green and blue); Random (2) scored 2 (even: green and blue); "
     "Random (3) scored 3 (even: red, green and blue)", None),
]  # fmt: skip


@pytest.mark.parametrize(("game", "board", "moves", "first", "second"), ENDINGS)
def test_the_end_says_why_to_you(game, board, moves, first, second):
    for seat, said in ((0, first), (1, second)):
        if said is None:
            continue
        players = ["random"] * game.num_players
        players[seat] = "person"
        session = start(game, *players, board=board, seed=1).session()
        for move in moves or ():
            session.play(move)
        while not session.done:
            session.play(game.action_to_string(session.legal()[0]))
        assert headline(session, seat, "") == said


def test_the_end_is_told_to_nobody_in_particular_if_nobody_or_several_persons_play():
    for players in (("person", "person"), ("random", "greedy")):
        session = start(Chameleon(size=3), *players).session()
        if not session.persons:
            session.players, session.persons = ("random", "greedy"), []
        for move in ("b1x", "c1o", "b2x", "c2o", "b3x"):
            session.play(move)
        assert headline(session, 0, "").endswith(" won: a chain of x joins top and bottom for Vert")
