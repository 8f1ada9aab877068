"""Careful playouts: nobody completes the opponent's figure while anything else can be played."""

import numpy as np
import pytest

from pbm_envs import Unlur
from pbm_envs.testing import positions


def outcomes(game, states):
    """(B, A) what each action brings its player at once: 1, -1, 0 if the game goes on, nan if illegal."""
    masks, found = game.legal_action_mask(states), np.full((len(states), game.num_actions), np.nan)
    for row, action in zip(*np.nonzero(masks), strict=True):
        twin = states[row : row + 1].copy()
        game.step(twin, [action])
        found[row, action] = twin["returns"][0, states["to_move"][row]]
    return found


@pytest.mark.parametrize("radius", [3, 4])
def test_a_careful_player_loses_at_once_only_if_every_move_does(radius):
    game, rng = Unlur(radius=radius), np.random.default_rng(5)
    states = positions(game, rng, 3 * radius**2 - 6 * radius + 4, batch=400)
    states = states[~states["done"] & (states["black"] >= 0)]
    after = outcomes(game, states)
    may_lose, must_lose = (after == -1).any(axis=1), (np.isnan(after) | (after == -1)).all(axis=1)
    assert (may_lose & ~must_lose).sum() > 20
    lost = np.zeros((2, len(states)), int)
    for careful in (False, True):
        for _ in range(30):
            ended = states.copy()
            game.playout(ended, rng, avoid_losing_moves=careful)
            at_once = ended["ply"] == states["ply"] + 1
            lost[int(careful)] += at_once & (ended["returns"][np.arange(len(states)), states["to_move"]] < 0)
    assert (lost[1][~must_lose] == 0).all()
    assert (lost[1][must_lose] == 30).all()
    assert lost[0][may_lose & ~must_lose].sum() > 20


def test_careful_choices_among_what_does_not_lose_are_even():
    game, rng = Unlur(radius=3), np.random.default_rng(1)
    states = positions(game, rng, 9, batch=3000)
    states = states[~states["done"] & (states["black"] >= 0)]
    after = outcomes(game, states)
    row = int(np.argmax((after == -1).sum(axis=1) * ((after >= 0).sum(axis=1) >= 3)))
    expected = (after[row][after[row] >= 0] == 1).mean()
    ended = np.repeat(states[row : row + 1], 6000)
    game.playout(ended, rng, avoid_losing_moves=True)
    wins = (ended["ply"] == states["ply"][row] + 1) & (ended["returns"][:, states["to_move"][row]] > 0)
    assert abs(wins.mean() - expected) < 4 * np.sqrt(0.25 / 6000)
