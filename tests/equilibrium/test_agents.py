"""Policies of agents, and endgames."""

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.equilibrium import (
    Policy,
    Trunk,
    agent_policy,
    best_response,
    expected_value,
    exploitability,
    exploitability_bounds,
    solve,
)
from pbm_agents.equilibrium.evaluation import ProbabilityAgent
from pbm_agents.players.agent import RandomAgent

from tests.equilibrium.games import VARIANTS, tree
from tests.equilibrium.test_solutions import random_policy


class Player:
    """Plays a policy of a tree at random, and keeps what it is given."""

    def __init__(self, policy):
        self.policy = policy
        self.sets = {}
        for first, _, views in policy.tree.views_by_batch(64):
            for s, view in enumerate(views, start=first):
                self.sets.setdefault(self.key(view), set()).add(s)

    @staticmethod
    def key(view):
        return tuple(view[name].tobytes() for name in view.dtype.names)

    def act(self, game, views, rng):
        assert (views["viewer"] == views["to_move"]).all()
        return np.array([rng.choice(list(at), p=list(at.values())) for at in map(self.at, views)])

    def at(self, view):
        return self.policy.at(min(self.sets[self.key(view)]))


def test_who_gives_probabilities_is_asked_for_them():
    built = tree("hidden")
    assert isinstance(RandomAgent(), ProbabilityAgent)
    assert not isinstance(make_agent("mcts:simulations=4"), ProbabilityAgent)
    policy = agent_policy(built, RandomAgent())
    assert np.allclose(policy.probabilities, built.uniform_policy().probabilities)


def test_nobody_resigns_at_random():
    built = tree("resignation")
    policy = agent_policy(built, RandomAgent())
    resigns = built.choice_actions == built.game.resign_action
    assert (policy.probabilities[resigns] == 0).all()


@pytest.mark.slow
def test_who_only_acts_is_sampled():
    built = tree("plain")
    player = Player(random_policy(built, 4))
    policy = agent_policy(built, player, samples=100, seed=3)
    expected = np.concatenate([list(player.at(built.view(s)[0]).values()) for s in range(built.num_information_sets)])
    assert np.abs(policy.probabilities - expected).max() < 0.3
    assert np.allclose(policy.probabilities * 100, np.round(policy.probabilities * 100))
    with pytest.raises(ValueError, match="samples is 0"):
        agent_policy(built, player, samples=0)


class Mute:
    """Plays as an agent that gives probabilities, but gives none."""

    def __init__(self, agent):
        self.act = agent.act


@pytest.mark.parametrize("name", ["plain", "hidden"])
def test_two_halves_of_samples_bound_the_exploitability(name):
    """Beside the exact value, which an agent that gives probabilities gets from either bound."""
    built, width = tree(name), 1.0
    exact = exploitability(built, built.uniform_policy())
    told = exploitability_bounds(built, RandomAgent())
    assert told.low == told.high
    assert sum(told.high) / 2 == pytest.approx(exact)
    for samples in (2, 8, 32):
        found = [exploitability_bounds(built, Mute(RandomAgent()), samples=samples, seed=seed) for seed in range(3)]
        low, high = (np.mean([getattr(some, side) for some in found]) for side in ("low", "high"))
        assert low <= exact + 0.01
        assert exact <= high
        assert high - low < width
        width = high - low
    assert width < 0.1
    with pytest.raises(ValueError, match="samples is 1"):
        exploitability_bounds(built, RandomAgent(), samples=1)


def test_the_agent_equilibrium_is_hardly_exploitable():
    agent = make_agent("equilibrium:until=0.001")
    for name in ("plain", "hidden"):
        assert exploitability(tree(name), agent_policy(tree(name), agent)) < 0.005
    game = VARIANTS["hidden"]
    foreign = game.init(1, np.random.default_rng(0), "D22 . ./L11 L12 .")
    with pytest.raises(ValueError, match="expected games from its own set-ups"):
        agent.act(game, game.view(foreign, 0), np.random.default_rng(0))


def test_a_search_is_exploitable():
    """More than an equilibrium, less than random play."""
    built = tree("hidden")
    policy = agent_policy(built, make_agent("ismcts:simulations=64"), samples=4)
    assert 0.05 < exploitability(built, policy) < exploitability(built, built.uniform_policy())


@pytest.mark.parametrize("name", ["plain", "longer", "hidden totals"])
def test_endgames_are_worth_what_backward_induction_says(name):
    """What is found for the trunk holds in the whole tree: whoever answers gains no more there."""
    built = tree(name)
    trunk = Trunk.of(built)
    assert trunk.tree.num_information_sets == trunk.kept.sum() < built.num_information_sets
    assert np.diff(trunk.tree.node_pairs).min() > 1
    for seed in range(2):
        policy = random_policy(trunk.tree, seed)
        whole = trunk.extend(policy)
        assert expected_value(built, whole) == pytest.approx(expected_value(trunk.tree, policy))
        assert exploitability(built, whole) == pytest.approx(exploitability(trunk.tree, policy))
        for player in range(2):
            losses = best_response(built, whole, player).losses
            assert losses[~trunk.kept] == pytest.approx(0)
            assert losses[trunk.kept] == pytest.approx(best_response(trunk.tree, policy, player).losses)
    for s in np.flatnonzero(trunk.kept)[::50]:
        assert trunk.tree.moves(int(trunk.kept[:s].sum())) == built.moves(int(s))


def test_solve():
    built = tree("longer")
    policy = solve(built, until=1e-5)
    assert isinstance(policy, Policy)
    assert exploitability(built, policy) <= 1e-5
    assert expected_value(built, policy) == pytest.approx(7 / 12, abs=2e-5)


def test_a_game_without_secrets_is_all_endgame():
    from pbm_agents.equilibrium import PublicTree
    from pbm_agents.equilibrium.growth import set_ups

    game = VARIANTS["plain"]
    with pytest.raises(ValueError, match="nothing but endgame"):
        Trunk.of(PublicTree.build(game, worlds=set_ups(game)[0][:1]))
