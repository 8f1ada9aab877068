"""Best responses, exploitability and solvers, beside linear programming, brute force and their own promises."""

import numpy as np
import pytest
from pbm_agents.equilibrium import (
    CFR,
    CFRPlus,
    DiscountedCFR,
    MirrorDescent,
    Policy,
    best_response,
    cfr_plus,
    expected_value,
    exploitability,
    outcome_facts,
)

from tests.equilibrium import sequence_form
from tests.equilibrium.brute_force import best_value
from tests.equilibrium.games import VARIANTS, tree


def random_policy(built, seed):
    weights = np.random.default_rng(seed).exponential(size=built.num_choices) ** 2
    totals = np.add.reduceat(weights, built.set_choices[:-1])
    return Policy(built, weights / np.repeat(totals, np.diff(built.set_choices)))


@pytest.mark.parametrize("name", [name for name in VARIANTS if name != "longer"])
def test_best_responses_to_random_play_by_brute_force(name):
    built = tree(name)
    for player in range(2):
        response = best_response(built, built.uniform_policy(), player)
        assert response.value == pytest.approx(best_value(VARIANTS[name], player))


@pytest.mark.parametrize("name", ["plain", "hidden", "totals"])
def test_the_value_of_the_game_by_linear_programming(name):
    built = tree(name)
    policy = DiscountedCFR(built).run(400, until=1e-4)
    left = exploitability(built, policy)
    assert 0 <= left <= 1e-4
    assert expected_value(built, policy) == pytest.approx(sequence_form.value(built), abs=2 * left + 1e-7)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["plain", "hidden", "resignation", "hidden totals"])
def test_best_responses(name, seed):
    built = tree(name)
    policy = random_policy(built, seed)
    value, total = expected_value(built, policy), 0.0
    for player, sign in ((0, 1), (1, -1)):
        response = best_response(built, policy, player)
        # the response is worth what it says, and the losses add up to what it gains
        assert sign * expected_value(built, response.policy) == pytest.approx(response.value)
        assert response.value >= sign * value
        assert response.losses.sum() == pytest.approx(response.value - sign * value)
        assert (response.losses[built.set_player != player] == 0).all()
        total += response.value
        # whoever answers the answer is no worse off than before
        again = best_response(built, response.policy, 1 - player)
        assert again.value >= -sign * expected_value(built, response.policy) - 1e-12
    assert exploitability(built, policy) == pytest.approx(total / 2)


@pytest.mark.parametrize("solver", [CFR, CFRPlus, DiscountedCFR, MirrorDescent])
@pytest.mark.parametrize("name", ["plain", "hidden"])
def test_solvers_come_nearer(name, solver):
    built, found = tree(name), []
    solver(built).run(240, every=80, report=lambda _, left: found.append(left))
    start = exploitability(built, built.uniform_policy())
    assert len(found) == 3
    assert start / 5 > found[0] > found[1] > found[2] > 0


def test_a_fixed_temperature_stays_away():
    """It comes to an equilibrium of play with mistakes."""
    built = tree("hidden")
    last = MirrorDescent(built, step_size=0.5, temperature=0.5).run(300)
    assert exploitability(built, last) > 0.1


def test_cfr_plus_is_the_solver():
    built = tree("plain")
    assert np.array_equal(cfr_plus(built, 5).probabilities, CFRPlus(built).run(5).probabilities)
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="expected an integer from 1 up"):
            cfr_plus(built, wrong)


def test_threads_change_nothing(monkeypatch):
    from pbm_agents.equilibrium import sweeps

    built = tree("hidden")
    monkeypatch.setattr(sweeps, "SMALL", 1)
    several = sweeps.Sweeps(built.flat, built.level_sets, threads=3)
    alone = sweeps.Sweeps(built.flat, built.level_sets, threads=1)
    found = []
    for which in (several, alone):
        object.__setattr__(built, "sweeps", which)
        found.append(cfr_plus(built, 3).probabilities)
    assert np.array_equal(*found)


def test_policies_are_written_and_read(tmp_path):
    built, path = tree("plain"), tmp_path / "policy.npz"
    policy = random_policy(built, 0)
    policy.save(path)
    assert np.array_equal(Policy.load(built, path).probabilities, policy.probabilities)
    with pytest.raises(ValueError, match="was saved for another tree"):
        Policy.load(tree("hidden"), path)
    table = policy.dense()
    assert table.shape == (built.num_information_sets, built.game.num_actions)
    assert table.sum(axis=1) == pytest.approx(np.ones(len(table)))
    assert np.allclose(Policy.from_dense(built, 3 * table).probabilities, policy.probabilities)
    assert policy.at(7) == {a: table[7, a] for a in np.flatnonzero(table[7])}
    with pytest.raises(ValueError, match="expected"):
        Policy.from_dense(built, table[1:])
    with pytest.raises(ValueError, match="no legal action with a positive probability"):
        Policy.from_dense(built, 0 * table)
    with pytest.raises(ValueError, match="negative"):
        Policy.from_dense(built, -table)
    with pytest.raises(ValueError, match="expected a Policy of this tree"):
        exploitability(tree("hidden"), policy)
    with pytest.raises(ValueError, match="player is 2"):
        best_response(built, policy, 2)


def test_policies_of_functions():
    """Given what the players to move see, in batches."""
    built, shapes = tree("hidden"), []

    def weights(observations, masks):
        shapes.append(observations.shape)
        return masks * (1.0 + observations.sum(axis=(1, 2, 3))[:, None])

    policy = Policy.from_function(built, weights, batch=64)
    assert np.allclose(policy.probabilities, built.uniform_policy().probabilities)
    assert max(shape[0] for shape in shapes) == 64
    assert {shape[1:] for shape in shapes} == {built.game.observation_shape}
    with pytest.raises(ValueError, match="function returned shape"):
        Policy.from_function(built, lambda observations, masks: masks[:1])


@pytest.mark.parametrize("name", ["plain", "hidden"])
def test_how_games_go(name):
    """Beside random games."""
    game, built = VARIANTS[name], tree(name)
    facts = outcome_facts(built, built.uniform_policy())
    states = game.init(20_000, np.random.default_rng(0))
    game.playout(states, np.random.default_rng(1))
    assert facts["drawn"] == pytest.approx((states["returns"][:, 0] == 0).mean(), abs=0.02)
    assert facts["plies"] == pytest.approx(states["ply"].mean(), rel=0.02)
    assert facts["mixed"] == pytest.approx(1)
    first = np.zeros(built.num_choices)
    first[built.set_choices[:-1]] = 1
    assert outcome_facts(built, Policy(built, first))["mixed"] == 0
