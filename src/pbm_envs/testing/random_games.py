"""Random games for the checks, and comparisons."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..core.checks import printable
from ..core.game import Game
from ..core.state import NO_ACTION, Ints, Rng, States

BATCH = 16


def equal(a: States, b: States) -> bool:
    """Return whether all fields of all records are equal."""
    return a.dtype == b.dtype and a.shape == b.shape and all((a[name] == b[name]).all() for name in a.dtype.names or ())


def random_actions(game: Game, states: States, rng: Rng) -> Ints:
    """Return (B,) legal actions, all equally likely except `resign`, which is rare; 0 in finished games."""
    weights = game.legal_action_mask(states) * rng.random((len(states), game.num_actions))
    if game.resign_action != NO_ACTION:
        weights[:, game.resign_action] **= 8 * game.num_actions
    return weights.argmax(axis=1)


def positions(game: Game, rng: Rng, plies: int, batch: int = BATCH) -> States:
    """Return (batch,) positions after up to `plies` random plies."""
    states = game.init(batch, rng)
    for _ in range(plies):
        game.step(states, random_actions(game, states, rng))
    return states


def sample(game: Game, rng: Rng) -> States:
    """Return positions from the start, the middle and the end of games."""
    usual = positions(game, rng, 0)
    game.playout(usual, rng)
    length = int(np.median(usual["ply"]))
    return np.concatenate([positions(game, rng, plies, 6) for plies in (0, 1, 2, length // 2, length - 2, 2 * length)])


def expect_error(call: Callable[[], object], *words: str) -> None:
    """Assert that a call raises a ValueError or TypeError whose text contains these words."""
    try:
        call()
    except (ValueError, TypeError) as error:
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise AssertionError(f"the error does not say {missing}: {error}") from error
    else:
        given = f"{call.func.__name__}{call.args} {call.keywords}" if isinstance(call, partial) else "a wrong argument"
        raise AssertionError(f"{printable(given, 200)} was accepted: expected a ValueError that says {words}")
