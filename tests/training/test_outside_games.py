"""Games from outside the package are trained on like ours: the documented AlphaZero loop, networks by name."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from pbm_agents import evaluate, make_agent

from pbm_envs import register_game
from tests.training.test_loops import loop

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
pytestmark = pytest.mark.libraries


@pytest.fixture(params=[("tictactoe", "TicTacToe"), ("duel", "Duel")], ids=lambda names: names[0])
def game(request, monkeypatch):
    monkeypatch.syspath_prepend(str(GUIDES))
    module, name = request.param
    return register_game(getattr(importlib.import_module(module), name))()


@pytest.mark.filterwarnings("default")
def test_alphazero_learns(game):
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    result = loop("alphazero").train(rounds=5, games=32, simulations=24, game=game)
    assert result.score.low > {"tictactoe": 0.6, "duel": 0.4}[game.name]


def test_a_network_plays_and_searches_by_name(game, tmp_path):
    pytest.importorskip("torch")
    from pbm_agents.learning.network import PolicyValueNetwork

    network = PolicyValueNetwork(game, hidden=16, layers=1)
    network.save(tmp_path / "net.pt")
    assert PolicyValueNetwork.load(tmp_path / "net.pt").game == game
    rng = np.random.default_rng(0)
    states = game.init(3, rng)
    for name in (f"network:file={tmp_path / 'net.pt'}", f"mcts:simulations=20,network={tmp_path / 'net.pt'}"):
        actions = make_agent(name).act(game, game.view(states, states["to_move"]), rng)
        assert game.legal_action_mask(states)[np.arange(3), actions].all()
        assert evaluate(name, game, games=4)["random"].games == 4
