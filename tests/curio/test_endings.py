"""How a game of Curio ends (A1, A2, A4, C10 to C13), each ruling on a position drawn as board text.

Light is below; `L41` shows 4 to Light and 1 to Dark. The boards of 3x3 have base 2, so that pieces with a 2 are royal.
"""

import numpy as np
import pytest

from pbm_envs import Curio
from tests.curio.positions import at
from tests.play import legal, play

STUCK = "D22 D22 D22/L22 L22 L22/L11 L11 L11"
"""Under "gt" nobody can move: neighbours show the same. L11 could take D22 if they met, so C11 does not hold."""
GOING, LIGHT_WINS, DARK_WINS = (False, False, 0, 0), (True, False, 1, -1), (True, False, -1, 1)
DRAWN, TRUNCATED = (True, False, 0, 0), (True, True, 0, 0)
LT, GT, RESIGN = {"capture": "lt"}, {"capture": "gt"}, {"allow_resign": True}


def small(**options):
    return Curio(rows=3, cols=3, base=2, **options)


def end(game, board, moves=""):
    """Done, truncated and the returns after these moves."""
    state = play(game, moves, board)
    return bool(state["done"][0]), bool(state["truncated"][0]), *state["returns"][0].tolist()


PAIR, TWO, LONE = "D12 . D11/. . ./L22 . L11", "D12 D22 D11/. . ./L22 L22 L11", "D11 . D22/. . ./L22 . L11"
WALLED, ROW = "D11 . ./D22 D22 ./L11 D22 .", "D11 D11 D22/. . ./L22 . L11"
ENDINGS = {  # why: ruling, options, board, moves, end
    "a capture that takes no royal piece": ("C10", {}, PAIR, "c1-b1 a3-a2 b1-c1", GOING),
    "Light takes the last royal piece": ("A1 C10", {}, PAIR, "a1-a3", LIGHT_WINS),
    "Dark takes the last royal piece": ("A1 C10", {}, PAIR, "c1-b1 a3-a1", DARK_WINS),
    "a royal piece is left": ("C10", {}, TWO, "b1-b3", GOING),
    "first the 22, then the 12": ("C10", {}, TWO, "b1-b3 c3-c2 a1-a3", LIGHT_WINS),
    "first the 12, then the 22": ("C10", {}, TWO, "a1-a3 c3-c2 b1-b3", LIGHT_WINS),
    "royal by the number its owner sees": ("C10", {}, "D12 . D11/. . ./L21 . L11", "c1-b1 a3-a1", DARK_WINS),
    "no royal piece to lose": ("C10 C11", {}, "D11 . D11/. . ./L22 . L11", "a1-a3 c3-c2 c1-c2", DRAWN),
    "neither army has a royal piece": (
        "C11",
        {"capture": "any", "turn": False},
        "D11 . ./L11 . L11/. . .",
        "a2-a3",
        DRAWN,
    ),
    "a win before the draw of one piece each": ("C10", {}, "D22 . D11/. . ./L22 . .", "a1-a2 c3-c2 a2-a3", LIGHT_WINS),
    "the same at once": ("C10", {}, "D12 . D11/. . ./L22 . .", "a1-a3", LIGHT_WINS),
    "a win before the draw without captures": ("C10", LT, "D12 D11 D11/. . ./L21 . L11", "a1-a3", LIGHT_WINS),
    "the draw without captures": ("C11", LT, "D11 D11 D11/. . ./L21 . L11", "a1-a3", DRAWN),
    "one piece each": ("C11", {}, "D11 . D22/. . ./L22 . .", "a1-a3", DRAWN),
    "one piece each at the start": ("C11", {"capture": "any"}, "D22 . ./. . ./L22 . .", "", DRAWN),
    "two against one": ("C11", {"capture": "any"}, "D22 . ./. . ./L22 . L11", "", GOING),
    "only Dark could capture": ("C11", LT, "D22 D22 ./. . ./. . L11", "", GOING),
    "turned, Dark could not": ("C11", LT, "D22 D22 ./. . ./. . L12", "", DRAWN),
    "one pass": ("C12", GT, STUCK, "pass", GOING),
    "two passes": ("C12", GT, STUCK, "pass pass", DRAWN),
    "two passes at the limit": ("C12", GT | {"no_capture_limit": 2}, STUCK, "pass pass", DRAWN),
    "two passes without a limit": ("C12", GT | {"no_capture_limit": None}, STUCK, "pass pass", DRAWN),
    "passes of one player": ("C12", {}, WALLED, "pass a3-b3 pass b3-a3 pass", GOING),
    "the limit": ("A4 C13", {"no_capture_limit": 3}, LONE, "a1-a2 c3-b3 c1-b1", TRUNCATED),
    "a win at the limit": ("C13", {"no_capture_limit": 3}, LONE, "a1-a2 c3-b3 a2-b3", LIGHT_WINS),
    "a pass reaches the limit": ("C13", GT | {"no_capture_limit": 1}, STUCK, "pass", TRUNCATED),
    "passes are plies": ("C13", {"no_capture_limit": 3}, WALLED, "pass a3-b3 pass", TRUNCATED),
    "no capture": ("C13", {"no_capture_limit": 3}, ROW, "c1-b1 c3-c2 b1-a2", TRUNCATED),
    "a capture starts the count anew": ("C13", {"no_capture_limit": 3}, ROW, "c1-b1 c3-c2 a1-a3 c2-c3 b1-c1", GOING),
    "to its end": ("C13", {"no_capture_limit": 3}, ROW, "c1-b1 c3-c2 a1-a3 c2-c3 b1-c1 c3-c2", TRUNCATED),
    "Light resigns": ("A2", RESIGN, PAIR, "resign", DARK_WINS),
    "Dark resigns": ("A2", RESIGN, PAIR, "c1-b1 resign", LIGHT_WINS),
    "Dark resigns at the limit": (
        "A2",
        {"allow_resign": True, "no_capture_limit": 3},
        LONE,
        "a1-a2 c3-b3 resign",
        DARK_WINS,
    ),
}


@pytest.mark.parametrize("why", ENDINGS)
def test_endings(why):
    """A1, A2, A4, C10, C11, C12, C13: the state before the last move goes on, the one after it is over or goes on"""
    _, options, board, moves, result = ENDINGS[why]
    if len(moves.split()) > 1:
        assert end(small(**options), board, moves.rpartition(" ")[0]) == GOING
    assert end(small(**options), board, moves) == result


def test_resign_is_legal_until_the_end():
    """A2"""
    game = small(allow_resign=True, capture="gt")
    states = play(game, "", STUCK)
    assert legal(game, states) == [{"pass", "resign"}]
    game.step(states, [game.string_to_action("resign")])
    assert legal(game, states) == [set()]
    assert "resign" in legal(game, play(game, "", "D12 . D11/. . ./L22 . L11"))[0]


@pytest.mark.parametrize(
    ("capture", "ended"),
    [("lt", True), ("le", False), ("gt", True), ("ge", False), ("any", False), ("lt_total", True), ("le_total", False)],
)
def test_equal_pieces_only_can_never_capture_unless_equals_may(capture, ended):
    """C11, at the start: nothing is legal then"""
    game = small(capture=capture)
    states = play(game, "", "D11 . D11/. . ./L11 . L11")
    assert states["done"] == [ended]
    assert states["returns"].tolist() == [[0, 0]]
    assert legal(small(capture=capture), states)[0] == (
        set() if ended else {"a1-a2", "a1-b2", "a1-b1", "c1-c2", "c1-b2", "c1-b1"}
    )


def test_pass_is_legal_just_when_nothing_else_is():
    """C12: L11 on a1 sees three 2s around it; then one of them leaves"""
    game, board = small(), "D11 . ./D22 D22 ./L11 D22 ."
    assert legal(game, play(game, "", board)) == [{"pass"}]
    assert "pass" not in legal(game, play(game, "pass", board))[0]
    assert legal(game, play(game, "pass a2-b3", board)) == [{"a1-a2"}]
    assert legal(game, play(game, "pass a3-b3", board)) == [{"pass"}]
    assert "pass" not in legal(game, play(game, "", "D11 . D22/. . ./L22 . L11"))[0]


@pytest.mark.parametrize(("limit", "plies"), [(None, 1000), (100, 100), (1, 1)])
def test_the_limit_can_be_lifted(limit, plies):
    """C13: to and fro; the default is 100"""
    game = small(no_capture_limit=limit)
    states = play(game, "", "D11 . D22/. . ./L22 . L11")
    shuffle = [game.string_to_action(text) for text in ("c1-c2", "a3-a2", "c2-c1", "a2-a3")]
    for ply in range(plies):
        assert not states["done"][0]
        game.step(states, [shuffle[ply % 4]])
    assert states["truncated"] == [limit is not None]
    assert states["returns"].tolist() == [[0, 0]]
    assert plies <= game.max_plies


def test_a_capture_that_wins_stays_on_the_board():
    """C10, C8: the capturing piece has turned"""
    assert at(small(), play(small(), "a1-a3", "D12 . D11/. . ./L21 . L11"), "a3") == "L12"


def test_steps_after_the_end_change_nothing():
    """C10: whatever the action"""
    game = small()
    states = play(game, "a1-a3", "D12 . D11/. . ./L22 . L11")
    before = states.tobytes()
    game.step(states, np.array([-5]))
    assert states.tobytes() == before


def test_worlds_of_a_game_that_was_over_before_the_first_move():
    """C11, C15: nobody can capture, so nothing was played; for either player, who need not see why"""
    game, rng = small(capture="lt"), np.random.default_rng(3)
    states = play(game, "", "D22 D22 ./. . ./. . L12")
    assert states["done"][0]
    assert states["last_action"][0] < 0
    for player in range(2):
        view = game.view(states, player)
        for world in (game.determinize(view, rng) for _ in range(5)):
            assert world["done"][0]
            assert game.view(world, player) == view


def test_worlds_where_an_army_never_had_a_royal_piece():
    """C10, C15: such a position can be set up; its owner has not lost"""
    game, rng = small(), np.random.default_rng(3)
    states = play(game, "", "D11 . D11/. . ./L22 . L12")
    assert not states["done"][0]
    for player in range(2):
        view = game.view(states, player)
        for world in (game.determinize(view, rng) for _ in range(5)):
            assert game.view(world, player) == view
