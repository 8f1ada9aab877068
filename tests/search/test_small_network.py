"""Small networks: waves find what stages find, sums of the first layer are right in every node, files, names."""

import pickle

import numpy as np
import pytest
from pbm_agents import Search, Workspace, make_agent
from pbm_agents.learning.small_network import SmallNetwork, Weights, zero_weights
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Curio, Trinim, Unlur
from pbm_envs.testing import positions

GAME = Chameleon(size=4)
HEXAGON = Unlur(radius=3)
OTHERS = [Trinim(size=5, num_players=3), Curio(base=2, rows=4, cols=3)]


def network_of(game, seed=1):
    """Return one with random weights."""
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=zeros.shape).astype(np.float32) / 3 for zeros in zero_weights(game, 24, 8))
    return SmallNetwork(game, Weights(*weights))


class Stages:
    """The same network, called from Python for each wave."""

    gives_priors = answers_are_checked = True

    def __init__(self, network):
        self.network = network

    def __call__(self, *arguments):
        return self.network(*arguments)


def views_of(game, plies=(0, 1, 3, 6), each=2):
    rng = np.random.default_rng(3)
    states = np.concatenate([positions(game, rng, k, each) for k in plies])
    states = states[~states["done"]]
    return game.view(states, states["to_move"])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"parallel_simulations": 5},
        {"solver": False, "noise": 0.25, "first_play_reduction": 0.2},
        {"reuse": True, "parallel_simulations": 2},
        {"trees": 2, "threads": 2},
        {"gumbel": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("game", [GAME, HEXAGON], ids=repr)
def test_the_waves_find_what_the_stages_find(game, settings):
    views, network, found = views_of(game), network_of(game), []
    seeds = np.arange(len(views), dtype=np.uint64)
    for evaluator in (network, Stages(network)):
        search, workspace = make_search(simulations=150, evaluator=evaluator, **settings), Workspace()
        results = [search.run(game, views, seeds, workspace=workspace) for _ in range(1 + ("reuse" in settings))][-1]
        found.append(results)
    for one, other in zip(*found, strict=True):
        assert one.visits.tolist() == other.visits.tolist()
        np.testing.assert_allclose(one.value, other.value, atol=1e-5)


@pytest.mark.parametrize(
    "game",
    [GAME, Chameleon(size=4, swap_rule=False), Chameleon(size=4, allow_resign=True), HEXAGON],
    ids=repr,
)
def test_inputs_are_numbers_of_the_observation(game):
    """So that a learner, which has observations, computes what the search does."""
    rng = np.random.default_rng(1)
    states = np.concatenate([positions(game, rng, plies, 4) for plies in range(9)])
    states = states[~states["done"]]
    inputs, size = game._network_inputs(), zero_weights(game, 1, 1).first.shape[0]
    identity = zero_weights(game, size, 1)._replace(first=np.eye(size, dtype=np.float32))
    sums, names = SmallNetwork(game, identity).sums(states)
    seen = game.observe(game.view(states, states["to_move"])).reshape(len(states), -1)
    which = seen[:, inputs.perspective_sources].argmax(axis=1)
    assert set(which.tolist()) == set(range(len(inputs.actions)))
    assert (seen[:, inputs.perspective_sources].sum(axis=1) == 1).all()
    assert np.array_equal(sums, np.take_along_axis(seen, inputs.sources[which], axis=1))
    assert np.array_equal(names, inputs.actions[which])


@pytest.mark.parametrize(("game", "word"), [(GAME, "swap"), (HEXAGON, "black")], ids=repr)
def test_sums_of_every_node_are_those_of_its_position(game, word):
    """Whatever moves led there, words among them; beside those of the tree before."""
    views, network = views_of(game), network_of(game)
    search, workspace = Search(simulations=200, evaluator=network, reuse=True), Workspace()
    for _ in range(2):
        search.run(game, views, np.random.default_rng(1), workspace=workspace)
    memory, words = workspace.newest(0), 0
    tree = memory.tree
    for g in range(len(views)):
        states = tree.states[g, : tree.sizes[g]].view(game.dtype)[:, 0]
        expected = np.empty(memory.accumulators[g, : len(states)].shape, np.float32)
        network.accumulate(states, expected)
        np.testing.assert_allclose(memory.accumulators[g, : len(states)], expected, atol=1e-5)
        words += (states["last_action"] == game.string_to_action(word)).sum()
    assert words


def test_a_tree_without_room_goes_on():
    [result] = Search(seconds=1.0, memory=1, evaluator=network_of(GAME), solver=False).run(
        GAME, views_of(GAME)[:1], np.random.default_rng(1)
    )
    assert result.simulations == result.visits.sum() > result.nodes


@pytest.mark.parametrize("game", [GAME, *OTHERS], ids=repr)
def test_priors_and_values(game):
    """Of any game; those of a game's own inputs do not depend on which side is whose."""
    views = views_of(game)
    network, masks = network_of(game), game.legal_action_mask(views)
    priors, values = network(game, views, masks, np.zeros(len(views), np.uint64), None)
    np.testing.assert_allclose(priors.sum(axis=1), 1, atol=1e-5)
    assert not priors[~masks].any()
    np.testing.assert_allclose(values.sum(axis=1), 0, atol=1e-5)
    assert values.std() > 0.01
    for result in Search(simulations=30, evaluator=network).run(game, views, np.random.default_rng(1)):
        assert result.visits.sum() == result.simulations
    if game is GAME:
        mirror = next(symmetry for symmetry in game.symmetries if symmetry.name == "mirror")
        same, equal = network(game, game.transform(views, mirror), masks[:, mirror.actions], np.zeros(0), None)
        np.testing.assert_allclose(same[:, mirror.actions], priors, atol=1e-6)
        np.testing.assert_allclose(equal, values, atol=1e-6)


def test_files_and_names(tmp_path):
    network, path, views = network_of(GAME), tmp_path / "net.npz", views_of(GAME)
    network.save(path)
    for again in (SmallNetwork.load(path), pickle.loads(pickle.dumps(network))):
        assert again.game == GAME
        assert all((one == other).all() for one, other in zip(again.weights, network.weights, strict=True))
    actions = make_agent(f"mcts:simulations=20,network={path}").act(GAME, views, np.random.default_rng(1))
    assert GAME.legal_action_mask(views)[np.arange(len(views)), actions].all()
    other = Chameleon(size=3)
    with pytest.raises(ValueError, match=r"positions of Chameleon\(size=4.*, not of Chameleon\(size=3"):
        Search(simulations=5, evaluator=network).run(other, views_of(other), np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"weights 'first' are float32 \(32, 24\): expected \(18, 24\)"):
        SmallNetwork(other, network.weights)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"is not a small network: expected an \.npz file"):
        make_agent(f"mcts:network={path}")


def test_the_network_of_the_package():
    """By its name alone: it finds the win in one."""
    game = Chameleon(size=7, swap_rule=False)
    assert SmallNetwork.load("chameleon7.npz").game == game
    states = game.init(1, np.random.default_rng(0))
    for k in range(6):
        for move in (f"d{k + 1}x", f"{'abcefg'[k]}1o"):
            game.step(states, [game.string_to_action(move)])
    [best] = make_agent("mcts:simulations=60,network=chameleon7.npz").act(game, states, np.random.default_rng(0))
    game.step(states, [best])
    assert states["returns"][0].tolist() == [1, -1]
    with pytest.raises(ValueError, match="there is no file"):
        SmallNetwork.load("chameleon8.npz")
