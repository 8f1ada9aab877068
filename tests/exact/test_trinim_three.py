"""The model of benchmarks/trinim_three.py, and the best response to it, beside a slow recursion by the rules."""

import importlib

import numpy as np
import pytest
from pbm_agents.exact.trinim_kernels import solve_three

from pbm_envs import Trinim

pytestmark = pytest.mark.slow  # most of it compiles
GAME = Trinim(size=3, num_players=3)


@pytest.fixture(scope="module")
def three():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend("benchmarks")
        return importlib.import_module("trinim_three")


class Witness:
    """Every line of play of one player against two of the model; of positions, those of the rules."""

    def __init__(self, three, state, weights, own, responds):
        self.solution, arrays = three.problem(GAME, state)
        self.tables = [solve_three(*arrays, temperature) for temperature in three.TEMPERATURES]
        self.own_table, self.weights, self.responds = own, weights, responds
        self.known = {}

    def worth(self, table, after, mover):
        """What a position is worth to a player by a table of the solver's, or by the rules where the game is over."""
        if after["done"]:
            return float(after["returns"][mover])
        self.solution._table = table
        return float(self.solution.values(after)[mover])

    def expected(self, state, player):
        """(1,) a state; what `player` expects."""
        if state["done"][0]:
            return float(state["returns"][0, player])
        key = state.tobytes()
        if key in self.known:
            return self.known[key]
        mover, legal = int(state["to_move"][0]), np.flatnonzero(GAME.legal_action_mask(state)[0])
        afters = np.repeat(state, len(legal))
        GAME.step(afters, legal)
        below = np.array([self.expected(afters[k : k + 1], player) for k in range(len(legal))])
        if mover == player:
            aim = below if self.responds else np.array([self.worth(self.own_table, s, mover) for s in afters])
            chosen = (aim >= aim.max() - 1e-6) / (aim >= aim.max() - 1e-6).sum()
        else:
            worths = np.array([[self.worth(table, s, mover) for table in self.tables] for s in afters])
            logits = worths @ self.weights[int(state["left"][0])]
            chosen = (1 + (logits.max() - logits) / 8) ** -8
            chosen /= chosen.sum()
        self.known[key] = float(chosen @ below)
        return self.known[key]


@pytest.mark.parametrize("responds", [True, False])
def test_what_a_player_expects_against_two_of_the_model(three, responds):
    rng = np.random.default_rng(3)
    [state] = GAME.init(1, rng)
    weights = rng.normal(5, 3, size=(16, len(three.TEMPERATURES)))
    _, arrays = three.problem(GAME, state)
    own = solve_three(*arrays, three.TEMPERATURE)
    tables = np.stack([solve_three(*arrays, temperature) for temperature in three.TEMPERATURES])
    found = three.shares_against(*arrays, tables, weights, own, responds)[-1, :, 0]
    for seat in range(3):  # to move first, second, third
        witness = Witness(three, state, weights, own, responds)
        assert found[seat] == pytest.approx(witness.expected(state.reshape(1), seat), abs=1e-4)


def test_the_best_response_is_at_least_as_good_as_any_other_play(three):
    rng = np.random.default_rng(4)
    weights = rng.normal(5, 3, size=(16, len(three.TEMPERATURES)))
    for state in GAME.init(5, rng):
        _, arrays = three.problem(GAME, state)
        tables = np.stack([solve_three(*arrays, temperature) for temperature in three.TEMPERATURES])
        best, solver, likely = (
            three.shares_against(*arrays, tables, weights, own, responds)[-1, :, 0]
            for own, responds in ((tables[0], True), (tables[0], False), (tables[-1], False))
        )
        assert (best >= solver - 1e-5).all()
        assert (best >= likely - 1e-5).all()


def test_the_fit_finds_who_plays_well_and_who_at_random(three):
    """Replies by the first temperature's values are likely by the model; those at random are as likely as any."""
    rng, worths = np.random.default_rng(5), np.random.default_rng(6).normal(size=(160, 6, 4)).clip(-1, 1)
    pieces = [low for low, _ in three.GROUPS]
    well, at_random = (
        [(pieces[k % len(pieces)], choose(worth), worth) for k, worth in enumerate(worths)]
        for choose in (lambda worth: int(worth[:, 0].argmax()), lambda worth: int(rng.integers(6)))
    )
    weights, likelihood = three.fit(well)
    assert (weights[pieces].argmax(axis=1) == 0).all()
    assert likelihood > -0.5
    assert np.log(1 / 6) - 0.05 < three.fit(at_random)[1] < -1
