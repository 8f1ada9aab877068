"""Trinim: every ruling, T1 to T7 and A1 to A4, and the pictures of the help page."""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import nullcontext

import numpy as np
import pytest

from pbm_envs import Trinim
from tests.play import legal, play, returns

PICTURED = "b/bb/bgr/grgg/rbgrr"
HELP_PAGE_GAME = "A5 E2-E1 B5 C3-D2 D5 B4-E4 E5 D3 E3 C5"
DRAWN_SIZES = [3, 8, 11, 12, 15, 20]
DECISIVE_SIZES = [5, 6, 9, 14, 17, 18]


def three(size=3, **options):
    return Trinim(size=size, num_players=3, **options)


# The board


def test_cells_divide_by_three():
    """T1"""
    sizes = sorted(DRAWN_SIZES + DECISIVE_SIZES)
    assert [three(size).board.size for size in sizes] == [6, 15, 21, 36, 45, 66, 78, 105, 120, 153, 171, 210]


def test_rows_columns_and_lines_of_the_smallest_board():
    """T2, T4: C1; B2 C2; A3 B3 C3"""
    cells = {"C1", "B2", "C2", "A3", "B3", "C3"}
    rows = {"B2-C2", "A3-B3", "B3-C3", "A3-C3"}
    columns = {"C2-C1", "C3-C2", "C3-C1", "B3-B2"}
    slashes = {"B2-C1", "A3-B2", "A3-C1", "B3-C2"}
    game = three()
    assert legal(game, play(game)) == [cells | rows | columns | slashes]


def test_cells_of_the_default_board():
    """T2"""
    assert " ".join(Trinim().board.names) == "E1 D2 E2 C3 D3 E3 B4 C4 D4 E4 A5 B5 C5 D5 E5"


def test_longest_lines_of_the_largest_board():
    """T1, T2: twenty cells along each side of size 20"""
    game = three(20)
    for line in ("A20-T20", "T20-T1", "A20-T1"):
        states = play(game, line)
        assert states["left"].tolist() == [190]
        assert states["held"][0, 0].sum() == 20


def test_equal_numbers_in_every_arrangement_equally_often():
    """T3: the 90 arrangements of size 3; 6 standard deviations"""
    game = three()
    boards = Counter(game.board_to_string(state) for state in game.init(9000, np.random.default_rng(3)))
    assert len(boards) == 90
    assert all(sorted(board.replace("/", "")) == list("bbggrr") for board in boards)
    assert all(40 < count < 160 for count in boards.values())


# Moves


@pytest.mark.parametrize(
    ("move", "left"),
    [
        ("C3", "b/bb/.gr/grgg/rbgrr"),
        ("D4-D2", "b/.b/b.r/gr.g/rbgrr"),  # the help page's
        ("B5-E2", "b/b./b.r/g.gg/r.grr"),
        ("B4-D4", "b/bb/bgr/...g/rbgrr"),
        ("A5-E5", "b/bb/bgr/grgg/....."),
    ],
)
def test_a_piece_or_a_line(move, left):
    """T4: along a column, along "/", along a row"""
    game = Trinim()
    assert game.board_to_string(play(game, move, PICTURED)) == left


def test_no_gap_in_a_line():
    """T4"""
    game = Trinim()
    states = play(game, "D3", PICTURED)
    assert not {"D5-D2", "D4-D2", "D4-D3", "C3-E3", "C4-E2", "D3"} & legal(game, states)[0]
    assert {"D5-D4", "D2", "C3", "E3"} <= legal(game, states)[0]


@pytest.mark.parametrize(("other", "canonical"), [("D2-D4", "D4-D2"), ("D4-B4", "B4-D4"), ("E2-B5", "B5-E2")])
def test_either_end_may_come_first(other, canonical):
    """T4, A3"""
    game = Trinim()
    assert game.action_to_string(game.string_to_action(other)) == canonical
    assert game.string_to_action(f"\t{other.lower()} ") == game.string_to_action(canonical)


@pytest.mark.parametrize("board", ["b/bb", "b/bb/bgr/grgg/rbgry", "./../.../..../.....", "b/bb/bgr/grgg/rbgrrr", ""])
def test_other_boards(board):
    """T3"""
    with pytest.raises(ValueError, match=r"board is .*: expected"):
        play(Trinim(), board=board)


# The end


def test_the_tables_of_the_help_page():
    """T5: zero counts as even in the final table; the opening table shows 0"""
    game = Trinim()
    opening, final = play(game, board=PICTURED), play(game, HELP_PAGE_GAME, PICTURED)
    assert "player_0    0   0   0     0\nplayer_1    0   0   0     0\n" in game.to_text(opening)
    assert "player_0    4   0   1     2\nplayer_1    1   5   4     1\n" in game.to_text(final)
    assert "player_1    0   0   0     0\n" in game.to_text(play(game, "C3", PICTURED))


def test_the_help_page_game_is_won_at_the_last_piece():
    """T5, T6, A1"""
    game = Trinim()
    before = play(game, HELP_PAGE_GAME.removesuffix(" C5"), PICTURED)
    assert (before["done"][0], before["returns"][0].tolist()) == (False, [0, 0])
    after = play(game, HELP_PAGE_GAME, PICTURED)
    assert (after["done"][0], after["returns"][0].tolist()) == (True, [1, -1])
    assert not game.legal_action_mask(after).any()


def test_a_player_without_pieces_has_three_even_colours():
    """T5, T6: 2 against 3"""
    assert returns(Trinim(), "E1", "r/../.../..../.....") == [-1, 1]


def test_several_best_scores_draw_for_all():
    """T6, A1: 2, 3, 3; the worst shares in the draw"""
    states = play(three(), "C1", "r/../...")
    assert (states["done"][0], states["returns"][0].tolist()) == (True, [0, 0, 0])


def test_the_best_of_three_wins():
    """T6, A1: 2, 2, 3"""
    assert returns(three(), "C1 B2", "r/r./...") == [-0.5, -0.5, 1]


@pytest.mark.parametrize("size", DRAWN_SIZES + DECISIVE_SIZES)
def test_warning_where_two_players_always_draw(size):
    """T7: a warning would be an error at the other sizes"""
    sentence = f"every two-player game of Trinim of size {size} is a draw"
    with pytest.warns(UserWarning, match=sentence) if size in DRAWN_SIZES else nullcontext():
        assert Trinim(size=size).remark.startswith(sentence) == (size in DRAWN_SIZES)
    assert Trinim(size=size, num_players=3).remark == ""


def test_one_warning():
    """T7: with Python's usual filter, once for the line that makes the games"""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            Trinim(size=3)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.filterwarnings("ignore:every two-player game")
@pytest.mark.parametrize(("size", "best"), [(3, 0), (5, 1), (6, 1)])
def test_which_sizes_two_players_can_decide(size, best):
    """T7, A4: always drawn, or never; never truncated"""
    game, rng = Trinim(size=size), np.random.default_rng(7)
    states = game.init(500, rng)
    game.playout(states, rng)
    assert states["done"].all()
    assert not states["truncated"].any()
    assert (states["returns"].max(axis=1) == best).all()
    assert (states["returns"].sum(axis=1) == 0).all()
    assert states["ply"].max() <= game.max_plies
