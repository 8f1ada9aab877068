"""Networks in ONNX Runtime beside PyTorch: the same priors and values, in the search too (extras onnx and torch)."""

import pickle

import numpy as np
import pytest

pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from pbm_agents import Search, make_agent
from pbm_agents.learning import onnx_files
from pbm_agents.learning.network import PolicyValueNetwork
from pbm_agents.learning.onnx_evaluator import OnnxEvaluator, export_onnx
from pbm_agents.learning.onnx_files import seal

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.testing import random_actions

GAMES = [Chameleon(size=4), Unlur(radius=3), Trinim(num_players=3), Curio(base=2, rows=4, cols=3)]
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")


def positions(game, count=40, plies=5):
    rng = np.random.default_rng(3)
    states = game.init(count, rng)
    for ply in range(plies):
        rows = (np.arange(count) % plies >= ply) & ~states["done"]
        some = states[rows]
        game.step(some, random_actions(game, some, rng))
        states[rows] = some
    return states


def network_of(game, symmetric=True):
    import torch

    torch.manual_seed(1)
    network = PolicyValueNetwork(game, hidden=16, layers=2, symmetric=symmetric)
    for part in network.parameters():
        torch.nn.init.normal_(part, std=0.3)
    return network.eval()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_priors_and_values_are_those_of_pytorch(game, symmetric, tmp_path):
    network = network_of(game, symmetric)
    export_onnx(network, tmp_path / "network.onnx")
    evaluator, states = OnnxEvaluator(tmp_path / "network.onnx"), positions(game)
    assert evaluator.game == game
    masks, seeds = game.legal_action_mask(states), np.zeros(len(states), np.uint64)
    found = evaluator(game, states, masks, seeds, None)
    expected = network.evaluator()(game, states, masks, seeds, None)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)
    again = pickle.loads(pickle.dumps(evaluator))(game, states, masks, seeds, None)
    np.testing.assert_array_equal(again[0], found[0])


def test_in_the_search_and_by_name(tmp_path):
    game = Chameleon(size=4)
    network, file = network_of(game), tmp_path / "network.onnx"
    export_onnx(network, file)
    states = game.init(2, np.random.default_rng(1))
    seeds = np.arange(2, dtype=np.uint64)
    found = Search(simulations=40, evaluator=OnnxEvaluator(file)).run(game, states, seeds.copy())
    expected = Search(simulations=40, evaluator=network.evaluator()).run(game, states, seeds.copy())
    for one, other in zip(found, expected, strict=True):
        assert np.abs(one.visits - other.visits).sum() <= 4  # priors differ in the last digit
    agent = make_agent(f"mcts:simulations=20,parallel_simulations=4,network={file}")
    actions = agent.act(game, game.view(states, 0), np.random.default_rng(0))
    assert game.legal_action_mask(states)[np.arange(2), actions].all()


def test_other_files_and_games_are_refused(tmp_path):
    (tmp_path / "nothing.onnx").write_bytes(b"nothing")
    for name in ("nothing.onnx", "missing.onnx"):
        with pytest.raises(ValueError, match="expected a file of export_onnx"):
            OnnxEvaluator(tmp_path / name)
    game, other = Chameleon(size=4), Chameleon(size=3)
    export_onnx(network_of(game), tmp_path / "network.onnx")
    states = other.init(1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="not of"):
        Search(simulations=4, evaluator=OnnxEvaluator(tmp_path / "network.onnx")).run(
            other, states, np.random.default_rng(0)
        )


def sealed_again(path, change):
    """Write a model that was changed by somebody who knows the seal."""
    model = onnx.load(path)
    del model.metadata_props[-1]
    change(model)
    path.write_bytes(seal(model.SerializeToString()))


def test_a_damaged_file_is_refused_before_it_is_opened(tmp_path):
    file = tmp_path / "network.onnx"
    export_onnx(network_of(Chameleon(size=3)), file)
    data = bytearray(file.read_bytes())
    onnx.load(file)  # the seal is valid metadata
    for place in (0, len(data) // 2, len(data) - 1):
        data[place] ^= 1
        file.write_bytes(data)
        with pytest.raises(ValueError, match="is damaged: expected a file of export_onnx"):
            OnnxEvaluator(file)
        data[place] ^= 1


def test_a_model_that_fails_or_ends_its_process_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "network.onnx"
    export_onnx(network_of(Chameleon(size=3)), file)
    sealed_again(file, lambda model: model.graph.initializer.pop())
    with pytest.raises(ValueError, match="does not run in ONNX Runtime"):
        OnnxEvaluator(file)
    export_onnx(network_of(Chameleon(size=3)), file)
    monkeypatch.setattr(onnx_files, "_tried", set())
    monkeypatch.setattr(onnx_files, "TRIAL", "import os; os.abort()")
    with pytest.raises(ValueError, match="exit status -6"):
        OnnxEvaluator(file)
    monkeypatch.setattr(onnx_files, "TRIAL", "while True: pass")
    monkeypatch.setattr(onnx_files, "TRIAL_SECONDS", 1)
    with pytest.raises(ValueError, match="no answer within 1 s"):
        OnnxEvaluator(file)
