"""Update-equivalent search: its policies beside brute force, what may not matter, and what it plays."""

import numpy as np
import pytest
from pbm_agents import RandomAgent, evaluate, make_agent
from pbm_agents.equilibrium import MirrorAgent, agent_policy, exploitability
from pbm_agents.equilibrium.mirror import has_values, playout_values, regularized
from scipy.optimize import minimize

from pbm_envs import Chameleon, Curio
from pbm_envs.authoring import copy_states, take_rows
from tests.equilibrium.games import VARIANTS, tree


def test_the_policy_maximizes_value_and_entropy():
    """Beside a numerical optimizer, which knows nothing of exponentials."""
    values, temperature = np.array([0.3, -0.2, 0.25, 0.9]), 0.4
    masks = np.array([True, True, True, False])
    policy = regularized(values[None], masks[None], temperature)[0]

    def loss(logits):
        likely = np.exp(logits) / np.exp(logits).sum()
        return -(likely @ values[:3]) + temperature * (likely @ np.log(likely))

    best = minimize(loss, np.zeros(3), tol=1e-12).x
    assert policy[:3] == pytest.approx(np.exp(best) / np.exp(best).sum(), abs=1e-4)
    assert policy[3] == 0


def exact_value(game, state, player):
    """The mean result of random play from a full state, by trying everything."""
    if state["done"][0]:
        return float(state["returns"][0, player])
    legal = np.flatnonzero(game.legal_action_mask(state)[0])
    return float(np.mean([exact_value(game, after(game, state, action), player) for action in legal]))


def after(game, state, action):
    following = copy_states(state)
    game.step(following, [int(action)])
    return following


def test_playout_values_are_means_over_worlds():
    game, built = VARIANTS["hidden"], tree("hidden")
    information_set = int(np.flatnonzero((np.diff(built.set_pairs) > 2) & (np.diff(built.set_choices) > 1))[-1])
    view, player = built.view(information_set), int(built.set_player[information_set])
    masks = game.legal_action_mask(view)
    worlds = [built.state(pair) for pair in range(*built.set_pairs[information_set : information_set + 2].tolist())]
    found = playout_values(game, view, masks, 20_000, np.random.default_rng(1))[0]
    for action in np.flatnonzero(masks[0]):
        exact = np.mean([exact_value(game, after(game, world, action), player) for world in worlds])
        assert found[action] == pytest.approx(exact, abs=0.03)


def test_more_simulations_are_harder_to_exploit():
    built = tree("hidden")
    few, many = (
        exploitability(built, agent_policy(built, make_agent(f"mirror:simulations={count},temperature=0.1")))
        for count in (5, 1000)
    )
    assert many < few - 0.03 < exploitability(built, built.uniform_policy())


@pytest.mark.parametrize("game", [VARIANTS["hidden"], Curio(base=3, rows=4, cols=4)], ids=["playouts", "champion"])
def test_what_is_hidden_does_not_matter(game):
    """Two worlds that look alike, one of which has other hidden faces, get the same probabilities."""
    rng = np.random.default_rng(5)
    states = game.init(4, rng)
    views = game.view(states, 0)
    others = game.determinize(views, rng)
    assert (others["faces"] != states["faces"]).any()
    assert has_values(game) == (game.options["base"] == 3)
    one, other = (
        MirrorAgent(simulations=20, seed=3).probabilities(game, game.view(some, 0)) for some in (states, others)
    )
    assert np.array_equal(one, other)
    assert one.sum(axis=1) == pytest.approx(1)
    assert not one[~game.legal_action_mask(views)].any()


def test_the_budget_in_seconds_and_rows_of_other_sizes():
    game, rng = VARIANTS["longer"], np.random.default_rng(2)
    states = take_rows(game.init(3, rng), np.arange(3))
    actions = make_agent("mirror:seconds=0.001").act(game, game.view(states, 0), rng)
    assert game.legal_action_mask(states)[np.arange(3), actions].all()


def test_a_high_temperature_is_uniform_play_and_a_low_one_wins():
    game = Chameleon(size=3)
    view = game.view(game.init(1, np.random.default_rng(0)), 0)
    flat = MirrorAgent(simulations=90, temperature=1000.0).probabilities(game, view)[0]
    legal = RandomAgent().probabilities(game, view)[0]
    assert flat == pytest.approx(legal, abs=1e-3)
    found = evaluate("mirror:simulations=300,temperature=0.01", game, games=40, seed=2)["random"]
    assert found.score.value > 0.6
