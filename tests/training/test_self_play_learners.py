"""The learners of `benchmarks/learning_baselines.py`: transformed returns by their definition; they learn."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from pbm_envs import make_game

pytestmark = [pytest.mark.libraries, pytest.mark.usefixtures("one_thread")]
torch = pytest.importorskip("torch")

from pbm_agents.equilibrium import PublicTree, exploitability
from pbm_agents.equilibrium.policy import Policy

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def learners(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("self_play_learners")
    sys.modules.pop("self_play_learners", None)


@pytest.mark.parametrize(("name", "setting"), [("PPO", 0.1), ("MMD", 0.5), ("R-NaD", 0.2)])
def test_learners_become_less_exploitable(learners, name, setting):
    """Random play on the first rung loses 0.51."""
    tree = PublicTree.build(make_game("curio-ladder-1"))
    learner = learners.LEARNERS[name](tree.game, setting, 20_000, seed=1)
    before = exploitability(tree, Policy.from_function(tree, learner.policies))
    while learner.moves < 20_000:
        learner.update()
    assert before > 0.45
    assert exploitability(tree, Policy.from_function(tree, learner.policies)) < 0.25


def test_a_batch_holds_whole_games(learners):
    """Returns are those of who moved; each game's moves are numbered from 0 on; actions are legal."""
    learner = learners.PPO(make_game("curio-ladder-3"), 0.1, 1000, seed=2)
    batch = learner.play()
    assert bool(batch.masks.gather(1, batch.actions[:, None]).all())
    for game in range(10):
        rows = torch.nonzero(batch.games == game)[:, 0]
        assert batch.plies[rows].tolist() == list(range(len(rows)))
        mine = batch.returns[rows] * (1 - 2 * batch.movers[rows])
        assert len(set(mine.tolist())) == 1
    assert torch.allclose(batch.log_policies.exp().sum(dim=1), torch.ones(len(batch.actions)), atol=1e-5)


def test_transformed_returns_by_their_definition(learners):
    """The return of who moved, less their own costs and with the opponent's, from the move on and from the next one."""
    batch = learners.RNaD(make_game("curio-ladder-2"), 0.2, 1000, seed=3).play()
    costs = torch.from_numpy(np.random.default_rng(3).normal(size=len(batch.actions)).astype(np.float32))
    later, with_this = learners.transformed(batch, costs)
    for row in range(0, len(costs), 97):
        same = (batch.games == batch.games[row]) & (batch.plies > batch.plies[row])
        signs = 1 - 2 * (batch.movers[same] == batch.movers[row]).float()
        expected = batch.returns[row] + (signs * costs[same]).sum()
        assert later[row].item() == pytest.approx(expected.item(), abs=1e-5)
        assert with_this[row].item() == pytest.approx(expected.item() - costs[row].item(), abs=1e-5)
