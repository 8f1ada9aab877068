"""Legal moves by words of bits against the walk from cell to cell that larger boards use, move by move."""

import numpy as np
import pytest

from pbm_envs import Curio, sample_actions
from pbm_envs.games.curio.moves import mask_large_batch, playout_large_batch
from tests.play import legal, play

GAMES = 60
NO_TRACE = np.zeros((0, 0), np.int8)
OPTIONS = (
    {},
    {"capture": "ge", "face": "small", "limit": False},
    {"base": 3, "rows": 4, "cols": 4, "capture": "le_total", "allow_resign": True},
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_masks_are_those_of_the_walk(options):
    game, rng = Curio(**options), np.random.default_rng(5)
    states, seen = game.init(GAMES, rng), 0
    while not states["done"].all():
        masks = game.legal_action_mask(states)
        walked = np.ones_like(masks)
        mask_large_batch(states, walked, game.steps, game.settings)
        np.testing.assert_array_equal(masks, walked)
        live = np.flatnonzero(~states["done"])
        actions = np.zeros(GAMES, np.int64)
        actions[live] = sample_actions(masks[live, : game.num_actions - options.get("allow_resign", False)], rng)
        game.step(states, actions)
        seen += len(live)
    assert seen > 10 * GAMES


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_playouts_are_those_of_the_walk(options):
    game = Curio(**options)
    states = game.init(GAMES, np.random.default_rng(6))
    walked, seeds = states.copy(), np.arange(GAMES, dtype=np.uint64)
    playout_large_batch(walked, seeds.copy(), game._moves, game.steps, game.settings, NO_TRACE)
    game.playout(states, seeds)
    np.testing.assert_array_equal(states, walked)


def test_who_cannot_move_passes_by_the_walk_too():
    """C12: neighbours show the same, so nobody can capture under "gt"; two passes draw. Then one of them may move."""
    game = Curio(rows=3, cols=3, base=2, capture="gt")
    game._tables = None
    stuck = play(game, "", "D22 D22 D22/L22 L22 L22/L11 L11 L11")
    assert legal(game, stuck) == [{"pass"}]
    states = np.repeat(stuck, 8)
    game.playout(states, np.random.default_rng(1))
    assert states["done"].all()
    assert (states["ply"] == 2).all()
    assert (states["last_action"] == game.string_to_action("pass")).all()
    assert (states["returns"] == 0).all()
    with pytest.raises(ValueError, match="pass"):
        play(game, "pass", "D22 . D22/L22 L22 L22/L11 L11 L11")
