"""Chameleon: every ruling, H1 to H5 and A1 to A4, and the pictures of the help page."""

from __future__ import annotations

import numpy as np
import pytest

from pbm_envs import Chameleon
from tests.play import legal, play, returns, rows

HORZ_WINS = """
    . . . . . . .
    . . . . . . .
    . . . . . . .
    o o o o o o o
    . . . . . . .
    . . . . . . .
    . . . . . . .
"""
VERT_WINS = """
    . . . o . . .
    . . . o . . .
    . . . o . . .
    . . . o . . .
    . . . o . . .
    . . . o . . .
    . . . o . . .
"""
LAST_MOVER_WINS = """
    . . . . . . x
    . . . . . x .
    . . . . x . .
    . . . x . . .
    . . x . . . .
    . x . . . . .
    x . . . . . .
"""


def placements(picture):
    """The moves that place a picture's letters, from the top."""
    return " ".join(
        f"{col}{row}{mark}"
        for row, line in enumerate(rows(picture), 1)
        for col, mark in zip("abcdefg", line, strict=True)
        if mark != "."
    )


# The board


@pytest.mark.parametrize(("size", "corner"), [(3, "c3"), (26, "z26")])
def test_the_smallest_and_the_largest_board(size, corner):
    """H1, H2"""
    game = Chameleon(size=size)
    states = play(game, f"{corner}x")
    assert game.board_to_string(states).endswith(".x")
    assert len(legal(game, states)[0]) == 2 * (size**2 - 1) + 1


@pytest.mark.parametrize(
    ("chain", "joins"),
    [
        ("b1x b2x b3x", True),
        ("c1x b2x a3x", True),
        ("b1x a2x a3x", True),
        ("c1x c2x b3x", True),
        ("a1x b2x c3x", False),
        ("a1x b2x b3x", False),
        ("b1x b2x c3x", False),
        ("b1x b2o b3x", False),
    ],
)
def test_which_cells_touch(chain, joins):
    """H1, H3: down and down left, not down right; one letter"""
    assert play(Chameleon(size=3), chain)["done"].tolist() == [joins]


def test_columns_from_the_left_and_rows_from_the_top():
    """H2"""
    game = Chameleon()
    board = game.board_to_string(play(game, "f4x d2o")).split("/")
    assert (board[3], board[1]) == (".....x.....", "...o.......")


# The goal


@pytest.mark.parametrize(
    ("picture", "filler", "odd", "even"),
    [
        (HORZ_WINS, "a1x", [-1, 1], [-1, 1]),
        (VERT_WINS, "a1x", [1, -1], [1, -1]),
        (LAST_MOVER_WINS, "a1o", [1, -1], [-1, 1]),
    ],
    ids=["Horz wins", "Vert wins", "last mover wins"],
)
def test_the_pictures_of_the_help_page(picture, filler, odd, even):
    """H1, H3, A1: seven letters, so Vert is the last to place one; Horz is if another was placed before"""
    game = Chameleon(size=7)
    states = play(game, placements(picture))
    assert game.board_to_string(states) == "/".join(rows(picture))
    assert states["returns"][0].tolist() == odd
    assert returns(game, f"{filler} {placements(picture)}") == even


@pytest.mark.parametrize(
    ("moves", "result"),
    [
        ("b1o c3x b2o a3x b3o", [1, -1]),
        ("a2x c3o b2x a1o c1o c2x", [-1, 1]),
        ("a2x c2x b2x", [-1, 1]),
        ("b1o b2o a1x b3o", [1, -1]),
    ],
    ids=["Vert's own", "Horz's own", "Vert for Horz", "Horz for Vert"],
)
def test_a_chain_wins_for_whose_edges_it_joins(moves, result):
    """H3, A1"""
    assert returns(Chameleon(size=3), moves) == result


@pytest.mark.parametrize(
    ("moves", "result"),
    [("b1x b3x a2x c2x b2x", [1, -1]), ("c1o b1x b3x a2x c2x b2x", [-1, 1]), ("b1x swap b3x a2x c2x b2x", [-1, 1])],
)
def test_the_mover_wins_when_both_chains_complete(moves, result):
    """H3: Vert; Horz; the second player as Vert"""
    before = play(Chameleon(size=3), moves.rpartition(" ")[0])
    assert not before["done"].any()
    assert returns(Chameleon(size=3), moves) == result


# The swap


def test_swap_at_the_second_ply_only():
    """H4"""
    game = Chameleon(size=3)
    legal_at = {moves: "swap" in legal(game, play(game, moves))[0] for moves in ("", "b2x", "b2x a1o", "b2x swap")}
    assert legal_at == {"": False, "b2x": True, "b2x a1o": False, "b2x swap": False}
    with pytest.raises(ValueError, match=r"row 0: 'swap' is illegal here: expected one of 16 .*a1x"):
        play(game, "b2x swap swap")


def test_swap_exchanges_sides():
    """H4: the stone stays, the first player is to move"""
    game = Chameleon(size=3)
    before, after = play(game, "b2x"), play(game, "b2x swap")
    assert game.board_to_string(before) == game.board_to_string(after) == ".../.x./..."
    assert game.status(before) == "ply 1, last move b2x - player_1 (Horz) to move"
    assert game.status(after) == "ply 2, last move swap - player_0 (Horz) to move"


@pytest.mark.parametrize(("moves", "result"), [("b1x swap b2x c1o b3x", [-1, 1]), ("a2x swap b2x c1o c2x", [1, -1])])
def test_after_the_swap_the_second_player_is_vert(moves, result):
    """H4, A1"""
    assert returns(Chameleon(size=3), moves) == result


def test_without_the_swap_rule():
    """H4"""
    game = Chameleon(swap_rule=False)
    assert game.num_actions == Chameleon().num_actions - 1 == 242
    assert len(legal(game, play(game, "f6x"))[0]) == 240
    with pytest.raises(
        ValueError, match=r"'swap' is not a move of Chameleon: expected a cell and a letter such as 'c2x'$"
    ):
        game.string_to_action("swap")


# The end and resignation


def test_every_full_board_has_a_winner():
    """H5, A4: all fillings of 3x3, placed cell by cell until somebody has won"""
    game = Chameleon(size=3, swap_rule=False)
    fillings = np.arange(512)
    states = game.init(512, np.random.default_rng(0))
    for cell in range(9):
        game.step(states, 2 * cell + (fillings >> cell & 1))
    assert states["done"].all()
    assert not states["truncated"].any()
    assert set(map(tuple, states["returns"].tolist())) == {(1, -1), (-1, 1)}


@pytest.mark.parametrize(
    ("moves", "result"), [("resign", [-1, 1]), ("b2x resign", [1, -1]), ("b2x swap resign", [-1, 1])]
)
def test_the_resigned_has_lost(moves, result):
    """A2, A1: whatever their side"""
    game = Chameleon(size=3, allow_resign=True)
    states = play(game, moves)
    assert (states["done"][0], states["returns"][0].tolist()) == (True, result)
    assert legal(game, states) == [set()]
    assert game.string_to_action("resign") == game.num_actions - 1
