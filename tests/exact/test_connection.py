"""Endings of Chameleon and Unlur beside the solver of tests/reference, which tries everything from rules.md alone."""

import pickle

import numpy as np
import pytest
from pbm_agents import Search, make_agent
from pbm_agents.exact import ConnectionSolver, VerifiedSearchAgent
from pbm_agents.search import make_search

from pbm_envs import Chameleon, Trinim, Unlur
from tests.search.solved import positions_after, solved

CASES = [
    ("chameleon", (("size", 3),), 1, 4),
    ("chameleon", (("size", 4),), 7, 10),
    pytest.param("unlur", (("radius", 3),), 8, 12, marks=pytest.mark.slow),
    ("unlur", (("radius", 3),), 10, 12),
]


@pytest.mark.parametrize(("name", "options", "first", "last"), CASES, ids=str)
def test_what_every_move_is_worth(name, options, first, last):
    states, worths = solved(name, options, first, last, 60)
    game = {"chameleon": Chameleon, "unlur": Unlur}[name](**dict(options))
    found = ConnectionSolver(game).action_values(states)
    if name == "unlur":  # where the contract is still open only `black` is solved
        contract = states["black"] < 0
        assert (~contract).sum() > 20
        assert np.isin(found[contract], (0, 1, -1)).sum() == (~np.isnan(worths[contract])).sum()
        states, worths, found = states[~contract], worths[~contract], found[~contract]
    np.testing.assert_array_equal(found, worths)
    np.testing.assert_array_equal(ConnectionSolver(game).values(states), np.nanmax(worths, axis=1))


@pytest.mark.parametrize("game", [Chameleon(size=5), Chameleon(size=7), Unlur(radius=4)], ids=repr)
def test_moves_and_positions_agree_on_larger_boards_and_in_symmetric_positions(game):
    """A position is won if and only if some move wins; a symmetric one is worth the same, to a solver of its own."""
    rng, plies = np.random.default_rng(5), 12 if game.name == "chameleon" else 23
    plies = 34 if game.board.size == 49 else plies
    states, solver = positions_after(game, rng, np.full(200, plies)), ConnectionSolver(game)
    states = states[states["black"] >= 0][:25] if game.name == "unlur" else states[:25]
    values, moves = solver.values(states), solver.action_values(states)
    assert len(set(values.tolist())) == 2
    assert len(values) > 10
    np.testing.assert_array_equal(np.nanmax(moves, axis=1), values)
    for symmetry in game.symmetries:
        np.testing.assert_array_equal(ConnectionSolver(game).values(game.transform(states, symmetry)), values)


def test_nothing_is_claimed_that_takes_too_long():
    game, rng = Chameleon(size=5), np.random.default_rng(2)
    states = positions_after(game, rng, np.full(20, 6))
    exact, solver = ConnectionSolver(game).values(states), ConnectionSolver(game)
    few = solver.values(states, nodes=30_000)
    assert solver.nodes <= 30_000
    assert (few == 0).any()
    assert (few != 0).any()
    assert ((few == exact) | (few == 0)).all()
    assert (ConnectionSolver(game).values(states, nodes=0) == 0).all()


def test_what_is_too_large_is_refused():
    for game in (Chameleon(size=8), Unlur(radius=5), Trinim()):
        with pytest.raises(ValueError, match="expected Chameleon up to size 7, or Unlur up to radius 4"):
            ConnectionSolver(game)


@pytest.mark.parametrize("settings", [{"simulations": 1000}, {"seconds": 0.02}], ids=str)
def test_no_won_position_is_lost_where_the_solver_is_done(settings):
    states, worths = solved("chameleon", (("size", 4),), 7, 10, 60)
    agent, game = pickle.loads(pickle.dumps(VerifiedSearchAgent(make_search(**settings)))), Chameleon(size=4)
    assert all(agent.can_help(game, state) for state in states)
    actions = agent.act(game, game.view(states, states["to_move"]), np.random.default_rng(1))
    np.testing.assert_array_equal(worths[np.arange(60), actions], np.nanmax(worths, axis=1))


@pytest.mark.slow
def test_a_weak_search_is_corrected_and_others_are_as_they_were():
    """Few simulations miss most winning moves in these positions; with many nodes the solver finds them."""
    states, worths = solved("unlur", (("radius", 3),), 8, 12, 60)
    game, rng = Unlur(radius=3), np.random.default_rng(1)
    won = (states["black"] >= 0) & (np.nanmax(worths, axis=1) == 1)
    views = game.view(states[won], states["to_move"][won])
    agent = VerifiedSearchAgent(Search(simulations=3))
    agent.nodes = 100_000
    rows = np.arange(len(views))
    assert (worths[won][rows, agent.act(game, views, rng)] == 1).all()
    plain = make_agent("mcts:simulations=3").act(game, views, rng)
    assert (worths[won][rows, plain] == 1).mean() < 0.9
    contract = game.init(1, rng)
    assert not agent.can_help(game, contract[0])
    assert not agent.can_help(Trinim(), Trinim().init(1, rng)[0])
    large = Chameleon(size=8)
    states = large.init(3, rng)
    assert large.legal_action_mask(states)[np.arange(3), agent.act(large, states, rng)].all()
