from collections import Counter
from functools import cache

import numpy as np
import pytest

from pbm_envs import Trinim

GAMES = 40_000


@cache
def lengths(game: Trinim, board: str) -> dict[int, float]:
    """How likely a game from `board`, each ply uniform among the legal actions, is to last so many plies."""
    states = game.init(1, np.random.default_rng(0), board)
    chances: Counter[int] = Counter()
    actions = np.flatnonzero(game.legal_action_mask(states)[0])
    for action in actions.tolist():
        after = states.copy()
        game.step(after, [action])
        rest = {0: 1.0} if after["done"][0] else lengths(game, game.board_to_string(after))
        for plies, chance in rest.items():
            chances[plies + 1] += chance / len(actions)
    return dict(chances)


@pytest.mark.parametrize("board", ["r/gb/rgb", "r/.b/r.b/r..g/b.rb."], ids=["full", "with gaps"])
def test_every_ply_is_uniform(board: str) -> None:
    game = Trinim(size=board.count("/") + 1, num_players=3)
    states = game.init(GAMES, np.random.default_rng(7), board)
    game.playout(states, np.random.default_rng(8))
    seen = np.bincount(states["ply"], minlength=game.max_plies + 1)
    expected = lengths(game, board)
    assert sum(expected.values()) == pytest.approx(1)
    for plies in range(game.max_plies + 1):
        chance = expected.get(plies, 0.0)
        assert abs(seen[plies] - GAMES * chance) <= 5 * np.sqrt(GAMES * chance * (1 - chance)), plies
