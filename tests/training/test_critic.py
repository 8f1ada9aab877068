"""The asymmetric critic: it sees what is hidden, learns, goes on; what plays has nothing of it."""

import numpy as np
import pytest
from pbm_agents.learning.self_play import SelfPlay, self_play
from pbm_agents.learning.training_data import augmented

from pbm_envs import Chameleon, Curio
from tests.search.test_secrets import twins
from tests.training.test_trainer import DEEP, GAMES, lasting, weights

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch")

from pbm_agents import Search
from pbm_agents.learning.critic import Critic
from pbm_agents.learning.network import read
from pbm_agents.learning.self_play import _full_observations
from pbm_agents.learning.trainer import Training, train

SMALL = {"base": 2, "rows": 4, "cols": 3, "no_capture_limit": 4}
SETTINGS = Training(**{**vars(DEEP), "critic_share": 0.5})


def test_it_sees_what_is_hidden():
    """Where hidden faces are exchanged, the player to move sees no difference, and the critic does."""
    game, states, others = twins({"base": 2, "rows": 4, "cols": 3})
    one, other = (_full_observations(game, batch) for batch in (states, others))
    hidden = (states["faces"] != others["faces"]).reshape(len(states), -1).any(axis=1)
    assert ((one != other).reshape(len(states), -1).any(axis=1) >= hidden).all()
    assert hidden.sum() >= 6
    assert np.array_equal(*(game.observe(game.view(batch, batch["to_move"])) for batch in (states, others)))
    assert (states["viewer"] == -1).all()


def test_in_examples():
    """The same games with and without; in games of perfect information it is what the player sees."""
    game, search = Curio(**SMALL), Search(simulations=4)
    plain, full = (
        self_play(game, search, 4, np.random.default_rng(1), SelfPlay(full_observations=flag)) for flag in (False, True)
    )
    assert plain.full_observations.shape == (len(plain.returns), 0)
    assert full.full_observations.shape == full.observations.shape
    for name, part in plain._asdict().items():
        assert name == "full_observations" or np.array_equal(part, getattr(full, name), equal_nan=True), name
    assert (full.full_observations != full.observations).any()
    game = Chameleon(size=3)
    known = self_play(game, search, 2, np.random.default_rng(1), SelfPlay(full_observations=True))
    assert np.array_equal(known.full_observations, known.observations)
    turned = augmented(game, known, 1)
    assert np.array_equal(turned.full_observations, turned.observations)


def test_a_run_with_a_critic_goes_on(tmp_path):
    """As if it had not been stopped; the critic learns; what plays differs from a run without only by its weights."""
    game = GAMES[3]
    curve = train(game, tmp_path / "whole", SETTINGS)
    assert all(line["critic_loss"] > 0 for line in curve)
    train(game, tmp_path / "parts", Training(**{**vars(SETTINGS), "rounds": 1}))
    assert lasting(train(game, tmp_path / "parts", SETTINGS)) == lasting(curve)
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    train(game, tmp_path / "without", DEEP)
    assert weights(tmp_path / "without") != weights(tmp_path / "whole")
    with_critic, without = (read(tmp_path / name / "network.pt")["weights"] for name in ("whole", "without"))
    assert {k: v.shape for k, v in with_critic.items()} == {k: v.shape for k, v in without.items()}
    with pytest.raises(ValueError, match=r"critic_share is 0.5 in Chameleon.*expected 0, as nothing is hidden"):
        train(GAMES[0], tmp_path / "open", SETTINGS)
    assert not (tmp_path / "open").exists()


def test_it_learns():
    """Its loss falls; the targets are the share of its values and the rest of the results."""
    torch.manual_seed(1)
    game = Curio(**SMALL)
    settings = Training(hidden=32, layers=1, critic_share=0.25, learning_rate=0.01)
    play = SelfPlay(full_observations=True)
    batch = self_play(game, Search(simulations=2), 16, np.random.default_rng(1), play)
    critic = Critic(game, settings)
    losses = [critic.learn(batch)[0] for _ in range(40)]
    assert losses[-1] < 0.7 * losses[0]
    _, values = critic.network(torch.from_numpy(batch.full_observations), torch.from_numpy(batch.masks))
    _, targets = critic.learn(batch)
    expected = 0.75 * batch.returns + 0.25 * values.detach().numpy()
    np.testing.assert_allclose(targets.numpy(), expected, atol=1e-5)
