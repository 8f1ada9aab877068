"""Champions by name: what plays which game, patterns beside a slow witness, and that they win."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from pbm_agents import Search, make_agent
from pbm_agents.champions import ChampionAgent, LinesAgent, PatternPriors
from pbm_agents.champions.agent import load_patterns
from pbm_agents.champions.patterns import FEATURES, NONE, Geometry
from pbm_agents.champions.unlur import WHITES_WIN, UnlurPlayouts
from pbm_agents.equilibrium import PublicTree, exploitability_bounds
from pbm_agents.exact import ExactAgent, KnownWorldAgent, VerifiedSearchAgent
from pbm_agents.exact.curio import known_worlds
from pbm_agents.players.search_agents import SearchAgent
from pbm_agents.search import UCT

from pbm_envs import Chameleon, Curio, Trinim, Unlur, make_game
from pbm_envs.core.boards import NO_CELL
from pbm_envs.testing import random_actions
from tests.play import play_pairs

ROOT = Path(__file__).parent.parent
GAMES = [Chameleon(size=5), Unlur(radius=3)]


def positions(game, count=60, plies=7, seed=3):
    rng = np.random.default_rng(seed)
    states = game.init(count, rng)
    for ply in range(plies):
        rows = np.arange(count) % plies >= ply
        some = states[rows]
        game.step(some, random_actions(game, some, rng))
        states[rows] = some
    return states[~states["done"]]


def with_random_weights(game, seed=1):
    size = Geometry(game).size
    return PatternPriors(game, np.random.default_rng(seed).normal(size=size).astype(np.float32))


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_priors_are_the_softmax_of_the_weights_of_the_features(game):
    states, priors = positions(game), with_random_weights(game)
    found, features = priors(game, states), priors.features(states)
    weights = np.append(priors.weights, 0)  # NONE is the last
    logits = weights[features].sum(axis=2)
    legal = game.legal_action_mask(states)[:, : logits.shape[1]]
    assert features.shape[2] == FEATURES
    for row in range(len(states)):
        own = np.exp(logits[row, legal[row]])
        np.testing.assert_allclose(found[row, : logits.shape[1]][legal[row]], own / own.sum(), rtol=1e-4)
        assert (found[row, : logits.shape[1]][~legal[row]] == 0).all()
        if legal[row].any():
            assert found[row, logits.shape[1] :] == pytest.approx(found[row, : logits.shape[1]].max())


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_features_name_what_stands_on_the_cells_around(game):
    """The first two, by hand: an action's pattern is the same if and only if its six neighbours look the same."""
    states, priors, board = positions(game), with_random_weights(game), game.board
    features, marks = priors.features(states), priors.geometry.marks
    looks = {}
    for state, rows in zip(states, features, strict=True):
        mover = int(state["to_move"])
        for action, row in enumerate(rows):
            cell, mark = action // marks, 1 + action % marks
            if game.name == "unlur":
                mark = 2 if state["black"] not in (-1, mover) else 1
            if state["stones"][cell]:
                assert (row == NONE).all()
                continue
            if game.name == "chameleon" and state["vert"] != mover:
                continue  # mirrored
            around = tuple(
                "edge" if other == NO_CELL else int(state["stones"][other]) and (state["stones"][other] == mark) + 1
                for other in board.neighbours[cell]
            )
            if "edge" in around:
                continue
            role = 0 if game.name == "chameleon" else int(state["black"] >= 0) + (state["black"] == 1 - mover)
            assert looks.setdefault((role, around), row[0]) == row[0]
    assert len(set(looks.values())) == len(looks) > 30


def test_chameleon_looks_the_same_to_both_players_and_with_other_letters():
    game = Chameleon(size=5)
    states, priors = positions(game), with_random_weights(game)
    plain = priors(game, states)
    for symmetry in game.symmetries:
        if symmetry.name in ("x for o", "mirror", "mirror and x for o"):
            changed = game.transform(states, symmetry)
            np.testing.assert_allclose(priors(game, changed)[:, symmetry.actions], plain, rtol=1e-4, atol=1e-7)


def test_patterns_are_saved_loaded_pickled_and_used_on_other_boards(tmp_path):
    for game, other in ((Chameleon(size=5), Chameleon(size=6)), (Unlur(radius=3), Unlur(radius=4))):
        priors = with_random_weights(game)
        priors.save(tmp_path / "patterns.npz")
        states = positions(game)
        loaded = PatternPriors.load(game, tmp_path / "patterns.npz")
        np.testing.assert_allclose(loaded(game, states), priors(game, states), rtol=0.05, atol=1e-3)
        again = pickle.loads(pickle.dumps(priors))
        np.testing.assert_array_equal(again(game, states), priors(game, states))
        elsewhere = PatternPriors.load(other, tmp_path / "patterns.npz")
        assert np.isfinite(elsewhere(other, positions(other))).all()
        with pytest.raises(ValueError, match="not of"):
            priors(other, positions(other))


@pytest.mark.parametrize("game", [Trinim(), Curio(base=2, rows=4, cols=3)], ids=repr)
def test_other_games_have_no_patterns(game):
    with pytest.raises(ValueError, match="expected Chameleon or Unlur"):
        Geometry(game)


def test_wrong_weights_are_refused(tmp_path):
    with pytest.raises(ValueError, match="expected"):
        PatternPriors(Chameleon(size=5), np.zeros(3, np.float32))
    np.savez(tmp_path / "few.npz", weights=np.zeros(9, np.float16))
    with pytest.raises(ValueError, match="expected patterns"):
        PatternPriors.load(Unlur(radius=3), tmp_path / "few.npz")


@pytest.mark.parametrize(
    "game",
    [Chameleon(size=4), Chameleon(size=11), Unlur(), Trinim(), Trinim(num_players=3), Curio(base=2, rows=4, cols=3)],
    ids=repr,
)
def test_every_game_has_a_champion_that_plays_legal_moves(game):
    agent, rng = make_agent("champion:simulations=20"), np.random.default_rng(1)
    states = game.init(3, rng)
    for _ in range(3):
        views = game.view(states, states["to_move"])
        actions = agent.act(game, views, rng)
        assert game.legal_action_mask(views)[np.arange(3), actions].all()
        game.step(states, actions)


def test_what_plays_which_game():
    agent = make_agent("champion:seconds=0.05")
    assert isinstance(agent, ChampionAgent)
    trinim = agent.player(Trinim())
    assert isinstance(trinim, ExactAgent)
    assert trinim.most_pieces == {2: 17, 3: 13}  # with two players all of size 5
    for game, bridges, kind, c, weight in (
        (Chameleon(), True, SearchAgent, 0, 5.0),
        (Unlur(), True, SearchAgent, 0, 1.0),
        (Chameleon(size=7), True, VerifiedSearchAgent, None, None),
        (Chameleon(size=5), True, VerifiedSearchAgent, None, None),
        (Unlur(radius=4), True, VerifiedSearchAgent, 0, 0.5),
        (Curio(base=2, rows=4, cols=3), False, KnownWorldAgent, None, None),
        (Curio(capture="any"), False, KnownWorldAgent, None, None),
    ):
        player = agent.player(game)
        assert isinstance(player, kind)
        rule, playouts = player.search.selection or UCT(), player.search.leaf_evaluator
        assert rule.c == c
        assert (rule.priors and rule.prior_weight) == weight
        assert player.search.reuse == bridges
        assert isinstance(playouts, UnlurPlayouts) if game.name == "unlur" else playouts.save_bridges == bridges
        assert player.search.seconds == 0.05
    for game in (Curio(), Curio(base=3, rows=4, cols=4), Curio(base=5, rows=7, cols=6)):
        player = agent.player(game)
        assert isinstance(player, LinesAgent)
        assert (player.seconds, player.nodes) == (0.05, None)
    assert make_agent("champion:simulations=20").player(Curio()).nodes == 600
    assert not make_agent("champion:simulations=20").player(Unlur()).search.reuse  # its moves depend on nothing else
    with pytest.raises(ValueError, match="expected one of the two"):
        make_agent("champion:seconds=1,simulations=5")


def test_a_win_of_white_counts_for_less_in_playouts_of_unlur():
    """In a game that is over it counts fully. The kernel of compiled searches writes the same values."""
    game, rng, rows = Unlur(radius=3), np.random.default_rng(0), np.arange(300)
    states = game.init(len(rows), rng)
    for _ in range(12):
        game.step(states, random_actions(game, states, rng))
    ended, played, compiled = states["done"].copy(), states.copy(), states.copy()
    seeds = np.arange(len(rows), dtype=np.uint64)
    game.playout(played, seeds.copy(), save_bridges=True)
    white_won = played["returns"][rows, played["black"]] < 0
    assert 0 < ended.sum() < len(rows)
    assert 0 < white_won[~ended].sum() < (~ended).sum()
    expected = played["returns"] * np.where(white_won & ~ended, np.float32(WHITES_WIN), 1)[:, None]
    playout, arguments = UnlurPlayouts().kernels(game).playout
    playout(compiled, seeds.copy(), *arguments, np.zeros((0, 0), np.int8))
    np.testing.assert_array_equal(compiled["returns"], expected)
    np.testing.assert_array_equal(UnlurPlayouts()(game, states, None, seeds, None)[1], expected)
    np.testing.assert_array_equal(states, compiled)


def test_worlds_that_are_known_are_searched_as_they_are():
    """All kinds seen: nothing is left to guess. A win in two moves is then proven, whatever the opponent knows."""
    game, rng = Curio(base=2, rows=4, cols=3), np.random.default_rng(1)
    lines = (ROOT / "benchmarks" / "solved" / "curio-4x3.jsonl").read_text(encoding="utf-8").splitlines()[:30]
    states, winning = [], []
    for line in map(json.loads, lines):
        state = game.init(1, rng, board=line["board"])
        for move in line["moves"]:
            game.step(state, [game.string_to_action(move)])
        states.append(state)
        winning.append(line["winning"])
    states = np.concatenate(states)
    views = game.view(states, states["to_move"])
    known, worlds = known_worlds(game, views, rng)
    assert known.all()
    np.testing.assert_array_equal(worlds["faces"], states["faces"])
    assert not known_worlds(game, game.view(game.init(3, rng), [0, 0, 0]), rng)[0].any()
    for solving in (True, False):  # the solver finds all; a search of 20,000 simulations nearly all
        agent = KnownWorldAgent(Search(simulations=400 if solving else 20_000))
        agent.nodes = agent.nodes if solving else 0
        actions = pickle.loads(pickle.dumps(agent)).act(game, views, rng)
        right = [game.action_to_string(int(a)) in moves for a, moves in zip(actions, winning, strict=True)]
        assert np.mean(right) == 1 if solving else 0.9 < np.mean(right) < 1


@pytest.mark.slow
@pytest.mark.parametrize(("game", "least"), [(Chameleon(size=8), 0.7), (Unlur(radius=5), 0.5)], ids=str)
def test_patterns_win_at_half_the_simulations(game, least):
    """Which cost about twice the time: see benchmarks/champions.py."""
    rng, count = np.random.default_rng(5), 20
    openings = game.init(count, rng)
    for _ in range(2):
        game.step(openings, random_actions(game, openings, rng))
    champion = SearchAgent(
        simulations=100, priors=load_patterns(game), prior_weight=2.0, save_bridges=True, early_stop=False
    )
    outcomes = play_pairs(game, openings, champion, make_agent("mcts:simulations=200,early_stop=false"), rng)
    score = (outcomes == 1).mean()
    assert score >= least, score


def test_the_champion_plays_solved_rungs_by_their_equilibrium():
    """It loses nothing there to an opponent who knows it, and positions of one's own are searched."""
    game, agent = make_game("curio-ladder-1"), ChampionAgent(simulations=20)
    tree = PublicTree.build(game)
    assert sum(exploitability_bounds(tree, agent, samples=10).low) / 2 < 0.01
    given = game.init(1, np.random.default_rng(0), "D22 . ./L11 L12 .")
    action = agent.act(game, game.view(given, 0), np.random.default_rng(0))
    assert game.legal_action_mask(given)[0, action[0]]
