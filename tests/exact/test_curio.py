"""Forced wins of Curio beside the rules of tests/reference, tried to the end line by line."""

import pickle

import numpy as np
import pytest
from pbm_agents.exact import CurioSolver

from pbm_envs import Curio, Trinim
from pbm_envs.testing import random_actions
from tests.reference import curio as reference

SMALL = {"base": 2, "rows": 4, "cols": 3}
OPTIONS = [
    {},
    {"turn": False, "face": "random", "num_pieces": 3},
    {"capture": "ge_total", "no_capture_limit": 4},
    {"capture": "any", "limit": False, "face": "small"},
    {"capture": "le_total", "turn": False},
    {"capture": "gt", "no_capture_limit": 3, "face": "small"},
]


def can_force(rules, attacker, own_moves):
    """Whether the attacker wins within so many own moves, whatever the other player does: every line is played."""
    if rules.done or own_moves == 0:
        return rules.done and rules.returns[attacker] == 1
    ends = (can_force(after(rules, move), attacker, own_moves - (rules.to_move == attacker)) for move in rules.legal())
    return any(ends) if rules.to_move == attacker else all(ends)


def after(rules, move):
    copied = rules.copy()
    copied.play(move)
    return copied


def winning_moves(rules, own_moves):
    mover = rules.to_move
    return {move for move in rules.legal() if can_force(after(rules, move), mover, own_moves - 1)}


def positions(game, rng, count):
    """The reference and the state of each position, after some random plies of games with few pieces left."""
    while count:
        state = game.init(1, rng)
        rules = reference.Curio(game.board_to_string(state), **game.options)
        for _ in range(rng.integers(2, 16)):
            if not state["done"][0]:
                [action] = random_actions(game, state, rng)
                rules.play(game.action_to_string(int(action)))
                game.step(state, [action])
        if not state["done"][0] and len(rules.legal()) <= 12:
            count -= 1
            yield rules, state


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
def test_a_win_is_found_where_every_line_of_play_says_so(options):
    """The fewest own moves, up to two; the action is one of those that win so."""
    game, rng = Curio(**SMALL, **options), np.random.default_rng(4)
    solver, found = CurioSolver(game), {0: 0, 1: 0, 2: 0}
    for rules, state in positions(game, rng, 40):
        before = state.copy()
        by_moves = {own_moves: winning_moves(rules, own_moves) for own_moves in (1, 2)}
        fewest = next((own_moves for own_moves in (1, 2) if by_moves[own_moves]), 0)
        for own_moves in (1, 2):
            action = solver.winning_action(state, own_moves)
            if fewest and own_moves >= fewest:
                assert game.action_to_string(action) in by_moves[fewest]
            else:
                assert action is None
        found[fewest] += 1
        assert state == before
    assert min(found[0], found[1] + found[2]) > 0


@pytest.mark.slow
def test_wins_in_three_own_moves():
    """Random positions, and the fewest own moves."""
    game, rng = Curio(**SMALL), np.random.default_rng(9)
    for rules, state in positions(game, rng, 12):
        winning = {own_moves: winning_moves(rules, own_moves) for own_moves in (1, 2, 3)}
        fewest = next((own_moves for own_moves in winning if winning[own_moves]), 0)
        action = CurioSolver(game).winning_action(state, 3)
        assert (action is None) == (fewest == 0)
        assert action is None or game.action_to_string(action) in winning[fewest]


def test_what_takes_too_long_is_not_claimed_and_wins_that_are_found_are_won():
    """The winner plays what is found, with one own move less each time; the other player at random."""
    game, rng = Curio(base=3, rows=4, cols=4), np.random.default_rng(6)
    solver, won = pickle.loads(pickle.dumps(CurioSolver(game))), 0
    for state in game.init(12, rng)[:, None]:
        for _ in range(16):
            if not state["done"][0]:
                game.step(state, random_actions(game, state, rng))
        if state["done"][0]:
            continue
        winner = int(state["to_move"][0])
        if solver.winning_action(state, 4, nodes=3000) is None:
            assert solver.nodes <= 3000
            continue
        for left in range(4, 0, -1):
            game.step(state, [solver.winning_action(state, left)])
            if not state["done"][0]:
                game.step(state, random_actions(game, state, rng))
            if state["done"][0]:
                break
        assert state["returns"][0, winner] == 1
        won += 1
    assert won > 2
    assert solver.winning_action(game.init(1, rng), nodes=0) is None


def test_other_games_are_refused():
    with pytest.raises(ValueError, match="expected Curio"):
        CurioSolver(Trinim())


def test_an_option_that_the_kernels_do_not_know_is_refused():
    game = Curio(**SMALL)
    game.options = {**game.options, "moat": True}
    with pytest.raises(ValueError, match="no search of lines knows: moat"):
        CurioSolver(game)
