"""Approximate best responses find nearly what exact ones do; `pbm exploit`."""

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.equilibrium import (
    PolicyAgent,
    PublicTree,
    SearchResponder,
    TableResponder,
    agent_policy,
    best_response,
    cfr_plus,
    expected_value,
    exploitability,
)
from pbm_agents.equilibrium.evaluation import MemoizedAgent
from pbm_agents.equilibrium.growth import set_ups, with_views
from pbm_agents.equilibrium.hash_table import insert_all, locate_all, resized, slots_for
from pbm_agents.equilibrium.response_table import ResponseTable, table_policy
from pbm_agents.players.agent import RandomAgent

from pbm_envs import Curio
from pbm_envs.games.curio.ladder import ladder
from tests.commands import output_of, pbm
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


@pytest.mark.parametrize(("name", "share"), [("plain", 0.97), ("hidden", 0.95), ("hidden totals", 0.95)])
def test_a_table_finds_nearly_a_best_response(name, share):
    """Compared with exact best responses to random play, on small games."""
    built = tree(name)
    policy = built.uniform_policy()
    tables = TableResponder(built.game, RandomAgent(), steps=400_000).train(np.random.default_rng(3))
    for seat, table in enumerate(tables):
        exact = best_response(built, policy, seat).value
        found = (1 - 2 * seat) * expected_value(built, table_policy(policy, table))
        assert share * exact < found <= exact + 1e-12


def test_a_table_plays_what_its_policy_is_worth():
    """The winnings in games agree with the value on the public tree; equal seeds give equal results."""
    built = tree("hidden")
    responder = TableResponder(built.game, RandomAgent(), steps=20_000)
    found = responder.run(2_000, np.random.default_rng(4))
    tables = responder.train(np.random.default_rng(4))
    for seat, table in enumerate(tables):
        value = (1 - 2 * seat) * expected_value(built, table_policy(built.uniform_policy(), table))
        assert abs(found.values[seat] - value) < 4 * found.errors[seat]
    assert responder.run(2_000, np.random.default_rng(4)) == found


def test_simulations_are_counted_once():
    """In each known state the simulations that ended are those that began, and the states below have no more."""
    game = Curio(**ladder(1))
    table = ResponseTable(game, MemoizedAgent(RandomAgent()), 0, 1.0)
    rng = np.random.default_rng(8)
    for _ in range(20):
        table.simulate(game.init(50, rng), np.zeros(50, np.uint64), rng)
    statistics = table._table
    used = int(statistics.starts[table.states])
    assert np.array_equal(statistics.begun[:used], statistics.ended[:used])
    assert (np.abs(statistics.totals[:used]) <= statistics.ended[:used] + 1e-9).all()
    first = with_views(np.zeros(len(worlds := set_ups(game)[0]), np.uint64), game.view(worlds, 0))
    keys = statistics.keys[: table.states].tolist()
    rows = [keys.index(key) for key in np.unique(first).tolist()]
    ended = [statistics.ended[statistics.starts[row] : statistics.starts[row + 1]].sum() for row in rows]
    assert sum(ended) == 20 * 50
    assert (table.best(first) >= 0).all()
    assert table.best(np.array([12345], np.uint64)).tolist() == [-1]


def test_a_table_grows_and_keeps_what_it_knows():
    keys = np.random.default_rng(2).integers(0, 2**63, 5_000).astype(np.uint64)
    slots, known = slots_for(10), np.zeros(10, np.uint64)
    insert_all(slots, known, keys[:10], 0)
    known = resized(known, 5_000)
    slots = slots_for(5_000, known, 10)
    insert_all(slots, known, keys[10:], 10)
    found = np.empty(5_000, np.int64)
    locate_all(slots, known, keys, found)
    assert np.array_equal(found, np.arange(5_000))
    locate_all(slots, known, keys ^ np.uint64(1 << 63), found)
    assert (found == -1).all()


def test_a_policy_as_an_agent():
    """Where views tell all information sets apart, an agent of a policy has that policy."""
    built = tree("plain")
    agent = PolicyAgent(cfr_plus(built, 10))
    policy = agent_policy(built, agent)
    assert exploitability(built, policy) == pytest.approx(exploitability(built, cfr_plus(built, 10)), abs=0.05)
    with pytest.raises(ValueError, match="whose policy this is"):
        agent.probabilities(Curio(), Curio().view(Curio().init(1, np.random.default_rng(1)), 0))


def test_search_where_there_are_too_many_worlds_to_list():
    """Particles, thrown away and drawn anew; the default board."""
    responder = SearchResponder(Curio(no_capture_limit=4), RandomAgent(), simulations=4, particles=20, batch=4)
    found = responder.run(4, np.random.default_rng(1))
    assert found.games == 4
    assert all(-1 <= value <= 1 for value in found.values)
    with pytest.raises(ValueError, match="games is 1"):
        responder.run(1, np.random.default_rng(1))


def test_the_command():
    said = output_of("exploit random -g curio-ladder-1")
    built = PublicTree.build(Curio(**ladder(1)))
    assert f"{exploitability(built, built.uniform_policy()):.6f}" in said
    assert "602 information sets" in said
    for words, message in [
        (["random", "-g", "curio-ladder-1", "--method", "guess"], "method is 'guess'"),
        (["random", "-g", "curio", "--method", "exact"], "set-ups: expected at most"),
        (["nobody", "-g", "curio-ladder-1"], "is not an agent"),
    ]:
        code, _, err = pbm("exploit", *words)
        assert code == 2
        assert message in " ".join(err.split())


def test_a_slow_agent_fits_a_budget():
    """With no time at all every move still gets a simulation, and all games are finished."""
    responder = SearchResponder(Curio(no_capture_limit=4), make_agent("champion:simulations=1"), batch=4, seconds=1e-6)
    found = responder.run(2, np.random.default_rng(1))
    assert found.games == 2
    assert all(-1 <= value <= 1 for value in found.values)


def test_the_command_learns_a_table():
    said = output_of("exploit random -g curio-ladder-1 --method table --steps 20000 --games 100")
    assert "table (UCT)" in said
    assert "at least 0." in said


def test_the_command_bounds_what_it_samples():
    said = output_of("exploit mcts:simulations=2 -g curio-ladder-1 --samples 2")
    assert "2 samples" in said


def test_the_command_turns_to_search():
    said = output_of("exploit random -g curio-ladder-3 --memory 0.01 --games 4 --simulations 4")
    assert "a search instead" in said
    assert "at least" in said
