"""A network that learns to respond to a frozen agent wins most of what the exact best response does, and no more."""

import numpy as np
import pytest

pytestmark = pytest.mark.libraries
pytest.importorskip("torch")

from pbm_agents.equilibrium import PublicTree, best_response
from pbm_agents.equilibrium.learned_response import LearnedResponder
from pbm_agents.players.agent import RandomAgent

from pbm_envs import Curio, make_game


def test_it_finds_most_of_a_best_response():
    game = make_game("curio-ladder-1")
    tree = PublicTree.build(game)
    exact = [best_response(tree, tree.uniform_policy(), seat).value for seat in range(2)]
    found = LearnedResponder(game, RandomAgent(), steps=60_000, envs=128).run(1000, np.random.default_rng(1))
    assert found.games == 1000
    for seat in range(2):
        assert 0.75 * exact[seat] < found.values[seat] < exact[seat] + 3 * found.errors[seat]
    assert found.exploitability == pytest.approx(sum(found.values) / 2)


def test_every_game_is_played_to_its_end():
    """Long games count as often as short ones: of the same network and agent, the mean is the same however many run
    side by side.
    """
    game = Curio(base=2, rows=2, cols=3, no_capture_limit=6)
    responder = LearnedResponder(game, RandomAgent(), steps=1, envs=4, moves=2)
    network = responder.train(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    many = responder._play(network, 0, 1000, rng)
    few = np.concatenate([responder._play(network, 0, 4, rng) for _ in range(250)])
    assert abs(many.mean() - few.mean()) < 4 * np.hypot(many.std(), few.std()) / np.sqrt(1000)
    assert set(many.tolist()) <= {-1.0, 0.0, 1.0}


def test_settings_are_checked():
    responder = LearnedResponder(make_game("curio-ladder-1"), RandomAgent(), steps=0)
    with pytest.raises(ValueError, match="steps is 0"):
        responder.run(2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="games is 1"):
        responder.run(1, np.random.default_rng(0))
