"""Deep learners on public trees: their losses beside the textbook's formulas, and Kuhn poker solved."""

import importlib
from dataclasses import replace

import numpy as np
import pytest

pytestmark = [pytest.mark.libraries, pytest.mark.usefixtures("one_thread")]
torch = pytest.importorskip("torch")

from pbm_agents.equilibrium import PublicTree, exploitability
from pbm_agents.equilibrium.learners import LOSSES, MMD, PPO, RNAD, Batch, Inputs, SelfPlay, estimate

from tests.equilibrium.games import tree
from tests.test_contracts import GUIDES


@pytest.fixture
def kuhn(monkeypatch):
    monkeypatch.syspath_prepend(str(GUIDES))
    return Inputs(PublicTree.build(importlib.import_module("duel").Duel()))


@pytest.mark.parametrize("name", ["kuhn", "plain", "hidden", "faces at random", "hidden totals"])
def test_inputs_tell_information_sets_apart(kuhn, name):
    """Except under `*_total`, where past legal moves, too, tell players about hidden faces."""
    inputs = kuhn if name == "kuhn" else Inputs(tree(name))
    features = inputs.features.numpy()
    assert (len(np.unique(features, axis=0)) == len(features)) == (name != "hidden totals")
    network = SelfPlay(inputs, PPO).network
    policy = inputs.policy(network)
    some = torch.tensor([0, len(features) - 1])
    for row, chances in zip(some.tolist(), network(some)[0].softmax(dim=1).tolist(), strict=True):
        expected = list(policy.at(row).values())
        assert chances == pytest.approx(expected + [0] * (len(chances) - len(expected)))


def test_advantages_are_each_players_own():
    """Players move as in one column of a game: 0, 1, 0, 0, 1; the last column ends after a move."""
    players = np.array([[0, 1, 0, 0, 1], [1, -1, -1, -1, -1]]).T
    rewards = np.zeros((5, 2))
    rewards[4, 0], rewards[0, 1], rewards[1, 0] = 1.0, -1.0, 0.25
    values = np.arange(10.0).reshape(5, 2) / 10
    found, trace = np.zeros((5, 2)), 0.5
    estimate(players, rewards, values, trace, found)
    v = values[:, 0]
    third = 1.0 - v[3]  # the reward of the opponent's last move belongs to the move before
    second = v[3] - v[2] + trace * third
    first = 0.25 + v[2] - v[0] + trace * second
    last = -1.0 - v[4]
    assert found[:, 0] == pytest.approx([first, -0.25 * 0 + v[4] - v[1] - 0.25 + trace * last, second, third, last])
    assert found[:, 1] == pytest.approx([1.0 - values[0, 1], 0, 0, 0, 0])


def batch_of(gains):
    """A batch from one information set with a policy (1/2, 1/4, 1/4), each choice as often as the policy says."""
    chosen = torch.tensor([0, 0, 1, 2])
    logs = torch.tensor([[0.5, 0.25, 0.25]]).log().expand(4, 3)
    return Batch(torch.zeros(4, dtype=torch.long), chosen, logs, gains[chosen], gains[chosen])


def test_losses_are_the_textbooks():
    gains = torch.tensor([-0.5, 0.75, 0.25])
    batch = batch_of(gains)
    old = batch.log_policy[0]

    def gradient(name, method, logits):
        logits = logits.clone().requires_grad_()
        LOSSES[name](method, 0.3, logits.expand(4, 3), batch).backward()
        return logits.grad

    # the minimum of MMD's loss is the closed form of mirror descent
    assert gradient("mmd", MMD, (gains + MMD.divergence * old) / (0.3 + MMD.divergence)).abs().max() < 1e-6
    # PPO starts with the policy gradient, of normalized gains, and the entropy's
    normal = batch.advantages / batch.advantages.std(unbiased=False)
    mean = torch.tensor([0.5 * normal[0], 0.25 * normal[2], 0.25 * normal[3]])
    policy = old.exp()
    entropy = policy * (old + 0.3 * 0 - (policy * old).sum())
    assert gradient("ppo", PPO, old).tolist() == pytest.approx((0.3 * entropy - mean).tolist(), abs=1e-5)
    # NeuRD's is not weighted by the policy, so it is that of the replicator dynamics in logits
    expected = -(gains - gains.mean())
    assert gradient("rnad", RNAD, old).tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    limited = gradient("rnad", replace(RNAD, threshold=-5.0), torch.zeros(3))
    assert limited.abs().max() == 0


@pytest.mark.parametrize(
    ("method", "share"), [(replace(MMD, divergence=10, temperature=0.3), 0.3), (replace(RNAD, temperature=0.5), 0.5)]
)
def test_they_learn_kuhn_poker(kuhn, method, share):
    start = exploitability(kuhn.tree, kuhn.tree.uniform_policy())
    learner = SelfPlay(kuhn, replace(method, games=256, hidden=32, learning_rate=3e-3), 100_000, seed=1)
    while not learner.finished:
        learner.step()
    assert exploitability(kuhn.tree, learner.policy()) < share * start


def test_seeds_and_settings(kuhn):
    policies = []
    for seed in (1, 1, 2):
        learner = SelfPlay(kuhn, replace(RNAD, games=32, references=2), 150, seed)
        while not learner.finished:
            learner.step()
        policies.append(learner.policy().probabilities)
    assert np.array_equal(policies[0], policies[1])
    assert not np.array_equal(policies[0], policies[2])
    with pytest.raises(ValueError, match="loss is 'sgd': expected one of ppo, mmd, rnad"):
        SelfPlay(kuhn, replace(PPO, loss="sgd"))
    with pytest.raises(ValueError, match="moves is 0"):
        SelfPlay(kuhn, PPO, 0)
