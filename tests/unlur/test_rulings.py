"""Unlur: every ruling, U1 to U7 and A1 to A4, and the diagrams of the help page.

Radius 3 has the rows a1-a3, b1-b4, c1-c5, d2-d5, e3-e5; its sides, clockwise from the top, are a1-a3, a3-c5, c5-e5,
e5-e3, e3-c1, c1-a1; its inner cells b2 b3 c2 c3 c4 d3 d4.
"""

from __future__ import annotations

import numpy as np
import pytest

from pbm_envs import Unlur
from tests.play import legal, play, rows

INNER = "b2 b3 c2 c3 c4 d3 d4"
DIAGRAM_1 = """
    . . X . . .
    . . X . . . .
    . . X . . . . .
    . . . X . . . . .
    . . . . X X . . . .
    . . . X X . X . . . .
    . . X . . . X X . .
    . X . . . . . X X
    X . . . . . . .
    . . . . . . .
    . . . . . .
"""
DIAGRAM_2 = """
    . . O . . .
    . . O . . . .
    . . O . . . . .
    . . . O . . . . .
    . . . . O . . . . .
    . . . . O . . . . . .
    . . . . O O . . . .
    . . . . . O . . .
    . . . . . O . .
    . . . . O . .
    . . . O . .
"""


def stones(diagram):
    """The names of its stones, from the top."""
    return [
        f"{letter}{number}"
        for k, (letter, row) in enumerate(zip("abcdefghijk", rows(diagram), strict=True))
        for number, mark in enumerate(row, max(1, k - 4))
        if mark != "."
    ]


# The board


@pytest.mark.parametrize(("radius", "cells", "last"), [(3, 19, "e5"), (13, 469, "y25")])
def test_the_smallest_and_the_largest_board(radius, cells, last):
    """U1, U2"""
    game = Unlur(radius=radius)
    states = play(game, f"black {last}")
    assert game.board_to_string(states).endswith(".O")
    assert len(legal(game, states)[0]) == cells - 1


def test_rows_and_their_numbers():
    """U2, U7: in the lower half the columns are numbered starting with a number higher than one"""
    ends = "a1-a6 b1-b7 c1-c8 d1-d9 e1-e10 f1-f11 g2-g11 h3-h11 i4-i11 j5-j11 k6-k11"
    names = Unlur().board.names
    by_row = [[name for name in names if name[0] == letter] for letter in "abcdefghijk"]
    assert " ".join(f"{row[0]}-{row[-1]}" for row in by_row) == ends
    assert len(names) == 91


@pytest.mark.parametrize(
    ("chain", "joins"),
    [
        ("a2 b2 c2 d2 e3", True),
        ("a2 b3 c3 d4 e4", True),
        ("a1 b2 c3 d4 e5", True),
        ("a2 b2 c3 d2 e3", False),
        ("a2 b2 c4 d4 e4", False),
        ("a3 b2 c2 d3 e4", False),
    ],
)
def test_which_cells_touch(chain, joins):
    """U2: the same number or one more in the row below; d2 and e3 touch, d2 and c3 do not"""
    white = chain.split()
    black = [cell for cell in ("b4", "c5", "d5", "c1") if cell not in white]
    assert len(black) == 4
    states = play(Unlur(radius=3), "black " + " ".join(f"{w} {b}" for w, b in zip(white, [*black, ""], strict=True)))
    assert states["done"].tolist() == [joins]


# The contract


def test_only_inner_cells_in_the_contract_phase():
    """U3, U4: both place black stones; the edges are open after the contract"""
    game = Unlur(radius=3)
    states = play(game, "b2 c3")
    assert legal(game, states) == [{"b3", "c2", "c4", "d3", "d4", "black"}]
    assert game.board_to_string(states) == ".../.X../..X../..../..."
    assert game.status(states) == "ply 2, last move c3 - player_0 to move"
    after = play(game, "b2 c3 black")
    assert legal(game, after) == [set(game.board.names) - {"b2", "c3"}]
    assert game.status(after) == "ply 3, last move black - player_1 (White) to move"


@pytest.mark.parametrize("ply", range(8))
def test_black_at_any_ply(ply):
    """U3: the first included; then it is White's turn, and `black` is over"""
    game = Unlur(radius=3)
    states = play(game, " ".join([*INNER.split()[:ply], "black"]))
    assert states["black"][0] == ply % 2
    assert states["to_move"][0] == (ply + 1) % 2
    assert "black" not in legal(game, states)[0]
    with pytest.raises(ValueError, match="row 0: 'black' is illegal here"):
        game.step(states, [game.string_to_action("black")])


def test_only_black_when_the_inner_cells_are_full():
    """U3"""
    game = Unlur(radius=3)
    assert legal(game, play(game, INNER)) == [{"black"}]


def test_stones_have_their_owners_colour_after_the_contract():
    """U4"""
    game = Unlur(radius=3)
    assert game.board_to_string(play(game, "c3 black a1 e5 b2 d4")) == "O../.O../..X../..X./..X"


# The goals


def test_diagram_1_black_wins():
    """U2, U5: a Y that joins sides 1, 3, 5; the contract stones, by both players, count"""
    game = Unlur()
    edge = ["a3", "h11", "i4"]
    contract = [stone for stone in stones(DIAGRAM_1) if stone not in edge]
    assert len(contract) == 13  # so player_1 says `black`
    states = play(game, " ".join([*contract, "black", "k6", edge[0], "k8", edge[1], "k10", edge[2]]))
    assert game.board_to_string(states).replace("O", ".") == "/".join(rows(DIAGRAM_1))
    assert (states["done"][0], states["returns"][0].tolist()) == (True, [-1, 1])


def test_diagram_2_white_wins():
    """U2, U5: a line that joins sides 1, 4"""
    game = Unlur()
    black = "black a5 b7 d9 f11 h11 j11 d1 f1 h3 j5 k7"
    pairs = zip(black.split(), stones(DIAGRAM_2), strict=True)
    states = play(game, " ".join(f"{b} {w}" for b, w in pairs))
    assert game.board_to_string(states).replace("X", ".") == "/".join(rows(DIAGRAM_2))
    assert (states["done"][0], states["returns"][0].tolist()) == (True, [-1, 1])


FIGURES = {
    "black Y 1-3-5": ("b3 c4 d4 d3 black b1 a2 b4 d5 e4 d2", [1, -1]),
    "black Y 2-4-6": ("c2 c3 c4 d4 black a2 b4 d2 e4 d5 b1", [1, -1]),
    "black line 1-4 loses": ("b2 c3 d3 black c5 a2 b1 e4", [1, -1]),
    "black line 2-5 loses": ("b3 c3 c2 black a1 b4 e5 d2", [1, -1]),
    "black line 3-6 loses": ("c2 c3 d4 black a3 b1 e3 d5", [1, -1]),
    "white line 1-4": ("black a2 c1 b2 c5 c3 e5 d3 a1 e4", [-1, 1]),
    "white line 2-5, from a corner": ("black c1 a2 c2 d2 c3 e4 b3 d5 b4", [-1, 1]),
    "white line 3-6, from the same corner": ("black c1 a2 c2 d2 c3 e4 d4 b4 d5", [-1, 1]),
    "white Y 1-3-5 loses": ("black a2 a1 b3 c1 c4 c5 d4 e5 d3 e3 d5 c2 d2", [1, -1]),
    "white Y 2-4-6 loses": ("black b4 a3 c4 c5 c3 e5 c2 e3 d4 c1 e4 a1 b1", [1, -1]),
    "black Y and line": ("b3 c4 d4 d3 black b1 a2 b4 d5 c2 e3", [1, -1]),
    "white line and Y": ("black a2 a1 b3 c1 c4 c5 d4 e5 d3 c2 d5 d2 e3", [-1, 1]),
}


@pytest.mark.parametrize(("moves", "result"), FIGURES.values(), ids=FIGURES)
def test_figures(moves, result):
    """U5, U2, A1: own figure wins, only the other's loses, both win; the corner e3 lies on sides 4 and 5"""
    game = Unlur(radius=3)
    before = play(game, moves.rpartition(" ")[0])
    assert (before["done"][0], before["returns"][0].tolist()) == (False, [0, 0])
    after = play(game, moves)
    assert (after["done"][0], after["returns"][0].tolist()) == (True, result)
    assert legal(game, after) == [set()]


@pytest.mark.parametrize("radius", [3, 6])
def test_random_games_have_a_winner(radius):
    """U6, A4"""
    game, rng = Unlur(radius=radius), np.random.default_rng(5)
    states = game.init(1000, rng)
    game.playout(states, rng)
    assert states["done"].all()
    assert not states["truncated"].any()
    assert set(map(tuple, states["returns"].tolist())) == {(1, -1), (-1, 1)}
    assert states["ply"].max() <= game.max_plies


# Resignation


@pytest.mark.parametrize(
    ("moves", "result"), [("resign", [-1, 1]), ("c3 resign", [1, -1]), ("c3 black a1 resign", [1, -1])]
)
def test_the_resigned_has_lost(moves, result):
    """A2, A1: in the contract phase too"""
    game = Unlur(radius=3, allow_resign=True)
    states = play(game, moves)
    assert (states["done"][0], states["returns"][0].tolist()) == (True, result)
    assert legal(game, states) == [set()]
    assert game.string_to_action("resign") == game.num_actions - 1
