"""Checks of errors: what a game refuses, and what it says then."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..core.game import Game
from ..core.state import copy_states
from ..core.types import Rng
from .random_games import equal, random_actions, sample


def check_illegal_actions(game: Game, rng: Rng) -> None:
    """An illegal action raises ValueError naming row and move, and nothing is changed, in no row."""
    states = sample(game, rng)
    open_rows = np.flatnonzero(~states["done"])
    actions = random_actions(game, states, rng)
    for row in open_rows[:: max(1, len(open_rows) // 6)]:
        illegal = np.flatnonzero(~game.legal_action_mask(states)[row])
        for wrong in [*illegal[:: max(1, len(illegal) // 5)], -1, game.num_actions, 1 << 40]:
            before = copy_states(states)
            tried = actions.copy()
            tried[row] = wrong
            text = repr(game.action_to_string(int(wrong))) if 0 <= wrong < game.num_actions else str(wrong)
            expect_error(partial(game.step, states, tried), f"row {row}", text)
            assert equal(states, before)


def expect_error(call: Callable[[], object], *words: str) -> None:
    """The call raises ValueError or TypeError, and says these words."""
    try:
        call()
    except (ValueError, TypeError) as error:
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise AssertionError(f"the error does not say {missing}: {error}") from error
    else:
        raise AssertionError("no error was raised")


def check_arguments(game: Game, rng: Rng) -> None:
    """Wrong arguments are clear errors."""
    states = game.init(2, rng)
    expect_error(lambda: game.init(-1, rng), "-1", "expected")
    expect_error(lambda: game.init(1, 7), "7", "expected")  # type: ignore[arg-type]  # that is the point
    expect_error(lambda: game.step(states, [0]), "(1,)", "expected")
    expect_error(lambda: game.step(states, [0.5, 0.5]), "float64", "expected")
    expect_error(lambda: game.step(states["ply"], [0, 0]), "int32", "expected")
    expect_error(lambda: game.view(states, game.num_players), str(game.num_players), "expected")
    expect_error(lambda: game.view(states, [-1, 0]), "-1", "expected")
    expect_error(lambda: game.view(states, [0.0, 1.0]), "0.0", "expected")
    expect_error(lambda: game.observe(states, out=np.zeros((2, 1), np.int8)), "(2, 1)", "expected")
    expect_error(lambda: game.view(states, 0, out=states[:1]), "(1,)", "expected")
    expect_error(lambda: game.playout(game.view(states, 0), rng), "determinize")
    expect_error(lambda: game.board_to_string(states), "(2,)", "expected")
