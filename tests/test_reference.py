"""Random games of Chameleon, Trinim and Unlur, ply by ply against the slow references (A1 to A4, H, T, U)."""

from __future__ import annotations

import numpy as np
import pytest

from pbm_envs import make_game
from tests.play import legal
from tests.reference import start

# Game, options, games by default (0: none), games in the slow test
CONFIGURATIONS = [
    ("chameleon", {"size": 3}, 300, 2000),
    ("chameleon", {"size": 3, "swap_rule": False, "allow_resign": True}, 200, 1000),
    ("chameleon", {"size": 4, "allow_resign": True}, 200, 1250),
    ("chameleon", {"size": 7, "swap_rule": False}, 40, 600),
    ("chameleon", {}, 15, 250),
    ("chameleon", {"swap_rule": False, "allow_resign": True}, 15, 100),
    ("chameleon", {"size": 26}, 1, 4),
    ("trinim", {"size": 3}, 300, 1000),
    ("trinim", {"size": 3, "num_players": 3, "allow_resign": True}, 300, 1500),
    ("trinim", {"size": 5}, 150, 1000),
    ("trinim", {"size": 5, "allow_resign": True}, 100, 750),
    ("trinim", {"size": 5, "num_players": 3}, 100, 500),
    ("trinim", {"size": 5, "num_players": 3, "allow_resign": True}, 100, 750),
    ("trinim", {"size": 9, "allow_resign": True}, 20, 150),
    ("trinim", {"size": 20, "num_players": 3}, 2, 10),
    ("unlur", {"radius": 3}, 300, 2100),
    ("unlur", {"radius": 3, "allow_resign": True}, 200, 1500),
    ("unlur", {"radius": 4, "allow_resign": True}, 100, 1250),
    ("unlur", {}, 15, 150),
    ("unlur", {"radius": 13}, 0, 2),
]
pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7


def draw(game, mask, rng):
    """A legal action for each game: any, or in about two plies of a long game one that is a word (`swap`, `resign`)."""
    words = [action for action in range(game.num_actions) if game.action_to_string(action).isalpha()]
    weights = mask * rng.random(mask.shape)
    weights[:, words] += mask[:, words] * (rng.random((len(mask), 1)) < 2 / game.max_plies)
    return weights.argmax(axis=1)


def compare(game, count, seed):
    """Play `count` random games to the end, in one batch and by the reference."""
    rng = np.random.default_rng(seed)
    states = game.init(count, rng)
    slow = [start(game.name, game.options, game.board_to_string(state)) for state in states]
    played = [""] * count
    while True:
        for k, texts in enumerate(legal(game, states)):
            state, ours = states[k], slow[k]
            fast = (texts, *(state[name].item() for name in ("to_move", "ply", "done", "truncated")))
            where = f"{game!r}, board {game.board_to_string(state)}, after{played[k]}"
            assert fast == (ours.legal(), ours.to_move, ours.ply, ours.done, ours.truncated), where
            assert state["returns"].tolist() == list(ours.returns), where
        if states["done"].all():
            break
        actions = draw(game, game.legal_action_mask(states), rng)
        game.step(states, actions)
        for k in range(count):
            if not slow[k].done:
                text = game.action_to_string(int(actions[k]))
                slow[k].play(text)
                played[k] += f" {text}"
    assert states["ply"].max() <= game.max_plies


@pytest.mark.parametrize(("name", "options", "count"), [row[:3] for row in CONFIGURATIONS if row[2]], ids=str)
def test_random_games(name, options, count):
    compare(make_game(name, **options), count, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "_", "count"), CONFIGURATIONS, ids=str)
def test_many_random_games(name, options, _, count):
    compare(make_game(name, **options), count, seed=2)
