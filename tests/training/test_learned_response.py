"""Learned responses: what they win is what their policies are worth on the public tree; they find most of the best."""

import numpy as np
import pytest

from pbm_envs import Curio, make_game
from pbm_envs.games.curio.ladder import ladder

pytestmark = [pytest.mark.libraries, pytest.mark.usefixtures("one_thread")]
pytest.importorskip("torch")

from pbm_agents import make_agent
from pbm_agents.equilibrium import Policy, PublicTree, agent_policy, best_response, expected_value
from pbm_agents.equilibrium.evaluation import MemoizedAgent
from pbm_agents.equilibrium.learned_response import LearnedResponder
from pbm_agents.players.agent import RandomAgent

from tests.commands import output_of

STEPS = 20_000


def worths(policy, network):
    """What the network's most probable actions win in each seat, exactly."""
    tree = policy.tree

    def most(seen, masks):
        return np.eye(masks.shape[1])[network.priors_and_values(seen, masks)[0].argmax(axis=1)]

    answer = Policy.from_function(tree, most)
    movers = np.repeat(tree.set_player, np.diff(tree.set_choices))
    both = [np.where(movers == seat, answer.probabilities, policy.probabilities) for seat in range(2)]
    return [(1 - 2 * seat) * expected_value(tree, Policy(tree, both[seat])) for seat in range(2)]


@pytest.mark.parametrize("name", ["random", "greedy"])
def test_learning_finds_most_of_a_best_response(name):
    """More than nine tenths with few steps, an untrained network much less; and it wins what it is worth."""
    game = Curio(**ladder(1))
    tree = PublicTree.build(game)
    agent = MemoizedAgent(make_agent(name), samples=4)
    policy = agent_policy(tree, agent)
    exact = [best_response(tree, policy, seat).value for seat in range(2)]
    responder = LearnedResponder(game, agent, steps=STEPS, learning_rate=3e-3)
    worth = worths(policy, responder.train(np.random.default_rng(1)))
    assert all(mine <= best + 1e-9 for mine, best in zip(worth, exact, strict=True))
    assert sum(worth) > 0.9 * sum(exact)
    untrained = LearnedResponder(game, agent, steps=1, learning_rate=0.0).train(np.random.default_rng(1))
    assert sum(worths(policy, untrained)) < 0.7 * sum(exact)

    found = responder.run(400, np.random.default_rng(1))  # the same seed, the same network
    assert found.games == 400
    for seat in range(2):
        assert found.values[seat] == pytest.approx(worth[seat], abs=4 * found.errors[seat] + 1e-9)


def test_a_game_of_perfect_information():
    """Against random play, on one side and on the other."""
    found = LearnedResponder(make_game("chameleon", size=3), RandomAgent(), steps=40_000).run(
        50, np.random.default_rng(3)
    )
    assert found.exploitability > 0.7


def test_settings_are_checked():
    for name in ("steps", "envs", "moves", "epochs"):
        responder = LearnedResponder(Curio(**ladder(1)), RandomAgent(), **{name: 0})
        with pytest.raises(ValueError, match=f"{name} is 0"):
            responder.train(np.random.default_rng(1))


def test_the_command():
    said = output_of("exploit random -g curio-ladder-1 --method learned --steps 5000 --games 20")
    assert "learned (PPO)" in said
    assert "at least" in said
