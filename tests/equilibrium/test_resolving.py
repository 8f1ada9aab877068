"""Continual resolving: hard to exploit, the more it sees the less; the agent plays what the policy says."""

import numpy as np
import pytest
from pbm_agents import evaluate, make_agent
from pbm_agents.equilibrium import (
    PublicTree,
    Resolving,
    ResolvingAgent,
    expected_value,
    exploitability,
    resolving_policy,
    solve,
)
from pbm_agents.equilibrium.lookahead import Belief, Lookahead
from pbm_agents.equilibrium.resolving import Plan

from pbm_envs import Chameleon, Curio, Trinim
from tests.commands import output_of, pbm
from tests.equilibrium.games import VARIANTS, tree


def test_who_sees_the_end_plays_an_equilibrium():
    """Also after the first move, where each plan knows nothing of the others but what they left the opponent."""
    built = tree("hidden")
    policy, plans = resolving_policy(built, Resolving(iterations=100, size=1 << 30))
    assert np.isfinite(policy.probabilities).all()
    assert plans == built.num_public_nodes + 1  # one more from the start, for the player who does not begin
    assert exploitability(built, policy) < 0.003
    worth = expected_value(built, solve(built, until=1e-5))
    assert expected_value(built, policy) == pytest.approx(worth, abs=0.004)


def test_seeing_more_helps():
    built = tree("hidden")
    found = [
        exploitability(built, resolving_policy(built, Resolving(iterations=30, size=size))[0]) for size in (1, 1 << 30)
    ]
    assert found[1] < 0.05 < found[0] < exploitability(built, built.uniform_policy())


def test_lookaheads_are_the_tops_of_trees():
    """Uncut it is the tree; cut, it has the same information sets as far as it goes, and playouts below."""
    built, game = tree("hidden"), VARIANTS["hidden"]
    start, rng = Belief.start(built.starts, built.chances), np.random.default_rng(0)
    whole = Lookahead(game, start, 0, size=1 << 30, playouts=1, rng=rng)
    assert np.array_equal(whole.tree.children, built.children)
    assert np.array_equal(whole.tree.set_pairs, built.set_pairs)
    assert len(whole.levels[-1].worlds) == len(whole.cut_values) == 0
    short = Lookahead(game, start, 0, size=1, playouts=400, rng=rng)
    assert short.tree.depth == 2  # to the searcher's next move
    assert np.array_equal(short.tree.set_pairs, built.set_pairs[: len(short.tree.set_pairs)])
    assert len(short.cut_values) == len(short.levels[2].worlds)
    value, exact = (expected_value(some, some.uniform_policy()) for some in (short.tree, built))
    assert value == pytest.approx(exact, abs=0.01)


def test_a_plan_gives_no_more_away_than_the_one_before():
    """The gadget: what a best response gets below is what the last plan left it, but for what is not yet solved."""
    built, game = tree("hidden"), VARIANTS["hidden"]
    search, rng = Resolving(iterations=400, size=1 << 30), np.random.default_rng(0)
    plan = search.plan(game, Belief.start(built.starts, built.chances), 0, rng)
    looked_at = 0
    for depth, rows in plan.ahead.next_nodes():
        belief = plan.belief_at(depth, rows)
        if belief.gains is None or len(belief.states) == 1:
            continue
        again = search.plan(game, belief, 0, rng)
        left = np.bincount(again.ahead.opponent_sets, belief.gains[again.ahead.levels[0].worlds])
        gets = np.bincount(again.ahead.opponent_sets, again._gains[: again.ahead.tree.num_roots])
        assert (gets <= left + 0.01).all()
        looked_at += 1
    assert looked_at > 5


@pytest.mark.slow
def test_the_agent_plays_the_policy():
    """In games against random play, from its own views alone: its plans are those of `resolving_policy`."""
    built, agent = tree("plain"), ResolvingAgent(iterations=20, size=1 << 30)
    policy, _ = resolving_policy(built, agent.search)
    where = {view.tobytes(): s for s, view in enumerate(views_of(built))}
    for seat in range(2):
        check_plans(agent, seat, policy, where)


def check_plans(agent, seat, policy, where):
    """Five games against random play; `where` says which information set of the policy's tree a view is in."""
    game = VARIANTS["plain"]
    rng, ids, moves = np.random.default_rng(seat), np.arange(5), 0
    states = game.init(len(ids), rng)
    agent.begin_games(game, ids)
    while not states["done"].all():
        rows = np.flatnonzero(~states["done"])
        mover = int(states["to_move"][rows[0]])
        views = game.view(states[rows], mover)
        if mover == seat:
            actions = agent.act(game, views, rng, ids[rows])
            for row, view, action in zip(rows, without_gaps(views), actions, strict=True):
                expected = policy.at(where[view.tobytes()])
                plan = agent._plans[int(ids[row])]
                assert plan.policy.at(plan.ahead.root_set(game.view(states[row : row + 1], seat))) == pytest.approx(
                    expected
                )
                assert expected[int(action)] > 0
                moves += 1
        else:
            actions = make_agent("random").act(game, views, rng)
        chosen = np.zeros(len(ids), np.int64)
        chosen[rows] = actions
        game.step(states, chosen)
    assert moves >= len(ids)
    agent.end_games(ids)
    assert not agent._plans


def views_of(built):
    return np.concatenate([without_gaps(views) for _, _, views in built.views_by_batch(512)])


def without_gaps(views):
    return views.astype(np.dtype([(name, views.dtype[name]) for name in views.dtype.names]))


def test_games_with_too_many_set_ups():
    """The default board, with worlds drawn anew; by name, on the clock."""
    agent = make_agent("resolve:seconds=0.01,worlds=2,playouts=1")
    found = evaluate(agent, Curio(no_capture_limit=4), games=4, seed=1)["random"]
    assert found.games == 4


def test_games_without_secrets_and_from_positions():
    """Perfect information is the case of one world; a board of one's own is looked at anew for each move."""
    game = Chameleon(size=3)
    found = evaluate("resolve:iterations=20,size=400", game, games=20, seed=2)["random"]
    assert found.score.value > 0.6
    small, agent = VARIANTS["plain"], ResolvingAgent(iterations=5)
    states = small.init(1, np.random.default_rng(0), "D22 . ./L11 L12 .")
    agent.begin_games(small, np.array([7]))
    action = agent.act(small, small.view(states, 0), np.random.default_rng(0), np.array([7]))
    assert small.legal_action_mask(states)[0, action[0]]


def test_settings_are_checked():
    for wrong, message in [
        ({"iterations": 0}, "iterations is 0"),
        ({"size": 0}, "size is 0"),
        ({"seconds": 0.0}, "seconds is 0.0: expected a number from"),
    ]:
        with pytest.raises(ValueError, match=message):
            Resolving(**wrong)
    with pytest.raises(ValueError, match="has 3 players: expected two"):
        ResolvingAgent().begin_games(Trinim(size=3, num_players=3), np.array([1]))


def test_a_plan_is_known_by_its_view():
    built = tree("plain")
    ahead = Lookahead(
        built.game, Belief.start(built.starts, built.chances), 0, size=1, playouts=1, rng=np.random.default_rng(0)
    )
    plan = Plan(ahead)
    assert plan.ahead.root_set(built.view(1)) == 1
    with pytest.raises(LookupError, match="no world of the belief"):
        ahead.root_set(built.view(built.num_information_sets - 1))
    assert isinstance(built, PublicTree)


def test_the_command():
    assert "602 information sets" in output_of("exploit resolve:iterations=3,size=1 -g curio-ladder-1")
    code, _, err = pbm("exploit resolve -g curio-ladder-1 --method search")
    assert code == 2
    assert "remembers its games" in err
