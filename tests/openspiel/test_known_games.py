"""Games that everyone knows, written with the public interface only: their known figures, and OpenSpiel's own games."""

import importlib

import numpy as np
import pyspiel
import pytest
from pbm_agents.equilibrium import CFR, CFRPlus, PublicTree, cfr_plus, expected_value, exploitability, solve
from pbm_agents.equilibrium.growth import count_set_ups

from pbm_envs import register_game
from tests.test_contracts import GUIDES

# our module and class, options, OpenSpiel's game, its chips for a return of 1
POKER = [("duel", "Duel", {}, "kuhn_poker", 2), ("leduc", "Leduc", {}, "leduc_poker", 16)]
DICE = [("liars_dice", "LiarsDice", {"sides": k}, f"liars_dice(dice_sides={k})", 1) for k in (2, 3)]
SETS = {"kuhn_poker": 12, "leduc_poker": 936, "liars_dice(dice_sides=2)": 32, "liars_dice(dice_sides=3)": 192}


@pytest.fixture
def make(monkeypatch):
    """Make a game of the guides; it is registered for the time of a test."""
    monkeypatch.syspath_prepend(str(GUIDES))
    return lambda module, kind, **options: register_game(getattr(importlib.import_module(module), kind))(**options)


@pytest.mark.parametrize(("module", "kind", "options", "name", "chips"), [*POKER, *DICE], ids=SETS)
def test_cfr_and_exploitability_are_openspiels(make, module, kind, options, name, chips):
    """Random play, and every iterate of CFR and CFR+, lose as much as with OpenSpiel's C++ on OpenSpiel's own game."""
    theirs = pyspiel.load_game(name)
    tree = PublicTree.build(make(module, kind, **options))
    assert tree.num_information_sets == SETS[name]
    assert count_set_ups(tree.game) == len(tree.starts)
    uniform = pyspiel.exploitability(theirs, pyspiel.UniformRandomPolicy(theirs))
    assert chips * exploitability(tree, tree.uniform_policy()) == pytest.approx(uniform, abs=1e-12)
    for solver, their_solver in (
        (CFR(tree), pyspiel.CFRSolver(theirs)),
        (CFRPlus(tree), pyspiel.CFRPlusSolver(theirs)),
    ):
        for _ in range(8):
            solver.step()
            their_solver.evaluate_and_update_policy()
            expected = pyspiel.exploitability(theirs, their_solver.average_policy())
            assert chips * exploitability(tree, solver.policy()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("module", "kind", "chips", "value"), [("duel", "Duel", 2, -1 / 18), ("leduc", "Leduc", 16, -0.0856)]
)
def test_values(make, module, kind, chips, value):
    """Kuhn (1950), and Leduc poker's to the digits that are published."""
    tree = PublicTree.build(make(module, kind))
    policy = solve(tree, until=2e-6)
    assert exploitability(tree, policy) < 3e-6
    assert chips * expected_value(tree, policy) == pytest.approx(value, abs=3e-5)


def test_liars_dice_as_it_is_played(make):
    """24,576 information sets, as the field has it; who bids first loses a little."""
    tree = PublicTree.build(make("liars_dice", "LiarsDice"))
    assert tree.num_information_sets == 24576
    assert exploitability(tree, cfr_plus(tree, 100)) < 0.01 < exploitability(tree, tree.uniform_policy()) / 50


@pytest.mark.parametrize("name", ["dark_hex(num_rows=3,num_cols=3)", "phantom_ttt"])
def test_secret_moves_side_by_side(make, name):
    """Players, legal actions, returns, and the cells that each player knows, through whole games."""
    game = make("dark_hex", "DarkHex") if name.startswith("dark") else make("phantom", "Phantom")
    theirs, rng, plies = pyspiel.load_game(name), np.random.default_rng(1), 0
    for _ in range(40):
        ours, state = game.init(1, rng), theirs.new_initial_state()
        while not state.is_terminal():
            player = state.current_player()
            assert (player, ours["done"][0]) == (ours["to_move"][0], False)
            legal = np.flatnonzero(game.legal_action_mask(ours)[0]).tolist()
            assert legal == state.legal_actions()
            for k in range(2):
                seen = [letter for letter in state.observation_string(k) if letter not in "\n "][:9]
                marks = game.board_to_string(game.view(ours, k)[0]).replace("/", "")
                assert [letter == "." for letter in seen] == [mark == "." for mark in marks]
            action = int(rng.choice(legal))
            game.step(ours, [action])
            state.apply_action(action)
            plies += 1
        assert ours["done"][0]
        assert ours["returns"][0].tolist() == state.returns()
    assert plies > 300


def test_hex_side_by_side(make):
    """Players, legal actions and returns through whole games."""
    theirs, rng = pyspiel.load_game("hex(board_size=5)"), np.random.default_rng(1)
    game, winners = make("hex", "Hex", size=5), set()
    for _ in range(60):
        ours, state = game.init(1, rng), theirs.new_initial_state()
        while not state.is_terminal():
            assert (state.current_player(), ours["done"][0]) == (ours["to_move"][0], False)
            legal = np.flatnonzero(game.legal_action_mask(ours)[0]).tolist()
            assert legal == state.legal_actions()
            action = int(rng.choice(legal))
            game.step(ours, [action])
            state.apply_action(action)
        assert ours["done"][0]
        assert ours["returns"][0].tolist() == state.returns()
        winners.add(int(ours["returns"][0].argmax()))
    assert winners == {0, 1}
