"""Playouts that save bridges: which cell saves one, and that games so played are games by the rules."""

import numpy as np
import pytest

from pbm_envs import Chameleon, Unlur
from pbm_envs.core.boards import NO_CELL
from pbm_envs.games.chains import broken_bridges
from pbm_envs.testing import random_actions
from tests.reference import solver
from tests.search.solved import bits

GAMES = [Chameleon(size=5), Unlur(radius=4)]


def beside(game, cell):
    return {int(other) for other in game.board.neighbours[cell] if other != NO_CELL}


def saving_cells(game, stones, cell, mark):
    """Empty neighbours that, with `cell`, lie between two stones of `mark`, or between one and an edge of the board."""
    found = set()
    for other in beside(game, cell):
        between = [stones[third] == mark for third in beside(game, cell) & beside(game, other)]
        one_edge = bool(game.board.edges[cell] & game.board.edges[other])
        if stones[other] == 0 and (sum(between) == 2 or (sum(between) == 1 and one_edge)):
            found.add(other)
    return found


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_the_cell_that_saves_a_bridge(game):
    rng, bridges = np.random.default_rng(3), 0
    for _ in range(300):
        stones = rng.choice(3, size=game.board.size, p=[0.6, 0.2, 0.2]).astype(np.int8)
        cell = int(rng.integers(game.board.size))
        stones[cell] = 2
        cells = saving_cells(game, stones, cell, 1)
        found = int(broken_bridges(stones, cell, 1, game._around, game.board.edges))
        assert {int(game._around[cell, k]) for k in range(6) if found >> k & 1} == cells
        bridges += len(cells) > 0
    assert bridges > 30


def winner(game, state):
    """By the reference: who has won with the stones on the board, or None if both sides have joined theirs."""
    first, second = bits(state["stones"] == 1), bits(state["stones"] == 2)
    mover = 1 - int(state["to_move"])
    if game.name == "chameleon":
        rules = solver.Chameleon(game.options["size"], game.options["swap_rule"])
        joined = [rules.joined(first), rules.joined(second)]
        vertical, horizontal = any(one[0] for one in joined), any(one[1] for one in joined)
        assert vertical or horizontal
        vert = int(state["vert"])
        return mover if vertical and horizontal else vert if vertical else 1 - vert
    rules, black = solver.Unlur(game.options["radius"]), int(state["black"])
    (y, line) = rules.figures(first if mover == black else second)
    assert y or line
    own = y if mover == black else line
    return mover if own else 1 - mover


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_games_that_save_bridges_end_by_the_rules(game):
    rng = np.random.default_rng(4)
    states = game.init(60, rng)
    for ply in range(8):
        rows = np.arange(60) % 8 > ply
        some = states[rows]
        game.step(some, random_actions(game, some, rng))
        states[rows] = some
    before, players = states.copy(), np.full((60, game.num_actions), -1, np.int8)
    game.playout(states, rng, save_bridges=True, last_player_by_action=players)
    for old, state, by in zip(before, states, players, strict=True):
        assert state["done"]
        assert int(np.argmax(state["returns"])) == winner(game, state)
        new = (state["stones"] != 0) & (old["stones"] == 0)
        assert (state["stones"][old["stones"] != 0] == old["stones"][old["stones"] != 0]).all()
        assert (by >= 0).sum() == new.sum()
        places = {int(action) // (2 if game.name == "chameleon" else 1) for action in np.flatnonzero(by >= 0)}
        assert places == set(np.flatnonzero(new).tolist())


def test_a_broken_bridge_is_saved_at_once():
    """x on c3 and d1 of Chameleon 5 are joined by c2 and d2: after o on c2 the next stone is x on d2."""
    game, rng = Chameleon(size=5, swap_rule=False), np.random.default_rng(1)
    states = game.init(50, rng)
    for move in ("c3x", "a5o", "d1x", "c2o"):
        game.step(states, np.full(50, game.string_to_action(move)))
    players = np.full((50, game.num_actions), -1, np.int8)
    mover = int(states["to_move"][0])
    game.playout(states, rng, save_bridges=True, last_player_by_action=players)
    assert (players[:, game.string_to_action("d2x")] == mover).all()
