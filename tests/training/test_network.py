"""Networks: symmetric, saved and loaded, playing and evaluating by name, in games of two and of three."""

import numpy as np
import pytest

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.testing import positions, sample

pytestmark = pytest.mark.libraries
torch = pytest.importorskip("torch")

from pbm_agents import Search, evaluate, make_agent
from pbm_agents.learning.network import NetworkAgent, PolicyValueNetwork
from pbm_agents.learning.self_play import self_play
from pbm_agents.learning.torsos import ResidualConvolution
from pbm_agents.learning.training_data import Examples, augmented
from pbm_agents.players.names import make_agent_for

GAMES = [Chameleon(size=4), Curio(), Trinim(num_players=3), Unlur(radius=3, allow_resign=True)]
every_game = pytest.mark.parametrize("game", GAMES, ids=str)
every_kind = pytest.mark.parametrize("residual", [False, True], ids=["fully connected", "residual"])


def network_of(game, seed=1, residual=False):
    """Untrained, but with opinions."""
    torch.manual_seed(seed)
    if residual:
        network = PolicyValueNetwork(game, module=ResidualConvolution(game, channels=16, blocks=2))
        for layer in (network.module.on_one, network.module.target, network.module.on_none):
            torch.nn.init.normal_(layer.weight)
        torch.nn.init.normal_(network.module.value[2].weight, std=0.1)
        return network.eval()
    network = PolicyValueNetwork(game, hidden=32)
    torch.nn.init.normal_(network.module.policy.weight)
    torch.nn.init.normal_(network.module.value.weight, std=0.1)
    return network.eval()


def movers_see(game, states):
    return game.observe_with_mask(states, states["to_move"])


def open_positions(game, seed=1):
    states = sample(game, np.random.default_rng(seed))
    return states[~states["done"]]


@every_kind
@every_game
def test_probabilities_and_values(game, residual):
    masks = movers_see(game, open_positions(game))[1]
    chances, values = network_of(game, residual=residual).priors_and_values(*movers_see(game, open_positions(game)))
    assert chances.shape == masks.shape
    assert np.allclose(chances.sum(axis=1), 1, atol=1e-5)
    assert not chances[~masks].any()
    assert chances.max() > 0.2
    assert values.shape == (len(masks), game.num_players)
    assert np.abs(values).max() <= 1
    assert np.allclose(values.sum(axis=1), 0, atol=1e-5)
    assert values.std() > 0.001


@every_kind
@every_game
def test_what_is_symmetric_is_judged_alike(game, residual):
    """In positions that are symmetric to themselves it may prefer one of several symmetric actions."""
    network, states = network_of(game, residual=residual), open_positions(game)
    observations, masks = movers_see(game, states)
    chances, values = network.priors_and_values(observations, masks)
    examples = Examples.without_search(observations, masks, chances, values)
    forms = [augmented(game, examples, k).observations for k in range(len(game.symmetries))]
    alone = sum((form == observations).all(axis=(1, 2, 3)) for form in forms) == 1
    assert alone.sum() >= 5
    for symmetry in game.symmetries:
        renamed = game.transform(states, symmetry)
        others, same = network.priors_and_values(*movers_see(game, renamed))
        assert np.allclose(same, values, atol=1e-4), symmetry.name
        assert np.allclose(others[:, symmetry.actions][alone], chances[alone], atol=1e-3), symmetry.name
        assert np.allclose(np.sort(others), np.sort(chances), atol=1e-3), symmetry.name


@every_kind
@every_game
def test_a_batch_does_not_matter(game, residual):
    """Ties between forms, which symmetric positions have, are broken in the same way alone and beside others."""
    network, states = network_of(game, residual=residual), open_positions(game)
    chances, values = network.priors_and_values(*movers_see(game, states))
    for row in range(0, len(states), 2):
        alone, value = network.priors_and_values(*movers_see(game, states[row : row + 1]))
        assert np.allclose(alone[0], chances[row], atol=1e-5)
        assert np.allclose(value[0], values[row], atol=1e-5)


@every_kind
@every_game
def test_a_file_holds_it_all(game, residual, tmp_path):
    network = network_of(game, residual=residual)
    network.save(tmp_path / "network.pt")
    network.save(tmp_path / "network.pt")  # over the old one
    assert [path.name for path in tmp_path.iterdir()] == ["network.pt"]
    again = PolicyValueNetwork.load(tmp_path / "network.pt")
    assert again.game == game
    assert again.settings == network.settings
    seen = movers_see(game, open_positions(game))
    for part, expected in zip(again.priors_and_values(*seen), network.priors_and_values(*seen), strict=True):
        assert (part == expected).all()


@pytest.mark.parametrize("settings", [{"hidden": 0}, {"layers": 0}, {"hidden": 1.5}, {"layers": True}], ids=str)
def test_sizes_that_cannot_be(settings):
    [[name, value]] = settings.items()
    with pytest.raises(ValueError, match=f"{name} is {value!r}: expected an integer from 1 up"):
        PolicyValueNetwork(Chameleon(size=3), **settings)


def test_it_plays_its_best_action_or_draws():
    game, rng = Chameleon(size=3, swap_rule=False), np.random.default_rng(1)
    network = network_of(game)
    states = positions(game, rng, 2, 1)
    [chances] = network.priors_and_values(*movers_see(game, states))[0]
    views = game.view(np.repeat(states, 4000), states["to_move"][0])
    assert set(NetworkAgent(network).act(game, views, rng).tolist()) == {chances.argmax()}
    for temperature in (1.0, 0.5):
        expected = chances ** (1 / temperature) / (chances ** (1 / temperature)).sum()
        drawn = np.bincount(NetworkAgent(network, temperature).act(game, views, rng), minlength=game.num_actions) / 4000
        assert np.allclose(drawn, expected, atol=0.04)
        assert not drawn[chances == 0].any()
    with pytest.raises(ValueError, match="temperature is -1"):
        NetworkAgent(network, -1)


def test_it_knows_its_game_and_its_turn(tmp_path):
    network_of(Chameleon(size=3)).save(tmp_path / "network.pt")
    other, rng = Chameleon(size=3, swap_rule=False), np.random.default_rng(1)
    for name in (f"network:file={tmp_path}/network.pt", f"mcts:simulations=5,network={tmp_path}/network.pt"):
        with pytest.raises(ValueError, match=r"Chameleon\(size=3, swap_rule=True.*not .*swap_rule=False"):
            make_agent(name).act(other, other.init(1, rng), rng)
        with pytest.raises(ValueError, match=r"cannot play this game: .*size=3, swap_rule=True.*not .*swap_rule=False"):
            make_agent_for(name, other)
        game = Chameleon(size=3)
        with pytest.raises(ValueError, match="row 1"):
            make_agent(name).act(game, game.view(game.init(2, rng), [0, 1]), rng)


@pytest.mark.parametrize("name", ["network:file={}", "mcts:simulations=5,network={}"])
def test_names_of_files_that_are_none(name, tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        make_agent(name.format(tmp_path / "nothing.pt"))


def test_it_can_learn():
    """By the moves and results of a search: probabilities rise, values come closer."""
    game, rng = Chameleon(size=3), np.random.default_rng(1)
    examples = self_play(game, Search(simulations=50), 40, rng)
    network = network_of(game)
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    parts = [torch.from_numpy(part) for part in examples]
    losses = []
    for _ in range(60):
        logits, values = network(parts[0], parts[1])
        loss = -(parts[2] * logits.log_softmax(dim=1)).sum(dim=1).mean() + (values - parts[3]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.6 * losses[0]
    policy = lambda observations, masks: network.priors_and_values(observations, masks)[0]  # noqa: E731
    assert evaluate(policy, game, games=100)["random"].score.value > 0.75


@pytest.mark.parametrize(
    ("small", "large"), [(Chameleon(size=3), Chameleon(size=6)), (Unlur(radius=3), Unlur(radius=5))], ids=str
)
def test_a_residual_network_plays_on_boards_of_any_size(small, large):
    """The same weights; and a stone far away does not change what a small part of the board looks like."""
    network = network_of(small, residual=True).on(large)
    assert network.game == large
    chances, _ = network.priors_and_values(*movers_see(large, open_positions(large)))
    assert np.allclose(chances.sum(axis=1), 1, atol=1e-4)
    assert network.on(small).game == small
    with pytest.raises(ValueError, match="made for one board: expected a ResidualConvolution"):
        network_of(small).on(large)
    with pytest.raises(ValueError, match="the weights do not fit Curio"):
        network.on(Curio())


class MLP(torch.nn.Module):
    def __init__(self, game):
        super().__init__()
        size = int(np.prod(game.observation_shape))
        self.hidden = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(size, 32), torch.nn.ReLU())
        self.policy, self.value = torch.nn.Linear(32, game.num_actions), torch.nn.Linear(32, game.num_players)

    def forward(self, observations):
        hidden = self.hidden(observations)
        return self.policy(hidden), self.value(hidden)


@every_game
@pytest.mark.parametrize("symmetric", [True, False])
def test_a_module_of_ones_own(game, symmetric, tmp_path):
    """It plays, evaluates, learns and is saved; loading asks for the module."""
    torch.manual_seed(1)
    network = PolicyValueNetwork(game, module=MLP(game), symmetric=symmetric).eval()
    observations, masks = movers_see(game, open_positions(game))
    chances, values = network.priors_and_values(observations, masks)
    assert not chances[~masks].any()
    if not symmetric:
        seen = torch.log2(1 + torch.from_numpy(observations).float()).permute(0, 3, 1, 2)
        expected = network.module(seen)[0].masked_fill(~torch.from_numpy(masks), -1e9).softmax(dim=1)
        assert np.allclose(chances, expected.detach().numpy(), atol=1e-5)
    network.save(tmp_path / "network.pt")
    with pytest.raises(ValueError, match=r"a module of its own.*give it as module="):
        PolicyValueNetwork.load(tmp_path / "network.pt")
    again = PolicyValueNetwork.load(tmp_path / "network.pt", module=MLP(game))
    assert np.allclose(again.priors_and_values(observations, masks)[1], values)
    rng = np.random.default_rng(1)
    views = game.view(game.init(2, rng), 0)
    assert len(Search(simulations=4, evaluator=network.evaluator()).run(game, views, rng)) == 2


def test_a_module_that_does_not_fit():
    network = PolicyValueNetwork(Chameleon(size=3), module=MLP(Trinim(size=5)))
    network.module.hidden[1] = torch.nn.Linear(45, 32)
    with pytest.raises(ValueError, match=r"the module gave logits \(1, 75\) .*: expected \(1, 19\) and \(1, 2\)"):
        network(torch.zeros(1, 3, 3, 5), torch.ones(1, 19, dtype=torch.bool))


@every_kind
@every_game
def test_any_device(game, residual):
    """Nothing is made on the CPU on the way: PyTorch's "meta" device would refuse to mix with it."""
    network = network_of(game, residual=residual).to("meta")
    assert network.device.type == "meta"
    observations = torch.zeros(3, *game.observation_shape, dtype=torch.int8, device="meta")
    logits, values = network(observations, torch.ones(3, game.num_actions, dtype=torch.bool, device="meta"))
    assert (logits.shape, values.shape) == ((3, game.num_actions), (3, game.num_players))
    assert logits.device.type == values.device.type == "meta"


@every_kind
def test_half_precision(residual):
    """The module alone is computed in it: the symmetric form is found exactly, and the results are float32."""
    game = Chameleon(size=4)
    observations, masks = movers_see(game, open_positions(game))
    exact = network_of(game, residual=residual)
    rough = PolicyValueNetwork(game, module=exact.module, half=True).eval()
    chances, values = rough.priors_and_values(observations, masks)
    assert values.dtype == chances.dtype == np.float32
    assert np.abs(values - exact.priors_and_values(observations, masks)[1]).max() < 0.05
    assert not np.array_equal(values, exact.priors_and_values(observations, masks)[1])
    _, same = rough.priors_and_values(*movers_see(game, game.transform(open_positions(game), game.symmetries[3])))
    assert np.allclose(same, values, atol=1e-6)
