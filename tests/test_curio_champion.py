"""Curio's champion: its search beside a slow witness that plays by the rules, its values, and what it may not know."""

import itertools
import pickle
import threading
import types
from functools import cache

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.champions import ChampionAgent, CurioValues, LinesAgent
from pbm_agents.champions.curio import MARGIN, Weights, empty_position, load_weights, save_weights
from pbm_agents.champions.lines import ALL_CAPTURES, INFINITE, WON, expected_outcomes, search, value_moves
from pbm_agents.champions.position import (
    ALLOWED,
    LOOKED_AT,
    MOST_CAPTURES,
    PIECE_SCALE,
    UNIT_SCALE,
    UNITS,
    set_up,
    value_of,
)
from pbm_agents.players.search_agents import SearchAgent
from pbm_agents.search.ending import end_searches_when

from pbm_envs import Curio
from pbm_envs.testing import equal, random_actions
from pbm_envs.testing import positions as positions_of
from tests.play import play_pairs

SMALL = Curio(base=3, rows=4, cols=4)
BLOCKED = "D12 . ./. . ./D22 D22 ./L11 D22 ."
FEW = "D21 . D11/. . ./. L22 ./L11 . ."


def positions(game, plies=(0, 4, 9, 16, 25), each=3, seed=3):
    rng = np.random.default_rng(seed)
    states = np.concatenate([positions_of(game, rng, count, each) for count in plies])
    return states[~states["done"]]


def random_weights(game, seed=1):
    rng, base, small = np.random.default_rng(seed), game.options["base"], PIECE_SCALE // 2
    pieces = rng.integers(-small, small, (2, base, base, game.board.size, UNITS), np.int16)
    biases, outputs = (rng.integers(-most, most, UNITS, np.int32) for most in (small, UNIT_SCALE))
    return Weights(pieces, biases, outputs, 0.6)


def random_values(game, seed=1):
    return CurioValues(game, random_weights(game, seed))


def standing(values, state):
    """The value of a position, from the weights and the state alone."""
    (pieces, biases, outputs, fading), limit = values.weights, values.game.options["no_capture_limit"]
    mover, of = int(state["to_move"][0]), [0, 0]
    for player in range(2):
        for k in range(UNITS):
            unit = int(biases[k])
            for slot in [int(slot) for slot in state["board"][0] if slot >= 0]:
                owner, cell = int(state["owner"][0, slot]), int(state["cell"][0, slot])
                near, far = (int(state["faces"][0, slot, side]) for side in (owner, 1 - owner))
                seen = cell if player == 0 else values.game.board.size - 1 - cell
                unit += int(pieces[int(owner != player), near - 1, far - 1, seen, k])
            of[player] += int(outputs[k]) * (max(unit, 0) if k else unit)
    value = (of[mover] - of[1 - mover]) / PIECE_SCALE / UNIT_SCALE
    return value * (1 - fading * state["quiet"][0] / limit) if limit else value


@cache
def cells_of(game):
    return [game.action_cells(action) for action in range(game.num_actions)]


def moves_of(game, state):
    """Each legal action with its cells, and whether it captures."""
    found = []
    for action in np.flatnonzero(game.legal_action_mask(state)[0]):
        cells = cells_of(game)[action]
        found.append((int(action), cells, len(cells) == 2 and state["board"][0, cells[1]] >= 0))
    return found


def witness(values, state, depth, ply=0, on=None):
    """Every line of play by the rules: `depth` plies, then captures, from the third on only of what has captured."""
    game = values.game
    if state["done"][0]:
        last = 1 - int(state["to_move"][0])
        return -(WON - ply + 1) if state["returns"][0, last] == 1 else 0.0
    best = -np.inf
    if depth <= 0:
        best = standing(values, state)
        if depth <= -MOST_CAPTURES:
            return best
    for action, cells, captures in moves_of(game, state):
        if depth <= 0 and (not captures or (depth <= -ALL_CAPTURES and cells[1] != on)):
            continue
        after = state.copy()
        game.step(after, [action])
        best = max(best, -witness(values, after, depth - 1, ply + 1, cells[1] if len(cells) == 2 else None))
    return best


def searched(values, state, depth):
    """The value of a position by the search."""
    position = empty_position(values.game)
    set_up(state, position, values.values)
    return search(position, values.values, int(state["to_move"][0]), 0, depth, -INFINITE, INFINITE)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_values_of_positions_are_those_of_every_line_of_play(depth):
    values, plies = random_values(SMALL), {0: (0, 4, 9, 16), 1: (9, 16, 25), 2: (25, 32)}[depth]
    states = positions(SMALL, plies, each=2)
    for state in states[:, None]:
        assert searched(values, state, depth) == pytest.approx(witness(values, state, depth))
    assert len(states) >= 3


def test_values_of_moves_are_exact_near_the_best_and_bounds_elsewhere():
    values, states, exact = random_values(SMALL), positions(SMALL, plies=(9, 16, 25, 32), each=2), 0
    position = empty_position(SMALL)
    for row in range(len(states)):
        state = states[row : row + 1]
        moves = [(action, cells) for action, cells, _ in moves_of(SMALL, state) if len(cells) == 2]
        if not moves:
            continue
        ends, found = np.array([cells for _, cells in moves]), np.empty(len(moves))
        assert value_moves(state, position, values.values, ends, 1, MARGIN, found) == len(moves)
        best = -np.inf
        for k, (action, cells) in enumerate(moves):
            after = state.copy()
            SMALL.step(after, [action])
            expected = -witness(values, after, 0, 1, cells[1])
            if found[k] > best - MARGIN:
                assert found[k] == pytest.approx(expected)
                exact += 1
            else:
                assert expected <= found[k] + 1e-9
            best = max(best, found[k])
        position.counters[ALLOWED] = 10
        assert value_moves(state, position, values.values, ends, 4, MARGIN, found) < len(moves)
        position.counters[ALLOWED] = 1 << 60
    assert exact > 30


def valued(values, state, depth, margin, position=None):
    """The actions that move a piece, best first by a search of their order, with their values."""
    moves = [(action, cells) for action, cells, _ in moves_of(values.game, state) if len(cells) == 2]
    ends, found = np.array([cells for _, cells in moves]), np.empty(len(moves))
    searched = value_moves(state, position or empty_position(values.game), values.values, ends, depth, margin, found)
    assert searched == len(moves)
    return [moves[k][0] for k in np.argsort(-found, kind="stable")], -np.sort(-found)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_without_a_margin_fewer_positions_give_the_same_best_move(depth):
    """Beyond three plies, late moves are reduced, and which ones depends on the windows."""
    values, same, looked_at = random_values(SMALL), [], np.zeros(2, np.int64)
    for state in positions(SMALL, plies=(9, 16, 25, 32), each=3)[:, None]:
        searches = [empty_position(SMALL) for _ in range(2)]
        exact, narrow = (
            valued(values, state, depth, margin, position)
            for margin, position in zip((MARGIN, 0.0), searches, strict=True)
        )
        looked_at += [position.counters[LOOKED_AT] for position in searches]
        same.append(narrow[0][0] == exact[0][0] and narrow[1][0] == pytest.approx(exact[1][0]))
    assert all(same) if depth <= 3 else np.mean(same) >= 0.5
    assert looked_at[1] < looked_at[0]


def test_remembered_positions_change_no_value():
    """Up to three plies nothing is reduced, so a search with what earlier ones remember finds the same values."""
    values, remembering = random_values(SMALL), empty_position(SMALL)
    for state in positions(SMALL, plies=(9, 16, 25, 32), each=2)[:, None]:
        for depth in (1, 2, 3):
            forgetting = valued(values, state, depth, MARGIN)
            first = valued(values, state, depth, MARGIN, remembering)
            count = remembering.counters[LOOKED_AT]
            second = valued(values, state, depth, MARGIN, remembering)
            for found in (first, second):
                near = forgetting[1] > forgetting[1][0] - MARGIN
                assert found[1][near] == pytest.approx(forgetting[1][near])
            assert remembering.counters[LOOKED_AT] <= count


def test_in_a_known_position_an_unfinished_search_counts_for_the_moves_that_it_has_valued(monkeypatch):
    """The others keep their values, but none stays above the best of those."""
    game = Curio(base=2, rows=4, cols=3)
    agent, state = LinesAgent(CurioValues.simple(game), nodes=1), game.init(1, np.random.default_rng(1), board=FEW)
    depths = []

    def search_world(position, world, ends, depth, spent, start, margin):
        depths.append(depth)
        return np.array([0.3, 0.2, *[0.1] * (len(ends) - 2)] if depth < 2 else [-0.5, -0.1]), spent

    monkeypatch.setattr(agent, "_search_world", search_world)
    ranked = agent.rank(game, state, np.random.default_rng(1))[0]
    legal = np.flatnonzero(game.legal_action_mask(state)[0])
    assert depths[-1] == 2
    assert [action for action, _ in ranked[:2]] == [legal[1], legal[2]]
    assert ranked[-1][0] == legal[0]
    assert ranked[0][1] == ranked[1][1] == pytest.approx(np.tanh(-0.1))


@pytest.mark.parametrize(("board", "depth"), [(BLOCKED, 1), (BLOCKED, 3), (FEW, 2)])
@pytest.mark.parametrize("limit", [2, 3, 100])
def test_passes_and_draws_end_lines_of_play(board, depth, limit):
    """Light can only pass; a limit of a few plies ends lines in draws; of few pieces the last captures are dead."""
    game = Curio(base=2, rows=4, cols=3, no_capture_limit=limit)
    values, state = random_values(game), game.init(1, np.random.default_rng(1), board=board)
    assert (game.legal_action_mask(state)[0].sum() == 1) == (board == BLOCKED)
    assert searched(values, state, depth) == pytest.approx(witness(values, state, depth))


def test_the_earlier_a_win_the_more_it_is_worth():
    values = np.array([WON - 1, WON - 5, 30.0, 9.0, 1.0, 1e-9, 0.0, -9.0, -30.0, 5 - WON, 1 - WON])
    outcomes = np.empty(len(values))
    expected_outcomes(values, outcomes)
    assert (np.diff(outcomes) < 0).all()
    assert outcomes[2:-2] == pytest.approx(np.tanh(values[2:-2]), rel=1e-6, abs=1e-15)
    assert outcomes[1] > 1 >= outcomes[2]
    assert outcomes[6] == 0


@pytest.mark.parametrize("game", [Curio(), SMALL, Curio(base=5, rows=7, cols=6, allow_resign=True)], ids=repr)
def test_it_plays_legal_moves_that_depend_on_nothing_hidden(game):
    agent, rng = make_agent("champion:simulations=40"), np.random.default_rng(4)
    states = positions(game)
    views = game.view(states, states["to_move"])
    others = game.determinize(views, rng)
    assert sum(not equal(states[k : k + 1], others[k : k + 1]) for k in range(len(states))) >= 6
    found = [
        agent.player(game).rank(game, game.view(batch, batch["to_move"]), np.random.default_rng(7))
        for batch in (states, others)
    ]
    assert found[0] == found[1]
    actions = np.array([moves[0][0] for moves in found[0]])
    assert game.legal_action_mask(views)[np.arange(len(views)), actions].all()
    assert (actions != game.resign_action).all()


def test_wins_at_once_are_seen_and_who_can_only_pass_passes():
    """Full states are searched as if everything in them were known."""
    game = Curio(base=2, rows=4, cols=3)
    agent, rng = LinesAgent(CurioValues.simple(game), nodes=50), np.random.default_rng(4)
    states, won = game.init(60, rng), 0
    for _ in range(20):
        game.step(states, random_actions(game, states, rng))
        for state in states[~states["done"]][:, None]:
            after = np.repeat(state, len(legal := np.flatnonzero(game.legal_action_mask(state)[0])))
            game.step(after, legal)
            winning = legal[after["returns"][:, state["to_move"][0]] == 1]
            if len(winning):
                assert agent.act(game, state, rng) in winning
                won += 1
    assert won > 5
    blocked = game.init(1, rng, board=BLOCKED)
    assert game.action_to_string(int(agent.act(game, game.view(blocked, 0), rng)[0])) == "pass"


def test_budgets_and_searches_that_are_ended(monkeypatch):
    values, rng = CurioValues.simple(Curio()), np.random.default_rng(1)
    states = positions(Curio())[:2]
    views = Curio().view(states, states["to_move"])
    for agent in (LinesAgent(values, seconds=0.01), LinesAgent(values, nodes=3000)):
        again = pickle.loads(pickle.dumps(agent))
        assert (again.seconds, again.nodes, again.worlds) == (agent.seconds, agent.nodes, agent.worlds)
        assert np.array_equal(again.values.values.pieces, values.values.pieces)
        assert len(again.act(Curio(), views, rng)) == 2
    large = Curio(base=6, rows=8, cols=8)
    agent, begin = LinesAgent(CurioValues.simple(large), seconds=0.02), large.init(1, rng)
    agent.act(large, large.view(begin, 0), rng)  # compiles
    with monkeypatch.context() as patch:
        clock = itertools.count(0, 0.01)
        patch.setattr("pbm_agents.champions.curio.time", types.SimpleNamespace(perf_counter=lambda: next(clock)))
        agent.act(large, large.view(begin, 0), rng)
        assert next(clock) <= 0.05, "it looks at the clock before it searches one world deeper"
    closed = threading.Event()
    closed.set()
    with end_searches_when(closed.is_set):
        assert len(LinesAgent(values, seconds=1000).act(Curio(), views, rng)) == 2
    for wrong in ({}, {"nodes": 5, "seconds": 1.0}):
        with pytest.raises(ValueError, match="expected one of the two"):
            LinesAgent(values, **wrong)
    for wrong in ({"nodes": 0}, {"nodes": 5, "worlds": 0}, {"seconds": -1.0}):
        with pytest.raises(ValueError, match=f"{list(wrong)[-1]} is"):
            LinesAgent(values, **wrong)
    with pytest.raises(ValueError, match="not of"):
        LinesAgent(values, nodes=5).act(SMALL, SMALL.view(positions(SMALL), 0)[:0], rng)


def exchanged(game, state):
    """The position with the players exchanged: turned around, with the other player to move."""
    other, last = state.copy(), game.board.size - 1
    other["board"] = np.where(state["board"] < 0, -1, last - state["board"])[:, ::-1]
    other["cell"] = np.where(state["cell"] < 0, -1, last - state["cell"])[:, ::-1]
    other["owner"] = np.where(state["owner"] < 0, state["owner"], 1 - state["owner"])[:, ::-1]
    other["faces"] = state["faces"][:, ::-1, ::-1]
    other["to_move"] = 1 - state["to_move"]
    return other


@pytest.mark.parametrize("game", [Curio(), SMALL, Curio(no_capture_limit=None)], ids=repr)
def test_values_follow_the_plain_network_and_exchanged_players_have_opposite_values(game):
    values, position = random_values(game), empty_position(game)
    for state in positions(game)[:, None]:
        mover, quiet = int(state["to_move"][0]), int(state["quiet"][0])
        set_up(state, position, values.values)
        own, enemy = (value_of(position, values.values, player, quiet) for player in (mover, 1 - mover))
        assert own == pytest.approx(standing(values, state))
        assert own == -enemy
        assert searched(values, exchanged(game, state), 0) == searched(values, state, 0)


def test_the_units_are_restored_after_a_search():
    values, position = random_values(SMALL), empty_position(SMALL)
    for state in positions(SMALL)[:, None]:
        set_up(state, position, values.values)
        before, world = position.units.copy(), position.world.copy()
        search(position, values.values, int(state["to_move"][0]), 0, 2, -INFINITE, INFINITE)
        assert np.array_equal(position.units, before)
        assert equal(position.world, world)


def test_learned_values_are_those_of_the_champion_and_do_not_know_left_from_right():
    game = Curio()
    values = ChampionAgent(simulations=5).player(game).values
    pieces = values.weights.pieces.reshape(2, 4, 4, *game.board.shape, UNITS)
    assert np.array_equal(pieces, pieces[:, :, :, :, ::-1])
    assert not np.array_equal(values.weights.pieces, CurioValues.simple(game).weights.pieces)
    simple = ChampionAgent(simulations=5).player(SMALL).values
    assert np.array_equal(simple.weights.pieces, CurioValues.simple(SMALL).weights.pieces)


def test_simple_values_prefer_large_numbers_and_count_royals_less_and_less():
    game = Curio(base=3, rows=6, cols=6, num_pieces=12)
    values = CurioValues.simple(game)
    kinds = values.weights.pieces[0, :, :, 0, 0]
    assert (np.diff(kinds, axis=0) > 0).all()
    assert (np.diff(kinds, axis=1) > 0).all()
    gains = []
    for royals in range(1, 7):
        board = "/".join([". . . . . ."] * 4 + [" ".join(["L33"] * royals + ["."] * (6 - royals)), "D33 . . . . ."])
        state, position = game.init(1, np.random.default_rng(0), board=board), empty_position(game)
        set_up(state, position, values.values)
        gains.append(value_of(position, values.values, 0, 0))
    assert np.diff(gains) == pytest.approx(0.5 + np.array([0.5, 0.35, 0.25, 0.1, 0.0]), abs=0.02)


def test_weights_are_checked(tmp_path):
    game, good = Curio(), random_weights(Curio())
    save_weights(tmp_path / "good.npz", good)
    again = load_weights(tmp_path / "good.npz")
    assert all(np.array_equal(one, other) for one, other in zip(again, good, strict=True))
    for name, wrong, error in (
        ("pieces", good.pieces[:, :3, :3], "pieces are int16"),
        ("pieces", good.pieces.astype(float), "pieces are float64"),
        ("biases", np.full(UNITS, 1 << 40), "biases hold numbers beyond"),
        ("outputs", good.outputs[:3], "outputs are int32"),
        ("fading", float("nan"), "fading is nan"),
        ("fading", 1.5, "fading is 1.5"),
    ):
        with pytest.raises(ValueError, match=error):
            CurioValues(game, good._replace(**{name: wrong}))
    np.savez(tmp_path / "few.npz", pieces=good.pieces)
    for path, error in (
        (tmp_path / "few.npz", "expected pieces, biases, outputs, fading"),
        (tmp_path / "no.npz", "no file"),
    ):
        with pytest.raises(ValueError, match=error):
            load_weights(path)
    with pytest.raises(ValueError, match="expected Curio with"):
        CurioValues.simple(Curio(limit=False))


def test_an_option_that_lines_of_play_do_not_know_is_refused():
    """Not ignored: the champion falls back to the tree search, which plays by the game itself."""
    game = Curio()
    game.options = {**game.options, "moat": True}
    with pytest.raises(ValueError, match=r"no search of lines knows: moat; known are allow_resign, base"):
        CurioValues.simple(game)
    assert not CurioValues.fits(game)
    assert isinstance(ChampionAgent(simulations=5).player(game), SearchAgent)


@pytest.mark.slow
@pytest.mark.parametrize(("game", "least"), [(Curio(), 0.8), (SMALL, 0.5)], ids=str)
def test_it_wins_at_equal_simulations(game, least):
    """Which take as long as those of the playout search: see benchmarks/champions.py."""
    rng = np.random.default_rng(5)
    agents = make_agent("champion:simulations=150"), make_agent("mcts:simulations=150")
    score = play_pairs(game, game.init(15, rng), *agents, rng).mean() / 2 + 0.5
    assert score >= least, score
