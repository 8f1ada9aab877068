"""Approximate best responses find nearly what exact ones do; `pbm exploit`."""

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.cli.app import app
from pbm_agents.equilibrium import PublicTree, agent_policy, best_response, exploitability
from pbm_agents.equilibrium.evaluation import MemoizedAgent
from pbm_agents.equilibrium.responses import SearchResponder
from pbm_agents.players.agent import RandomAgent
from typer.testing import CliRunner

from pbm_envs import Curio
from pbm_envs.games.curio.ladder import ladder
from tests.equilibrium.games import tree


def test_a_memoized_agent_has_one_policy():
    built = tree("hidden")
    agent = MemoizedAgent(make_agent("ismcts:simulations=8"), samples=3)
    first, again = agent_policy(built, agent), agent_policy(built, agent)
    assert np.array_equal(first.probabilities, again.probabilities)
    assert set(np.round(first.probabilities * 3, 6)) <= {0, 1, 2, 3}
    views = built.view(0)
    drawn = [int(agent.act(built.game, views, np.random.default_rng(k))[0]) for k in range(30)]
    assert set(drawn) == {action for action, chance in first.at(0).items() if chance > 0}


def test_search_finds_most_of_a_best_response():
    """Of random play on the first rung, within what chance allows."""
    game = Curio(**ladder(1))
    built = PublicTree.build(game)
    exact = [best_response(built, built.uniform_policy(), seat).value for seat in range(2)]
    found = SearchResponder(game, RandomAgent(), simulations=100, batch=100).run(200, np.random.default_rng(5))
    for seat in range(2):
        assert found.values[seat] > exact[seat] - 0.1 - 3 * found.errors[seat]
        assert found.values[seat] < exact[seat] + 3 * found.errors[seat]
    low, high = found.interval
    assert low < found.exploitability < high
    assert found.exploitability == pytest.approx(sum(found.values) / 2)


def test_search_where_there_are_too_many_worlds_to_list():
    """Particles, thrown away and drawn anew; the default board."""
    responder = SearchResponder(Curio(no_capture_limit=4), RandomAgent(), simulations=4, particles=20, batch=4)
    found = responder.run(4, np.random.default_rng(1))
    assert found.games == 4
    assert all(-1 <= value <= 1 for value in found.values)
    with pytest.raises(ValueError, match="games is 1"):
        responder.run(1, np.random.default_rng(1))


def test_the_command():
    result = CliRunner().invoke(app, ["exploit", "random", "-g", "curio-ladder-1"])
    assert result.exit_code == 0, result.output
    built = PublicTree.build(Curio(**ladder(1)))
    assert f"{exploitability(built, built.uniform_policy()):.6f}" in result.output
    assert "602 information sets" in result.output
    for words, message in [
        (["random", "-g", "curio-ladder-1", "--method", "guess"], "method is 'guess'"),
        (["random", "-g", "curio", "--method", "exact"], "set-ups: expected at most"),
        (["nobody", "-g", "curio-ladder-1"], "is not an agent"),
    ]:
        result = CliRunner().invoke(app, ["exploit", *words])
        assert result.exit_code == 2
        assert message in " ".join(result.output.split())


def test_a_slow_agent_fits_a_budget():
    """With no time at all every move still gets a simulation, and all games are finished."""
    responder = SearchResponder(Curio(no_capture_limit=4), make_agent("champion:simulations=1"), batch=4, seconds=1e-6)
    found = responder.run(2, np.random.default_rng(1))
    assert found.games == 2
    assert all(-1 <= value <= 1 for value in found.values)


def test_the_command_bounds_what_it_samples():
    words = ["exploit", "mcts:simulations=2", "-g", "curio-ladder-1", "--samples", "2"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "2 samples" in result.output


def test_the_command_turns_to_search():
    words = ["exploit", "random", "-g", "curio-ladder-3", "--memory", "0.01", "--games", "4", "--simulations", "4"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert "a search instead" in result.output
    assert "at least" in result.output
