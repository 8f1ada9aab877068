"""Gumbel root selection: as in tests/reference and in mctx, completed policies, what goes together."""

import json
from pathlib import Path

import numpy as np
import pytest
from pbm_agents.learning.self_play import self_play
from pbm_agents.search import gumbel, make_search

from pbm_envs import Chameleon, Trinim, make_game
from tests.reference.search import Gumbel, visits
from tests.search.test_references import HIDDEN, OPEN, fake_network, roots

pytestmark = pytest.mark.filterwarnings("ignore:every two-player game of Trinim")  # T7

MCTX = json.loads(Path(__file__).with_name("mctx_visits.json").read_text())


@pytest.mark.parametrize(("name", "options"), OPEN, ids=str)
@pytest.mark.parametrize(
    ("considered", "simulations", "noise", "weight"), [(16, 1, 1, 1.0), (4, 33, 0, 0.2), (16, 50, 1, 0.05)]
)
def test_reference(name, options, considered, simulations, noise, weight):
    """The same visits, action and policy, also among three."""
    game = make_game(name, **options)
    states, seeds = roots(game, simulations, each=2)
    network = fake_network(game)
    search = make_search(
        simulations=simulations,
        solver=False,
        evaluator=network,
        gumbel=considered,
        gumbel_noise=noise,
        value_weight=weight,
    )
    numbers = noise * gumbel.gumbel_numbers(seeds, game.num_actions)
    for row, result in enumerate(search.run(game, states, seeds)):
        slow = Gumbel(game, states[row : row + 1], network, weight)
        action = slow.run(considered, simulations, numbers[row])
        shares = slow.policy(slow.root)
        policy = [shares.get(each, 0) for each in range(game.num_actions)]
        assert result.visits.tolist() == visits(game, slow.root), game.to_text(states[row])
        assert result.best == action
        np.testing.assert_allclose(result.completed_policy, policy, atol=1e-6)
        np.testing.assert_allclose(result.policy(), policy, atol=1e-6)


@pytest.mark.parametrize("case", MCTX["cases"], ids=lambda case: f"{case['game']} {case['simulations']}")
def test_mctx(case, monkeypatch):
    """The visits, actions and policies that mctx has found: see `mctx_visits.py`."""
    game = make_game(case["game"], **case["options"])
    states = game.init(1, np.random.default_rng(0))
    for action in case["moves"]:
        game.step(states, [action])
    monkeypatch.setattr(gumbel, "gumbel_numbers", lambda seeds, count: np.array([case["gumbels"]]))
    [result] = make_search(
        simulations=case["simulations"],
        solver=False,
        evaluator=fake_network(game, zero_sum=True),
        gumbel=case["considered"],
        gumbel_noise=1,
        value_weight=case["value_weight"],
    ).run(game, states, np.random.default_rng(0))
    assert result.visits.tolist() == case["visits"]
    assert result.best == case["action"]
    np.testing.assert_allclose(result.completed_policy, case["policy"], atol=1e-5)


@pytest.mark.parametrize("width", [1, 5])
@pytest.mark.parametrize(("name", "options"), [*OPEN[1:4:2], OPEN[6], *HIDDEN], ids=str)
def test_the_budget_goes_to_considered_actions(name, options, width):
    """With solver, with hidden information, several at once: never more actions than are considered, all simulations
    used unless the outcome is proven, virtual losses taken back.
    """
    game = make_game(name, **options)
    states, seeds = roots(game, 3, each=2)
    views = game.view(states, states["to_move"])
    search = make_search(
        simulations=48, evaluator=fake_network(game), gumbel=4, gumbel_noise=1, parallel_simulations=width
    )
    legal = game.legal_action_mask(views)
    for row, result in enumerate(search.run(game, views, seeds)):
        assert result.visits.sum() == result.simulations
        assert result.simulations == 48 or result.proven
        assert not result.visits[~legal[row]].any()
        assert result.best != game.resign_action
        assert np.nanmax(np.abs(result.values)) <= 1
        assert result.completed_policy.sum() == pytest.approx(1)
        assert not result.completed_policy[~legal[row]].any()
        if not result.proven_actions.any():
            assert (result.visits > 0).sum() <= 4


def test_a_win_is_found_and_proven():
    """Where one move of many wins at once and the priors are uniform."""
    game = Chameleon(size=3, swap_rule=False)
    states = game.init(1, np.random.default_rng(1))
    for move in ("a1x", "a3x", "b1x", "b3x"):
        game.step(states, [game.string_to_action(move)])
    [result] = make_search(simulations=200, evaluator=uniform, gumbel=64).run(game, states, np.random.default_rng(1))
    assert result.proven
    assert result.value[result.player] == 1
    assert result.policy().max() == 1


def test_sequential_halving_shares_the_budget_equally():
    for considered in range(1, 20):
        for simulations in range(1, 130, 7):
            sequence = gumbel.visits_to_have(considered, simulations)
            assert len(sequence) == simulations
            counts = np.bincount(sequence)  # of how many actions are visited for the (k + 1)-th time
            assert counts[0] == min(considered, simulations)
            assert (np.diff(counts) <= 0).all()


def test_self_play_learns_the_completed_policy():
    game, rng = Trinim(num_players=3), np.random.default_rng(1)
    search = make_search(simulations=8, evaluator=fake_network(game), gumbel=4, gumbel_noise=1)
    examples = self_play(game, search, 3, rng)
    np.testing.assert_allclose(examples.policies.sum(axis=1), 1, atol=1e-5)
    unvisited = examples.masks & (examples.visits == 0)
    assert (examples.policies[unvisited] > 0).any()
    assert not examples.policies[~examples.masks].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gumbel": 4}, "gumbel is 4: expected an evaluator that gives priors beside it"),
        ({"gumbel": -1, "evaluator": 1}, "gumbel is -1: expected"),
        ({"gumbel": 4, "evaluator": 1, "reuse": True}, "expected a budget in simulations beside it, and neither reuse"),
        (
            {"gumbel": 4, "evaluator": 1, "noise": 0.25},
            "noise is 0.25: expected settings of Gumbel, gumbel, gumbel_noise, value_weight",
        ),
        ({"gumbel_noise": 1.0, "evaluator": 1}, "gumbel_noise is 1.0: expected settings of PUCT, c, "),
        (
            {"first_play_reduction": 0.5},
            "first_play_reduction is 0.5: expected settings of UCT, .*, or an evaluator that gives priors",
        ),
        (
            {"forced_playouts": 2.0},
            "forced_playouts is 2.0: expected settings of UCT, .*, or an evaluator that gives priors",
        ),
        ({"first_play_reduction": -1.0, "evaluator": 1}, "first_play_reduction is -1.0: expected"),
        ({"gumbel": 4, "evaluator": 1, "simulations": None, "seconds": 1}, "expected a budget in simulations"),
    ],
    ids=str,
)
def test_what_does_not_go_together(settings, message):
    if "evaluator" in settings:
        settings = settings | {"evaluator": uniform}
    with pytest.raises(ValueError, match=message):
        make_search(**{"simulations": 10} | settings)


def uniform(observations, masks):
    return masks.astype(np.float32), np.zeros(len(masks), np.float32)
