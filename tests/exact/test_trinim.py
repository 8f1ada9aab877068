"""The solution of Trinim beside the solver of tests/reference, which tries everything from rules.md alone."""

import time

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.exact import ExactAgent, TrinimSolver

from pbm_envs import Chameleon, Trinim
from tests.reference import solver
from tests.search.solved import as_solver, positions_after, solved

pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7


@pytest.mark.parametrize(
    ("size", "first", "last"), [(5, 5, 8), pytest.param(6, 7, 10, marks=pytest.mark.slow)], ids=str
)
def test_what_every_move_is_worth_with_two_players(size, first, last):
    states, worths = solved("trinim", (("size", size),), first, last, 40)
    np.testing.assert_array_equal(TrinimSolver().action_values(Trinim(size=size), states), worths)


def test_draws_and_boards_with_gaps_and_any_number_of_pieces_of_a_colour():
    game, rng = Trinim(size=5), np.random.default_rng(3)
    boards = ["r/.g/b.b/rr.g/..b.r", "./rr/g.g/....", "r/rr/rrr/...."]
    for board in [f"{board}/....." if board.count("/") == 3 else board for board in boards]:
        states = game.init(1, rng, board=board)
        rules, position = as_solver(game, states[0])
        [values] = TrinimSolver().action_values(game, states)
        worth = solver.worths(rules, position, {})
        assert {game.string_to_action(text): value for text, value in worth.items()} == {
            action: values[action] for action in np.flatnonzero(~np.isnan(values)).tolist()
        }


def test_whole_games_of_size_3_of_two_players_are_draws():
    game = Trinim(size=3)
    states = game.init(20, np.random.default_rng(1))
    assert (TrinimSolver().values(game, states) == 0).all()


def uniform(rules, position, known):
    """The mean returns if every player plays one of the moves that are best for them so, all equally likely."""
    if position not in known:
        ends = [uniform(rules, after, known) if over is None else over for _, after, over in rules.moves(position)]
        own = [returns[position[-1]] for returns in ends]
        known[position] = np.mean([end for end, mine in zip(ends, own, strict=True) if mine > max(own) - 1e-9], axis=0)
    return known[position]


@pytest.mark.parametrize(("size", "plies"), [(3, 1), (5, 7)])
def test_three_players_who_do_not_stray(size, plies):
    game, rng = Trinim(size=size, num_players=3), np.random.default_rng(5)
    states = positions_after(game, rng, np.full(30, plies))
    for state, values in zip(states, TrinimSolver(temperature=0).values(game, states), strict=True):
        rules, position = as_solver(game, state)
        np.testing.assert_allclose(values, uniform(rules, position, {}), atol=1e-3)


def test_three_players_who_stray_expect_what_all_their_moves_together_are_worth():
    game, rng = Trinim(size=3, num_players=3), np.random.default_rng(6)
    states, asked = game.init(10, rng), TrinimSolver(temperature=0.1)
    for row, worth in enumerate(asked.action_values(game, states)):
        legal = worth[~np.isnan(worth)]
        weights = (1 + (legal.max() - legal) / 0.1) ** -2
        expected = (weights @ legal) / weights.sum()
        assert asked.values(game, states[row : row + 1])[0, 0] == pytest.approx(expected, abs=1e-5)


def test_three_players_of_whom_one_has_resigned_are_two():
    game, rng = Trinim(size=5, num_players=3, allow_resign=True), np.random.default_rng(4)
    states = positions_after(game, rng, np.full(20, 4))
    states = states[~states["out"].any(axis=1)]
    game.step(states, np.full(len(states), game.resign_action))
    values = TrinimSolver().values(game, states)
    for state, value in zip(states, values, strict=True):
        gone = int(np.flatnonzero(state["out"])[0])
        assert value[gone] == -0.5
        assert value.sum() == pytest.approx(0)
        left = sorted(np.delete(value, gone).tolist())
        assert left in ([-0.5, 1.0], [0.25, 0.25])
    agent = make_agent("exact")
    while not states["done"].all():  # the value is what perfect play gives
        rows = np.flatnonzero(~states["done"])
        some = states[rows]
        game.step(some, agent.act(game, game.view(some, some["to_move"]), rng))
        states[rows] = some
    np.testing.assert_allclose(states["returns"], values)


def test_no_won_position_is_ever_lost():
    """Against random play and against the search, from both seats: whoever has a won position wins."""
    game, rng = Trinim(size=5), np.random.default_rng(8)
    agent, solver_ = make_agent("exact"), TrinimSolver(kept=100)
    for opponent in (make_agent("random"), make_agent("mcts:simulations=200")):
        states = game.init(40, rng)
        seat = np.arange(40) % 2
        won = np.zeros(40, np.bool_)
        while not states["done"].all():
            for acting, mine in ((agent, True), (opponent, False)):
                rows = np.flatnonzero(~states["done"] & ((states["to_move"] == seat) == mine))
                if len(rows):
                    some = states[rows]
                    values = solver_.values(game, some)
                    won[rows] |= values[np.arange(len(rows)), seat[rows]] == 1
                    game.step(some, acting.act(game, game.view(some, some["to_move"]), rng))
                    states[rows] = some
        assert won.sum() > 20
        assert (states["returns"][won, seat[won]] == 1).all()


def test_a_lost_position_is_made_hard():
    """Of equally good moves one is chosen after which the fewest replies are good."""
    game, rng, asked = Trinim(size=5), np.random.default_rng(2), TrinimSolver(kept=100)
    states = game.init(30, rng)
    lost = states[asked.values(game, states)[:, 0] == -1]
    actions = ExactAgent().act(game, lost, rng)
    for state, action in zip(lost, actions, strict=True):
        shares = {}
        for move in np.flatnonzero(game.legal_action_mask(np.array([state]))[0]).tolist():
            after = np.array([state])
            game.step(after, [move])
            worth = asked.action_values(game, after)[0]
            shares[move] = np.mean(worth[~np.isnan(worth)] == 1)
        assert shares[int(action)] == min(shares.values())


@pytest.mark.parametrize("size", [5, 6])
def test_any_position_is_solved_in_five_seconds(size):
    game, rng = Trinim(size=size), np.random.default_rng(1)
    states = game.init(3, rng)
    TrinimSolver().values(game, states[:1])  # compiles
    start = time.process_time()
    TrinimSolver().action_values(game, states[1:2])
    assert time.process_time() - start < 5


def test_what_is_too_large_is_searched():
    game, rng = Trinim(size=6), np.random.default_rng(1)
    states = game.init(2, rng)
    agent = make_agent("exact:pieces=10,simulations=50")
    actions = agent.act(game, game.view(states, 0), rng)
    assert game.legal_action_mask(states)[np.arange(2), actions].all()
    assert not agent.solves(game, states[0])
    other = Chameleon(size=3)
    assert agent.act(other, other.init(1, rng), rng).shape == (1,)


@pytest.mark.parametrize("name", ["exact:pieces=99", "exact:pieces=-1", "exact:pieces_of_three=21"])
def test_sizes_that_no_machine_can_solve_are_refused(name):
    with pytest.raises(ValueError, match="expected"):
        make_agent(name)


def test_other_games_are_refused():
    with pytest.raises(ValueError, match="expected Trinim"):
        TrinimSolver().solution(Chameleon(size=3), Chameleon(size=3).init(1, np.random.default_rng(0))[0])
