"""Random games against the slow reference, ply by ply: the moves, how the game ends, and what each player is shown.

Every case goes through all combinations of the options. A kernel is compiled for each (cells, base, is it a total).
"""

import random

import numpy as np
import pytest

from pbm_envs import Curio
from tests.curio.positions import VARIANTS, some_board
from tests.play import legal, play
from tests.reference.curio import Curio as Reference
from tests.reference.curio import board_text, random_board

OTHERS = [variant for variant in VARIANTS if not variant["capture"].endswith("_total")]
CASES = {  # shape, pieces a side on any cells (None: the setup of C3), variants, games, games in the slow test
    "3x3": ({"rows": 3, "cols": 3, "base": 2}, None, VARIANTS, 216, 1300),
    "3x3, any cells": ({"rows": 3, "cols": 3, "base": 2}, 3, VARIANTS, 216, 1300),
    "4x3, full": ({"rows": 4, "cols": 3, "base": 3}, None, VARIANTS, 216, 1000),
    "4x3, any cells": ({"rows": 4, "cols": 3, "base": 3}, 4, VARIANTS, 216, 1000),
    "5x4": ({"rows": 5, "cols": 4, "base": 3}, None, OTHERS, 60, 250),
    "4x5, any cells": ({"rows": 4, "cols": 5, "base": 3}, 6, OTHERS, 60, 250),
    "5x5": ({}, None, VARIANTS, 108, 300),
    "8x8, two sets": ({"rows": 8, "cols": 8, "num_pieces": 20}, None, OTHERS, 6, 30),
    "8x8, three sets": ({"rows": 8, "cols": 8, "num_pieces": 30}, None, OTHERS, 6, 30),
    "9x8, more cells than bits of a word": ({"rows": 9, "cols": 8, "num_pieces": 20}, None, OTHERS, 6, 30),
}
MOST_PLIES = 250
"""Games without a ply limit (C13) are broken off there."""


def positions(case, games):
    """A game, a reference and a source of random numbers for each of so many games."""
    shape, pieces, variants, *_ = CASES[case]
    shape = {"rows": 5, "cols": 5, "base": 4, "num_pieces": None, **shape}
    for seed in range(games):
        rng = random.Random(f"{case} {seed}")
        variant = variants[seed * 7 % len(variants)]  # 7: neighbours differ in more than one option
        options = {**shape, **variant}
        options |= {"no_capture_limit": rng.choice([3, 20, 100, None]), "allow_resign": rng.random() < 0.2}
        if pieces is None:
            board = random_board(rng, **shape, face=variant["face"])
        else:
            board = some_board(rng, **shape, face=variant["face"], pieces=pieces)
        yield Curio(**options), Reference(board, **options), rng


def shown(game, view):
    """`Reference.sees` of a view, its captured pieces in any order, without `quiet` and `passed`."""
    player = view["viewer"]
    board, captured = [], []
    for slot in np.flatnonzero(view["owner"] >= 0):
        piece = int(view["owner"][slot]), int(view["faces"][slot, player]), int(view["faces"][slot, 1 - player])
        if view["cell"][slot] < 0:
            captured.append(piece)
        else:
            board.append((game.board.names[view["cell"][slot]], *piece))
        assert view["known"][slot] == (piece[2] > 0)
    status = int(view["to_move"]), int(view["ply"]), bool(view["done"]), bool(view["truncated"])
    return (sorted(board), sorted(captured), *status, tuple(view["returns"].tolist()))


def agree(game, reference, rng):
    """Play a random game and compare before each ply and after the last; the number of plies."""
    states = play(game, "", reference.start)
    while True:
        story = f"{game!r}, {reference.start!r}: {' '.join(reference.moves)}"
        assert legal(game, states) == [reference.legal()], story
        assert game.board_to_string(states) == board_text(reference.board, reference.rows, reference.cols), story
        for player in range(2):
            board, captured, *status = reference.sees(player)
            *status, _quiet, _passed = status
            assert shown(game, game.view(states, player)[0]) == (list(board), sorted(captured), *status), story
        if reference.done or reference.ply == MOST_PLIES:
            return reference.ply
        text = rng.choice(sorted(reference.legal()))
        reference.play(text)
        game.step(states, [game.string_to_action(text)])
        if text != "resign":
            assert (states["quiet"], states["passed"]) == (reference.quiet, text == "pass"), story


@pytest.mark.parametrize("games", [3, pytest.param(4, marks=pytest.mark.slow)], ids=["fast", "slow"])
@pytest.mark.parametrize("case", CASES)
def test_random_games_agree_with_the_reference(case, games):
    """A1, A2, A4, C1 to C13"""
    assert sum(agree(*position) for position in positions(case, CASES[case][games])) > CASES[case][games]
