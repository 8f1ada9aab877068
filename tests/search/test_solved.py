"""The search beside exact outcomes: it plays an optimal action, and what it calls proven is so."""

import numpy as np
import pytest
from pbm_agents import Search

from pbm_envs import Trinim, make_game
from tests.reference import solver
from tests.search.solved import as_solver, positions_after, solved

pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7

# Game, options, plies from .. to, positions, simulations, number of legal actions up to which the outcome is surely
# proven. (Two players of Trinim 3 always draw, T7.)
CASES = [
    ("chameleon", {"size": 3}, 1, 5, 200, 1000, 12),
    ("chameleon", {"size": 4}, 6, 10, 200, 2000, 12),
    ("unlur", {"radius": 3}, 9, 13, 100, 4000, 8),
    ("trinim", {"size": 5}, 4, 7, 200, 10_000, 10),
    pytest.param("trinim", {"size": 6}, 7, 10, 200, 10_000, 10, marks=pytest.mark.slow),
]
LARGER = [
    ("chameleon", {"size": 3}, 1, 5, 200, 1000),
    ("chameleon", {"size": 4}, 5, 10, 200, 2000),
    ("unlur", {"radius": 3}, 8, 13, 200, 4000),
    ("trinim", {"size": 5}, 4, 7, 200, 10_000),
    ("trinim", {"size": 6}, 6, 10, 200, 10_000),
]
THREE = [(3, 1, 4, 200), (5, 5, 9, 100), (6, 9, 14, 100)]
"""Size, plies from .. to, positions of three players."""


def play_and_compare(name, options, first, last, count, simulations):
    game = make_game(name, **options)
    states, worths = solved(name, tuple(options.items()), first, last, count)
    results = Search(simulations=simulations).run(game, game.view(states, states["to_move"]), np.random.default_rng(0))
    highest = np.nanmax(worths, axis=1)
    optimal = sum(worths[row, result.best] == highest[row] for row, result in enumerate(results))
    assert optimal >= 0.99 * count, f"{optimal} of {count} moves of {game!r} are optimal"
    for row, result in enumerate(results):
        where = game.to_text(states[row])
        assert (result.values[result.proven_actions] == worths[row, result.proven_actions]).all(), where
        assert np.isfinite(worths[row, result.proven_actions]).all()
        if result.proven:
            assert result.value[result.player] == highest[row] == worths[row, result.best], where
            assert result.value.sum() == 0
    return game, states, results


@pytest.mark.parametrize(("name", "options", "first", "last", "count", "simulations", "few"), CASES, ids=str)
def test_an_optimal_action_is_played_and_proofs_are_right(name, options, first, last, count, simulations, few):
    """In 99 of 100 positions; and where few actions are left, the outcome is proven."""
    game, states, results = play_and_compare(name, options, first, last, count, simulations)
    small = game.legal_action_mask(states).sum(axis=1) <= few
    assert small.sum() >= 10
    assert all(result.proven for result, is_small in zip(results, small, strict=True) if is_small)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options", "first", "last", "count", "simulations"), LARGER, ids=str)
def test_an_optimal_action_is_played_in_many_positions(name, options, first, last, count, simulations):
    play_and_compare(name, options, first, last, count, simulations)


@pytest.mark.parametrize(("size", "first", "last", "count"), THREE)
def test_proofs_among_three(size, first, last, count):
    """A proven outcome is that of all rational play, however players choose among equally good moves; a proven win is
    had whatever the others do; a win that can be forced is found.
    """
    game, rng = Trinim(size=size, num_players=3), np.random.default_rng(size)
    states = positions_after(game, rng, rng.integers(first, last + 1, size=count))
    results = Search(simulations=2000).run(game, states, rng)
    won = 0
    for state, result in zip(states, results, strict=True):
        rules, position = as_solver(game, state)
        can_force = [solver.forces(rules, position, player, {}) for player in range(3)]
        if result.proven:
            assert solver.equilibria(rules, position, {}) == {tuple(result.value)}, game.to_text(state)
            assert can_force == (result.value == 1).tolist() or result.value.max() < 1
        if can_force[result.player]:
            won += 1
            assert result.proven
            assert result.value[result.player] == result.values[result.best] == 1
    assert won > len(states) / 10
    assert sum(result.proven for result in results) > len(states) / 2


def test_what_equally_good_moves_leave_open_is_not_proven():
    """The mover takes one of the last two pieces, the next player the other, and the third has won or drawn by that."""
    game, rng = Trinim(size=3, num_players=3), np.random.default_rng(0)
    states = positions_after(game, rng, [3] * 400)
    results = Search(simulations=500).run(game, states, rng)
    ends = [solver.equilibria(*as_solver(game, state), {}) for state in states]
    unsure = [result for result, returns in zip(results, ends, strict=True) if len(returns) > 1]
    assert unsure
    assert not any(result.proven for result in unsure)
    assert any(result.proven_actions[result.visits > 0].all() for result in unsure), "though every action is"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("chameleon", {"size": 3}),
        ("chameleon", {"size": 4, "swap_rule": False}),
        ("unlur", {"radius": 3}),
        ("trinim", {"size": 5}),
        ("trinim", {"size": 6, "num_players": 3}),
    ],
    ids=str,
)
def test_the_solver_knows_the_rules(name, options):
    """Its moves, and which of them end the game and how, are those of the game: it is a third implementation."""
    game, rng = make_game(name, **options), np.random.default_rng(1)
    for state in positions_after(game, rng, rng.integers(0, 14, size=60)):
        rules, position = as_solver(game, state)
        moves = {game.string_to_action(text): (after, over) for text, after, over in rules.moves(position)}
        legal = np.flatnonzero(game.legal_action_mask(np.array([state]))[0])
        assert sorted(moves) == legal.tolist()
        stepped = np.repeat(np.array([state]), len(legal))
        game.step(stepped, legal)
        for action, after in zip(legal.tolist(), stepped, strict=True):
            expected, over = moves[action]
            assert (None if not after["done"] else tuple(after["returns"].tolist())) == over
            assert over is not None or as_solver(game, after)[1] == expected


def test_the_solver_on_whole_games():
    """Chameleon 3x3: the second player can always swap. Trinim 3: two players draw (T7)."""
    for name, size, outcome in (("chameleon", 3, (-1.0, 1.0)), ("trinim", 3, (0.0, 0.0))):
        game = make_game(name, size=size)
        state = game.init(1, np.random.default_rng(0))
        rules, position = as_solver(game, state[0])
        assert solver.solve(rules, position, {}) == outcome
        assert solver.equilibria(rules, position, {}) == {outcome}
