"""Actions are enumerated without waste: each is legal in some position."""

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from tests.play import play


def assert_all_legal_somewhere(game, masks):
    never = np.flatnonzero(~np.any(np.concatenate(masks), axis=0))
    assert [game.action_to_string(action) for action in never] == []


def test_chameleon():
    game = Chameleon(size=4, allow_resign=True)
    assert_all_legal_somewhere(game, [game.legal_action_mask(play(game, moves)) for moves in ("", "a1x")])


def test_trinim():
    game = Trinim(size=6, allow_resign=True)
    assert_all_legal_somewhere(game, [game.legal_action_mask(play(game, ""))])


def test_unlur():
    game = Unlur(radius=4, allow_resign=True)
    assert_all_legal_somewhere(game, [game.legal_action_mask(play(game, moves)) for moves in ("", "black")])


@pytest.mark.parametrize(
    "options", [{}, {"limit": False}, {"base": 2, "rows": 2, "cols": 3, "allow_resign": True}], ids=str
)
def test_curio(options):
    """A lone Light piece that sees the largest number, on every cell, with Dark's two small pieces here and there; and
    a position in which Light must pass.
    """
    game, rng = Curio(**options), np.random.default_rng(4)
    rows, cols = game.board.shape
    base = game.options["base"]
    masks = []
    for origin in range(game.board.size):
        for _ in range(30):
            cells = np.full(game.board.size, "." + " " * 2)
            cells[rng.choice(np.delete(np.arange(game.board.size), origin), 2, replace=False)] = "D11"
            cells[origin] = f"L{base}{base}"
            board = "/".join(" ".join(row) for row in cells.reshape(rows, cols)[::-1])
            masks.append(game.legal_action_mask(game.init(1, rng, board=board)))
    blocked = ["D22"] * game.board.size
    blocked[0] = "L12"  # sees a 1 and captures nothing: a turned piece
    board = "/".join(" ".join(blocked[row * cols : (row + 1) * cols]) for row in reversed(range(rows)))
    masks.append(game.legal_action_mask(game.init(1, rng, board=board)))
    assert game.string_to_action("pass") in np.flatnonzero(masks[-1][0])
    assert_all_legal_somewhere(game, masks)
