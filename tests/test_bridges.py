"""Playouts that save bridges: which cell saves one, and that games so played are games by the rules."""

from collections import Counter

import numpy as np
import pytest

from pbm_envs import Chameleon, Unlur
from pbm_envs.core.boards import NO_CELL
from pbm_envs.games.chains import broken_bridges, marks_beside, saving_cell
from pbm_envs.testing import positions, random_actions
from tests.curio.positions import chi_square_bound
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
        marks = marks_beside(stones, cell, game._around)
        found = int(broken_bridges(marks, cell, 1, game._around, game.board.edges))
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
        word = state["vert"] != old["vert"] if game.name == "chameleon" else old["black"] < 0
        assert state["ply"] - old["ply"] == new.sum() + word
        assert state["to_move"] == (old["to_move"] + state["ply"] - old["ply"]) % 2
        assert (state["stones"][old["stones"] != 0] == old["stones"][old["stones"] != 0]).all()
        assert (by >= 0).sum() == new.sum()
        places = {int(action) // (2 if game.name == "chameleon" else 1) for action in np.flatnonzero(by >= 0)}
        assert places == set(np.flatnonzero(new).tolist())


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_every_saving_cell_is_equally_likely(game):
    around, edges = game._around, game.board.edges
    cell = next(cell for cell in range(game.board.size) if len(beside(game, cell)) == 6)
    for spared in range(2):
        stones = np.zeros(game.board.size, np.int8)
        stones[around[cell, [0, 2, 4][spared:]]] = 1
        stones[cell] = 2
        cells, seeds = saving_cells(game, stones, cell, 1), np.arange(1, 1201, dtype=np.uint64)
        bridges = broken_bridges(marks_beside(stones, cell, around), cell, 1, around, edges)
        drawn = Counter(int(saving_cell(bridges, cell, around, seeds, row)) for row in range(len(seeds)))
        assert set(drawn) == cells
        assert len(cells) == 3 - 2 * spared
        expected = len(seeds) / len(cells)
        assert sum((n - expected) ** 2 / expected for n in drawn.values()) < chi_square_bound(len(cells))


def answers(game, state):
    """The actions that save a bridge which the last one has broken."""
    action = int(state["last_action"])
    if game.name == "chameleon":
        mark = 2 - action % 2
        return sorted(2 * cell + mark - 1 for cell in saving_cells(game, state["stones"], action // 2, mark))
    return sorted(saving_cells(game, state["stones"], action, 3 - int(state["stones"][action])))


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_bridge_that_was_just_broken_is_saved_unless_that_loses(game):
    """By a stone on one of the cells that save it, of the mark that was joined, by whoever moves, in every playout."""
    rng, saved, spared = np.random.default_rng(6), 0, 0
    for state in np.concatenate([positions(game, rng, plies, batch=30) for plies in (6, 10, 14, 20, 26)]):
        if (
            state["done"]
            or int(state["last_action"]) in game.cell_free_actions
            or (game.name == "unlur" and state["black"] < 0)
        ):
            continue
        actions, mover = answers(game, state), int(state["to_move"])
        if not actions:
            continue
        legal = np.flatnonzero(game.legal_action_mask(state[None])[0])
        after = np.repeat(state[None], len(legal), axis=0)
        game.step(after, legal)
        losing = set(legal[after["returns"][:, mover] < 0].tolist()) if game.name == "unlur" else set()
        states, players = np.repeat(state[None], 12, axis=0), np.full((12, game.num_actions), -1, np.int8)
        game.playout(states, rng, save_bridges=True, last_player_by_action=players)
        if not losing & set(actions):
            assert (players[:, actions] == mover).any(axis=1).all()
            saved += 1
        elif losing != set(legal.tolist()):
            at_once = states["ply"] == state["ply"] + 1
            assert not np.isin(states["last_action"][at_once], list(losing)).any()
            spared += 1
    assert saved > 15
    assert spared > 0 or game.name == "chameleon"


@pytest.mark.parametrize("save_bridges", [False, True])
@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_every_move_that_wins_at_once_is_tried(game, save_bridges):
    """In late positions, of 120 playouts some begin with it: where no bridge was broken, any free cell may be next."""
    rng, wins = np.random.default_rng(7), 0
    for state in positions(game, rng, 30 if game.name == "unlur" else 20, batch=60):
        if state["done"] or (save_bridges and answers(game, state)) or state["ply"] < 10:
            continue
        legal = np.flatnonzero(game.legal_action_mask(state[None])[0])
        after = np.repeat(state[None], len(legal), axis=0)
        game.step(after, legal)
        winning = set(legal[after["returns"][:, int(state["to_move"])] > 0].tolist())
        states = np.repeat(state[None], 120, axis=0)
        game.playout(states, rng, save_bridges=save_bridges)
        at_once = states["ply"] == state["ply"] + 1
        if len(legal) <= 20:
            assert winning <= set(states["last_action"][at_once].tolist())
            wins += len(winning)
    assert wins > 10


@pytest.mark.parametrize("save_bridges", [False, True])
def test_who_swaps_where_no_bridge_is_broken(save_bridges):
    """Of the 17 answers to a first stone on Chameleon 3 one is the swap; both marks are equally likely."""
    game, count = Chameleon(size=3), 3400
    states = game.init(count, np.random.default_rng(8))
    game.step(states, np.full(count, game.string_to_action("b2x")))
    before = states["vert"].copy()
    game.playout(states, np.random.default_rng(9), save_bridges=save_bridges)
    swapped = states["vert"] != before
    later = game.init(300, np.random.default_rng(8))
    for move in ("a1x", "c3o"):
        game.step(later, np.full(300, game.string_to_action(move)))
    before = later["vert"].copy()
    game.playout(later, np.random.default_rng(9), save_bridges=save_bridges)
    assert (later["vert"] == before).all()
    assert abs(swapped.sum() - count / 17) < 5 * (count / 17) ** 0.5
    assert (states["ply"] == (states["stones"] != 0).sum(axis=1) + swapped).all()
    new = np.delete(states["stones"], game.board.names.index("b2"), axis=1)
    marks = [(new == mark).sum() for mark in (1, 2)]
    if save_bridges:  # there are more bridges of x, which was there first
        assert min(marks) > 0.3 * sum(marks)
    else:
        assert abs(marks[0] - marks[1]) < 5 * sum(marks) ** 0.5
