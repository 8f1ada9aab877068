"""Public trees: their sizes, their order, memory, files, any game for two."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from pbm_agents.equilibrium import PublicTree, TreeTooLargeError, exploitability
from pbm_agents.equilibrium.growth import count_set_ups, set_ups

from pbm_envs import Chameleon, Curio, Trinim
from tests.equilibrium.brute_force import information_sets
from tests.equilibrium.games import VARIANTS, curio, tree

ROW = Path(__file__).parents[2] / "docs" / "guides" / "row.py"


@pytest.mark.parametrize(
    ("options", "pairs", "sets"),
    [
        ({"rows": 2, "no_capture_limit": 1}, 12_306, 2_578),
        ({"rows": 2, "no_capture_limit": 2}, 190_562, 39_446),
        ({"rows": 4, "no_capture_limit": 2}, 572_436, 60_182),
        pytest.param({"rows": 2, "no_capture_limit": 3}, 7_139_510, 1_640_958, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_known_sizes(options, pairs, sets):
    """`pairs` with those where the game has ended, each of which one transition leads to."""
    built = PublicTree.build(Curio(base=2, cols=3, **options))
    assert built.num_information_sets == sets
    assert built.num_transitions + built.num_roots == pairs


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "longer"])
def test_information_sets_are_all_that_a_player_has_seen(name):
    game, built = VARIANTS[name], tree(name)
    expected = information_sets(game)
    assert built.num_information_sets == len(expected)
    assert np.bincount(built.set_player).tolist() == [sum(p == player for p, _ in expected) for player in range(2)]


@pytest.mark.parametrize("name", VARIANTS)
def test_what_the_arrays_say_is_what_the_game_does(name):
    """Every pair's state, replayed from its set-up; what its player sees is what all pairs of the set see."""
    game, built = VARIANTS[name], tree(name)
    seen = 0
    for first, last, states in built.levels():
        assert first == seen
        seen = last
        assert not states["done"].any()
        sets = np.searchsorted(built.set_pairs, np.arange(first, last), side="right") - 1
        players = built.set_player[sets]
        assert np.array_equal(states["to_move"], players)
        views = game.view(states, players)
        heads = views[built.set_pairs[sets] - first]
        for field in game.dtype.names:
            assert np.array_equal(views[field], heads[field])
        masks = game.legal_action_mask(views)
        assert np.array_equal(masks.sum(axis=1), np.diff(built.set_choices)[sets])
    assert seen == built.num_pairs
    rng = np.random.default_rng(3)
    for s in rng.integers(built.num_information_sets, size=20):
        pair = int(rng.integers(built.set_pairs[s], built.set_pairs[s + 1]))
        state = built.starts[[built.pair_world[pair]]]
        for action in built.moves(int(s)):
            game.step(state, [action])
        assert game.board_to_string(state) == game.board_to_string(built.state(pair))
        assert state["to_move"][0] == built.set_player[s]
        mask = game.legal_action_mask(built.view(int(s)))[0]
        choices = slice(built.set_choices[s], built.set_choices[s + 1])
        assert np.flatnonzero(mask).tolist() == built.choice_actions[choices].tolist()


def test_public_nodes_are_common_knowledge():
    """Two worlds that some player cannot tell apart are in one node; what separates nodes both players see."""
    game, built = VARIANTS["hidden"], tree("hidden")
    for first, last, states in built.levels():
        nodes = np.searchsorted(built.node_pairs, np.arange(first, last), side="right") - 1
        for player in range(2):
            views = game.view(states, player)
            where = {}
            for node, view, pair in zip(nodes, views, range(first, last), strict=True):
                s = int(np.searchsorted(built.set_pairs, pair, side="right")) - 1
                key = (tuple(built.moves(s)), *(view[field].tobytes() for field in game.dtype.names))
                assert where.setdefault(key, node) == node


def test_the_same_tree_however_many_threads():
    assert PublicTree.build(curio(2), threads=1).digest == tree("longer").digest
    assert tree("plain").digest != tree("longer").digest


def test_a_file_is_the_tree(tmp_path):
    built, path = tree("plain"), tmp_path / "small.tree"
    built.save(path)
    loaded = PublicTree.load(path)
    assert loaded.digest == built.digest
    assert exploitability(loaded, built.uniform_policy()) == exploitability(built, built.uniform_policy())
    with pytest.raises(ValueError, match="expected curio"):
        PublicTree.load(path, game=curio(2))
    path.write_bytes(b"{}\n" + bytes(100))
    with pytest.raises(ValueError, match="is not a public tree: expected a file"):
        PublicTree.load(path)


def test_a_limit_on_memory_says_how_far_it_came():
    with pytest.raises(TreeTooLargeError, match=r"needs more than 0.05 GiB: it was cut off at [\d,]+ information sets"):
        PublicTree.build(curio(3), memory=0.05)
    with pytest.raises(ValueError, match=re.escape("set-ups: expected at most 1,000,000")):
        PublicTree.build(Curio())


def test_other_starts():
    """From a position: the worlds that both hold possible, and how likely they are."""
    game = curio(1)
    states, chances = set_ups(game)
    assert len(states) == count_set_ups(game) == 36
    assert chances.tolist() == pytest.approx([1 / 36] * 36)
    one = PublicTree.build(game, worlds=states[:1])
    assert one.num_pairs == one.num_information_sets
    skewed = PublicTree.build(game, worlds=states, chances=np.arange(36))
    assert skewed.num_information_sets == tree("plain").num_information_sets
    assert skewed.chances[35] == pytest.approx(35 / 630)
    for worlds, weights, message in [
        (states[:0], None, "worlds are empty or views"),
        (game.view(states, 0), None, "worlds are empty or views"),
        (states, np.ones(35), "expected"),
        (states, -np.ones(36), "none negative"),
    ]:
        with pytest.raises(ValueError, match=message):
            PublicTree.build(game, worlds=worlds, chances=weights)


def test_gaps_and_turned_pieces_are_dealt():
    """C3, C5"""
    assert count_set_ups(Curio(base=2, rows=2, cols=4)) == 576
    assert count_set_ups(Curio(base=2, rows=4, cols=3, num_pieces=6)) == 8_100
    game = curio(1, face="random")
    states, chances = set_ups(game)
    assert len(states) == count_set_ups(game) == 144
    assert chances.sum() == pytest.approx(1)


def test_games_without_secrets():
    """One world."""
    row = runpy.run_path(str(ROW))["Row"](size=5)
    built = PublicTree.build(row)
    assert built.num_information_sets == built.num_pairs == len(information_sets(row))
    assert np.diff(built.node_pairs).max() == 1
    with pytest.raises(ValueError, match="has 3 players: expected two"):
        PublicTree.build(Trinim(size=3, num_players=3))
    with pytest.raises(TreeTooLargeError):
        PublicTree.build(Chameleon(size=3), memory=0.02)
