"""Options, setup and boards of Curio (C1 to C5, C14), each ruling on a position drawn as board text.

Light is below; `L41` shows 4 to Light and 1 to Dark.
"""

import numpy as np
import pytest

from pbm_envs import Curio
from tests.curio.positions import PICTURED, at, chi_square_bound
from tests.play import legal, play

SEVERAL_SETS = {"rows": 8, "cols": 8, "num_pieces": 30}
NARROW = {"rows": 5, "cols": 4, "base": 3}


@pytest.mark.parametrize("wrong", [{"rows": 3}, {"cols": 4}, {"base": 5}, {"num_pieces": 20}, {"rows": 2, "cols": 2}])
def test_both_armies_must_fit(wrong):
    """C3"""
    with pytest.raises(ValueError, match="pieces"):
        Curio(**wrong)


@pytest.mark.parametrize("options", [{}, SEVERAL_SETS, NARROW, {"rows": 26, "cols": 26, "base": 9}], ids=str)
def test_an_army_is_whole_sets_on_the_rows_nearest_to_its_owner(options):
    """C2, C3, C4"""
    game = Curio(**options)
    base, pieces = game.options["base"], game.options["num_pieces"]
    one_set = [f"{a}{b}" for a in range(1, base + 1) for b in range(a, base + 1)]
    depth = -(-pieces // game.options["cols"])
    for state in game.init(4, np.random.default_rng(1)):
        rows = game.board_to_string(state).split("/")
        for owner, home in (("D", rows[:depth]), ("L", rows[-depth:])):
            army = " ".join(home).replace(".", "").split()
            assert sorted("".join(sorted(piece[1:])) for piece in army) == sorted(one_set * (pieces // len(one_set)))
            assert {piece[0] for piece in army} == {owner}
        assert set("".join(rows[depth:-depth])) <= set(". ")


def test_every_placement_is_equally_likely():
    """C3: which two of an army's eight cells stay empty, and where its 13 stands"""
    game = Curio(**NARROW)
    boards = [
        game.board_to_string(state).replace("/", " ").split() for state in game.init(8000, np.random.default_rng(2))
    ]
    for home in (slice(0, 8), slice(12, 20)):
        empty = [tuple(k for k in range(8) if board[home][k] == ".") for board in boards]
        place = [next(k for k in range(8) if board[home][k][1:] in ("13", "31")) for board in boards]
        for drawn, ways in ((empty, 28), (place, 8)):
            _, counts = np.unique(np.array(drawn), axis=0, return_counts=True)
            assert len(counts) == ways
            assert ((counts - 8000 / ways) ** 2).sum() / (8000 / ways) < chi_square_bound(ways - 1)


def test_columns_run_from_the_left_and_rows_from_below_and_light_is_first():
    """C4"""
    game, board = Curio(**NARROW), ". . D21 D11/. . . ./. . . ./. . . ./L22 L11 . ."
    states = play(game, "", board)
    assert game.board_to_string(states) == board
    assert states["to_move"] == [0]
    assert legal(game, states)[0] == {"a1-a2", "a1-a3", "a1-b2", "a1-c3", "b1-a2", "b1-b2", "b1-c1", "b1-c2"}
    game.step(states, [game.string_to_action("b1-c2")])
    assert states["to_move"] == [1]
    assert game.board_to_string(states) == ". . D21 D11/. . . ./. . . ./. . L11 ./L22 . . ."


def test_the_largest_board():
    """C2, C4: L99 in the corner z1, D11 in the way on z5"""
    game = Curio(rows=26, cols=26, base=9)
    board = "/".join([". " * 25 + {0: "D92", 21: "D11", 25: "L99"}.get(row, ".") for row in range(26)])
    expected = {f"z1-{column}1" for column in "qrstuvwxy"} | {f"z1-z{row}" for row in range(2, 6)}
    expected |= {f"z1-{column}{row}" for column, row in zip("yxwvutsrq", range(2, 11), strict=True)}
    assert legal(game, play(game, "", board)) == [expected]
    assert at(game, play(game, "z1-q10 z26-z24", board), "z24") == "D92"


def test_a_player_sees_of_every_piece_the_face_towards_them():
    """C5"""
    game = Curio(rows=3, cols=3, base=2)
    states = play(game, "", "D12 D22 ./. . ./L21 . L11")
    assert game.board_to_string(game.view(states, 0)) == "D1? D2? ./. . ./L2? . L1?"
    assert game.board_to_string(game.view(states, 1)) == "D?2 D?2 ./. . ./L?1 . L?1"


@pytest.mark.parametrize(
    ("board", "message"),
    [
        ("", "board is '': expected 3 rows"),
        ("D12 . ./. . .", "expected 3 rows from the top"),
        ("D12 . ./. . ./L21 . ./. . .", "expected 3 rows from the top"),
        ("D12 . ./. . ./L21 .", "of 3 cells"),
        ("D12 . ./. . . ./L21 . .", "of 3 cells"),
        ("D12 . ./. . ./L21 . X11", "board has 'X11' on c1: expected '.' or owner"),
        ("D12 . ./. L13 ./L21 . .", "board has 'L13' on b2"),
        ("D12 . ./. L01 ./L21 . .", "board has 'L01' on b2"),
        ("D12 . ./. . ./L2 . .", "board has 'L2' on a1"),
        ("D12 . ./. . ./L211 . .", "board has 'L211' on a1"),
        ("D12 . ./. . ./L2? . .", r"board has 'L2\?' on a1"),
        (". . ./. . ./L21 . .", "at least one piece per side"),
        ("D12 D11 ./. . ./. . .", "at least one piece per side"),
        (". . ./. . ./. . .", "at least one piece per side"),
    ],
)
def test_a_wrong_board_text_is_an_error_that_says_what_is_wrong(board, message):
    """C5: the rows from the top, and of each piece its owner, its face towards Light and its face towards Dark"""
    with pytest.raises(ValueError, match=message):
        play(Curio(rows=3, cols=3, base=2), "", board)


@pytest.mark.parametrize("face", ["large", "small", "random"])
def test_any_board_with_a_piece_a_side_may_be_given_and_is_given_back(face):
    """C2, C5: its pieces are the sets in play, whatever num_pieces"""
    game = Curio(rows=3, cols=3, base=2, face=face)
    for board in ("D12 . ./. L11 ./. . .", "L11 L12 L21/L22 D22 L22/L11 L11 L11", ". . D21/. . ./D12 L21 L12"):
        assert game.board_to_string(play(game, "", board)) == board
        assert game.board_to_string(play(game, "", f" {board} ".replace("/", " / "))) == board


@pytest.mark.parametrize(("face", "own_first"), [("large", [400, 0]), ("small", [0, 400]), ("random", [200, 200])])
def test_which_number_looks_at_the_owner(face, own_first):
    """C5: of 400 pieces 12 a side, how many show 2 and how many show 1 to their owner; 6 deviations of tolerance"""
    game = Curio(rows=3, cols=3, base=2, face=face)
    boards = [game.board_to_string(state) for state in game.init(400, np.random.default_rng(3))]
    for two, one in (("L21", "L12"), ("D12", "D21")):
        counts = [sum(text.count(piece) for text in boards) for piece in (two, one)]
        assert counts == pytest.approx(own_first, abs=60 if face == "random" else 0)


def test_the_pictured_setup():
    """C14: what Light sees of a setup"""
    game = Curio()
    for states in (play(game, "", PICTURED), game.init(1, np.random.default_rng(4))):
        seen = game.board_to_string(game.view(states, 0)).replace("/", " ").split()
        assert sorted(piece for piece in seen if piece[0] == "L") == [f"L{v}?" for v in (1, 2, 2, 3, 3, 3, 4, 4, 4, 4)]
        assert sorted(piece for piece in seen if piece[0] == "D") == [f"D{v}?" for v in (1, 1, 1, 1, 2, 2, 2, 3, 3, 4)]
