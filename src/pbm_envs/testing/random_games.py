"""Random games, whose positions the checks look at."""

from __future__ import annotations

import numpy as np

from ..core.game import Game
from ..core.state import NO_ACTION
from ..core.types import Ints, Rng, States

BATCH = 16


def equal(a: States, b: States) -> bool:
    """All fields of all records."""
    return a.dtype == b.dtype and a.shape == b.shape and all((a[name] == b[name]).all() for name in a.dtype.names or ())


def random_actions(game: Game, states: States, rng: Rng) -> Ints:
    """(B,) a legal action a row, all equally likely but for `resign`, which is rare; 0 where done."""
    weights = game.legal_action_mask(states) * rng.random((len(states), game.num_actions))
    if game.resign_action != NO_ACTION:
        weights[:, game.resign_action] **= 8 * game.num_actions
    return weights.argmax(axis=1)


def positions(game: Game, rng: Rng, plies: int, batch: int = BATCH) -> States:
    """(batch,) positions after up to `plies` random plies."""
    states = game.init(batch, rng)
    for _ in range(plies):
        game.step(states, random_actions(game, states, rng))
    return states


def sample(game: Game, rng: Rng) -> States:
    """Positions from the start, the middle and the end of games."""
    usual = positions(game, rng, 0)
    game.playout(usual, rng)
    length = int(np.median(usual["ply"]))
    return np.concatenate([positions(game, rng, plies, 6) for plies in (0, 1, 2, length // 2, length - 2, 2 * length)])
