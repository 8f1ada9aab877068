"""Checks of observations, masks, views and hidden information."""

from __future__ import annotations

import numpy as np

from ..core.game import Game
from ..core.state import NOBODY, copy_states
from ..core.types import Rng
from .random_games import equal, expect_error, random_actions, sample


def check_observations(game: Game, rng: Rng) -> None:
    """Check the shapes, types and bounds of observations and masks.

    All planes are 0 off the board; results in `out` equal those in a new array; the mask of a view is that of the state
    for the player to move, and empty for the others.
    """
    states = sample(game, rng)
    for player in range(game.num_players):
        views = game.view(states, player)
        observations = game.observe(views)
        assert observations.shape == (len(states), *game.observation_shape)
        assert observations.dtype == np.int8
        assert (observations >= 0).all()
        off_board = np.ones(game.board.shape, np.bool_)
        off_board[game.board.rows, game.board.cols] = False
        assert not observations[:, off_board].any()
        dirty = np.full_like(observations, 77)
        assert game.observe(views, out=dirty) is dirty
        assert (dirty == observations).all()
        masks = game.legal_action_mask(views)
        mine = states["to_move"] == player
        assert (masks[mine] == game.legal_action_mask(states)[mine]).all()
        assert not masks[~mine].any()
        observed, allowed = game.observe_with_mask(states, player)
        assert (observed == observations).all()
        assert (allowed == masks).all()
    dirty_masks = np.ones((len(states), game.num_actions), np.bool_)
    assert (game.legal_action_mask(states, out=dirty_masks) == game.legal_action_mask(states)).all()


def check_views(game: Game, rng: Rng) -> None:
    """Check that views name their viewer and leave the state unchanged, and that determinized views look the same."""
    states = sample(game, rng)
    before = copy_states(states)
    for player in range(game.num_players):
        views = game.view(states, player)
        assert (views["viewer"] == player).all()
        assert equal(game.view(states, np.full(len(states), player)), views)
        buffer = game.init(len(states), rng)
        assert game.view(states, player, out=buffer) is buffer
        assert equal(buffer, views)
        worlds = game.determinize(views, rng)
        assert (worlds["viewer"] == NOBODY).all()
        assert equal(game.view(worlds, player), views)  # C15
        assert equal(game.determinize(worlds, rng), worlds), "a full state has nothing to fill in"
    assert equal(states, before)
    if not states["done"].all():
        expect_error(lambda: game.step(views, random_actions(game, states, rng)), "view")


def check_secrets(game: Game, rng: Rng) -> None:
    """Check that states with the same view give the player equal observations, masks and pictures, byte for byte."""
    states = sample(game, rng)
    for player in range(game.num_players):
        twins = game.determinize(game.view(states, player), rng)
        mine, others = game.view(states, player), game.view(twins, player)
        assert game.observe(mine).tobytes() == game.observe(others).tobytes()
        assert game.legal_action_mask(mine).tobytes() == game.legal_action_mask(others).tobytes()
        for row in range(0, len(states), 3):
            assert game.scene(mine[row]) == game.scene(others[row])
            assert game.board_to_string(mine[row]) == game.board_to_string(others[row])
