"""Determinization by the Markov chain: uniform where all worlds are known, and where rejection can still tell (C15)."""

from functools import partial

import numpy as np
import pytest

from pbm_envs import Curio, sample_actions
from pbm_envs.core.randomness import seeds
from tests.curio.positions import chi_square_bound, expect_uniform
from tests.curio.test_worlds import moments
from tests.play import play

DRAWS = 12
"""Of each world, on average."""
HARD = {"turn": False, "reveal_captured": False}


def by_chain(game, views, rng):
    """As `determinize`, but none by rejection."""
    return game._run_chains(views, seeds(rng, len(views)))


@pytest.mark.parametrize(("shape", "games"), [("3x3", 9), pytest.param("4x3", 54, marks=pytest.mark.slow)])
def test_draws_every_world_and_nothing_else_equally_often(shape, games):
    rng = np.random.default_rng(6)
    cases = (moment.case(partial(by_chain, moment.game, rng=rng)) for moment in moments(shape, games))
    assert expect_uniform(cases, DRAWS, missing=True) > 2 * games


def middle(game, plies, seed):
    """A game after so many random plies, or before its end."""
    rng = np.random.default_rng(seed)
    states = game.init(1, rng)
    for _ in range(plies):
        before = states.copy()
        game.step(states, sample_actions(game.legal_action_mask(states), rng))
        if states["done"][0]:
            return before
    return states


def rejected(game, view, rng, count):
    """So many worlds of a view by rejection alone."""
    found = []
    while sum(map(len, found)) < count:
        worlds, good = game._draw_worlds(np.repeat(view, 4096), seeds(rng, 4096))
        found.append(worlds[good])
    return np.concatenate(found)[:count]


@pytest.mark.parametrize(
    ("size", "pieces", "plies", "face"),
    [
        (5, 10, 60, "random"),
        pytest.param(8, 20, 150, "random", marks=pytest.mark.slow),
        pytest.param(8, 20, 150, "large", marks=pytest.mark.slow),
    ],
)
def test_large_positions_agree_with_rejection(size, pieces, plies, face):
    game, rng, count = Curio(rows=size, cols=size, num_pieces=pieces, face=face, **HARD), np.random.default_rng(5), 3000
    view = game.view(middle(game, plies, 3), 0)
    expect_alike(view, rejected(game, view, rng, count), by_chain(game, np.repeat(view, count), rng))


@pytest.mark.slow
def test_rare_worlds_are_as_likely_as_in_a_chain_four_times_as_long():
    """A view of 12x12 cells with 64 captures between unknown pieces: one sweep in twenty comes to a world."""
    game = Curio(rows=12, cols=12, num_pieces=70, face="random", capture="le", **HARD)
    view = np.repeat(game.view(middle(game, 1500, 128), 0), 300)
    usual, long = (game._run_chains(view, seeds(np.random.default_rng(k), len(view)), k) for k in (1, 4))
    expect_alike(view, usual, long)


def expect_alike(view, one_way, another):
    """What each piece hides, and what pairs of pieces hide together, equally often in two sets of worlds."""
    hidden = np.flatnonzero((view["faces"][0, :, 1] == 0) & (view["owner"][0] >= 0))
    first, second = one_way["faces"][:, hidden, 1], another["faces"][:, hidden, 1]
    pairs = [(j, j) for j in range(len(hidden))] + [(j, (j + 7) % len(hidden)) for j in range(len(hidden))]
    for j, k in pairs:
        one, other = (np.bincount(5 * faces[:, j] + faces[:, k], minlength=25) for faces in (first, second))
        both = one + other
        often = both > 0
        chi_square = ((one - other)[often] ** 2 / both[often]).sum()
        assert chi_square < chi_square_bound(often.sum() - 1), (hidden[j], hidden[k])


def test_a_large_board_on_which_nobody_can_capture():
    """C11: every pair of pieces is known not to capture."""
    game = Curio(base=2, rows=12, cols=12, capture="lt", face="random", **HARD)
    rows = [5 * [" ".join(12 * [piece])] for piece in ("D22", "L22")]
    states = play(game, "", "/".join([*rows[0], *2 * [" ".join(12 * ".")], *rows[1]]))
    assert states["done"][0]
    for player in range(2):
        view = game.view(states, player)
        assert game.view(by_chain(game, view, np.random.default_rng(1)), player) == view


def test_nothing_is_drawn_for_full_states():
    """A batch may hold states beside views; at base 6 all go to the chain."""
    game = Curio(base=6, rows=12, cols=12, face="random")
    states = game.init(2, np.random.default_rng(2))
    mixed = np.concatenate([states[:1], game.view(states[1:], 0)])
    drawn = game.determinize(mixed, np.random.default_rng(1))
    assert drawn[0] == states[0]
    assert game.view(drawn[1:], 0) == mixed[1:]


@pytest.mark.slow
@pytest.mark.parametrize("capture", ["le", "le_total"])
def test_a_view_takes_no_longer_where_rejection_would_take_for_ever(capture):
    """12x12 cells, 70 pieces a side: worlds that look the same, along a whole game."""
    game = Curio(rows=12, cols=12, num_pieces=70, face="random", capture=capture, **HARD)
    rng, states = np.random.default_rng(4), middle(game, 0, 4)
    while not states["done"][0]:
        game.step(states, sample_actions(game.legal_action_mask(states), rng))
        if states["ply"][0] % 100 == 0 or states["done"][0]:
            for player in range(2):
                view = game.view(states, player)
                again = game.view(game.determinize(view, rng), player)
                assert all((again[name] == view[name]).all() for name in game.dtype.names)
