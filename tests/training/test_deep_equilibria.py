"""NFSP, PSRO, Deep CFR and ESCHER on public trees: their parts beside exact ones, and Kuhn poker learned."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

pytestmark = [pytest.mark.libraries, pytest.mark.usefixtures("one_thread")]
torch = pytest.importorskip("torch")

from pbm_agents.equilibrium import CFR, Policy, PublicTree, best_response, expected_value, exploitability
from pbm_agents.equilibrium.evaluation import forward_sweep
from pbm_agents.equilibrium.inputs import Inputs
from pbm_agents.equilibrium.nfsp import NFSP, FictitiousMethod, link_moves
from pbm_agents.equilibrium.psro import PSRO, RESPONSE, solve_matrix
from pbm_agents.equilibrium.regret_learners import ESCHER, DeepCFR, RegretMethod, positive
from pbm_agents.equilibrium.sweeps import Regrets, RegretWeights, match_regrets
from pbm_agents.equilibrium.tree import proportional
from pbm_agents.players.agent import draw

from tests.test_contracts import GUIDES

SMALL = RegretMethod(iterations=10, updates=30, minibatch=64, hidden=32, learning_rate=1e-2)


@pytest.fixture
def kuhn(monkeypatch):
    monkeypatch.syspath_prepend(str(GUIDES))
    return Inputs(PublicTree.build(importlib.import_module("duel").Duel()))


def finish(learner):
    while not learner.finished:
        learner.step()
    return learner.policy()


def some_advantages(inputs):
    """Random advantages, and the policy that is proportional to their positive parts."""
    advantages = positive(inputs, np.random.default_rng(3).normal(size=inputs.tree.num_choices))
    return advantages, Policy(inputs.tree, proportional(inputs.tree, advantages))


def exact_regrets(tree, policy):
    """Return the counterfactual regrets (C,) of all choices, from one iteration of tabular CFR."""
    solver, regrets = CFR(tree), Regrets(np.zeros(tree.num_choices), np.zeros(tree.num_choices))
    for player in range(2):
        solver.current = Policy(tree, policy.probabilities.copy())
        sweep = solver._forward(player)
        tree.sweeps.backward(match_regrets, sweep, regrets, RegretWeights(1.0, 1.0, 1.0, 0.0))
    return regrets.totals


def own_reach(tree, policy):
    """Return the probability (S,) that the player's own choices lead to an information set."""
    own = [forward_sweep(tree, policy, player).own[tree.set_pairs[:-1]] for player in range(2)]
    return np.where(tree.set_player == 0, *own)


def pair_values(inputs, policy):
    """Return the exact value (P,) of each pair for `player_0`."""
    tree, values = inputs.tree, np.zeros(inputs.tree.num_pairs)
    for pair in reversed(range(tree.num_pairs)):
        s = int(inputs.pair_set[pair])
        for j, chance in enumerate(policy.at(s).values()):
            child = int(inputs.children(pair, s, j))
            values[pair] += chance * (values[child] if child >= 0 else tree.payoffs[~child])
    return values


def test_choices_are_drawn_by_their_weights():
    weights = np.tile([[0.0, 1.0, 3.0, 0.0]], (20_000, 1)).astype(np.float32)
    found = np.bincount(draw(weights, np.random.default_rng(1)), minlength=4) / 20_000
    assert found == pytest.approx([0, 0.25, 0.75, 0], abs=0.01)


def test_advantages_without_a_positive_one_choose_the_highest(kuhn):
    advantages = -np.arange(1.0, kuhn.tree.num_choices + 1)
    found = positive(kuhn, advantages).reshape(-1, 2)
    assert (found == [1, 0]).all()


def test_the_regrets_of_deep_cfr_are_those_of_cfr_on_average(kuhn):
    tree = kuhn.tree
    learner = DeepCFR(kuhn, 100_000, seed=1, method=replace(SMALL, iterations=1))
    advantages, policy = some_advantages(kuhn)
    regrets, visits, average = learner.gather(advantages)
    assert learner.moves >= 100_000
    traversals = visits[: tree.level_sets[1]].sum()  # of the first player, who moves first: as many as of the second
    assert regrets / traversals == pytest.approx(exact_regrets(tree, policy), abs=0.01)
    assert proportional(tree, average) == pytest.approx(
        np.where(average > 0, policy.probabilities, proportional(tree, average)), abs=1e-9
    )


def test_the_regrets_of_escher_are_those_of_cfr_if_values_are_exact(kuhn):
    tree, count = kuhn.tree, 40_000
    learner = ESCHER(kuhn, 10**6, seed=1, method=SMALL)
    _, policy = some_advantages(kuhn)
    values = pair_values(kuhn, policy)
    assert values[: tree.num_roots].mean() == pytest.approx(expected_value(tree, policy))
    table = kuhn.table(policy.probabilities).numpy()
    regrets, visits, _ = learner.regret_games(table, count, values.__getitem__)
    reached = np.repeat(own_reach(tree, tree.uniform_policy()), kuhn.sizes)
    assert regrets / (count / 2) == pytest.approx(reached * exact_regrets(tree, policy), abs=0.01)
    assert visits.sum() < learner.moves


def test_the_values_of_escher_are_those_of_the_policy(kuhn):
    learner = ESCHER(kuhn, 10**6, seed=1, method=replace(SMALL, updates=200, minibatch=512))
    _, policy = some_advantages(kuhn)
    table = kuhn.table(policy.probabilities).numpy()
    learner._learn_values(table, 20_000)
    errors = learner.values(np.arange(kuhn.tree.num_pairs)) - pair_values(kuhn, policy)
    reached = forward_sweep(kuhn.tree, policy, 0)
    assert (np.abs(errors) * reached.counterfactual * reached.own).sum() < 0.2


def test_moves_are_linked_to_the_players_next_moves():
    players = np.array([[0, 1, 0, 0, 1], [1, -1, -1, -1, -1]]).T
    rewards = np.zeros((5, 2))
    rewards[4, 0], rewards[0, 1], rewards[1, 0] = 1.0, -1.0, 0.25
    following, earned = np.full((5, 2), -1), np.zeros((5, 2))
    link_moves(players, rewards, following, earned)
    assert following[:, 0].tolist() == [2, 4, 3, -1, -1]
    assert earned[:, 0].tolist() == [0.25, -0.25, 0, 1.0, -1.0]
    assert (following[0, 1], earned[0, 1]) == (-1, 1.0)


def test_the_response_of_nfsp_is_almost_a_best_one(kuhn):
    """Against the untrained average policy, since nobody follows the response."""
    method = FictitiousMethod(anticipation=0.0, hidden=32, learning_rate=1e-2)
    learner = NFSP(kuhn, 100_000, seed=1, method=method)
    average, tree = finish(learner), kuhn.tree
    assert not learner.counts.any()
    found = 0.0
    for player in range(2):
        mine = np.repeat(tree.set_player == player, kuhn.sizes)
        joint = Policy(tree, np.where(mine, learner.response().probabilities, average.probabilities))
        found += (1 - 2 * player) * expected_value(tree, joint)
    best = sum(best_response(tree, average, player).value for player in range(2))
    assert 0.9 * best < found <= best + 1e-9


def test_matrix_games_are_solved_as_by_a_linear_program():
    payoffs = np.random.default_rng(4).normal(size=(6, 9))
    first, second = solve_matrix(payoffs)
    # maximize v with payoffs.T @ x >= v
    program = linprog(
        [0] * 6 + [-1],
        A_ub=np.column_stack([-payoffs.T, np.ones(9)]),
        b_ub=np.zeros(9),
        A_eq=[[1] * 6 + [0]],
        b_eq=[1],
        bounds=[(0, 1)] * 6 + [(None, None)],
    )
    assert (first @ payoffs).min() == pytest.approx(-program.fun, abs=1e-3)
    assert (payoffs @ second).max() == pytest.approx(-program.fun, abs=1e-3)


def test_psro_with_best_responses_solves_kuhn_poker(kuhn):
    learner = PSRO(kuhn, 12, responses=12, oracle=None)
    policy = finish(learner)
    assert exploitability(kuhn.tree, policy) < 2e-3
    first, second = solve_matrix(learner.payoffs)
    assert first @ learner.payoffs @ second == pytest.approx(expected_value(kuhn.tree, policy), abs=1e-9)


FICTITIOUS = FictitiousMethod(hidden=32, games=128)
ORACLE = replace(RESPONSE, hidden=32, games=64, learning_rate=1e-2)
MAKERS = {
    "Deep CFR": lambda inputs, moves, seed: DeepCFR(inputs, moves, seed, SMALL),
    "ESCHER": lambda inputs, moves, seed: ESCHER(inputs, moves, seed, SMALL),
    "NFSP": lambda inputs, moves, seed: NFSP(inputs, moves, seed, FICTITIOUS),
    "PSRO": lambda inputs, moves, seed: PSRO(inputs, moves, seed, 8, ORACLE),
}


@pytest.mark.parametrize(("name", "share"), [("Deep CFR", 0.3), ("ESCHER", 0.4), ("NFSP", 0.6), ("PSRO", 0.3)])
def test_they_learn_kuhn_poker(kuhn, name, share):
    start = exploitability(kuhn.tree, kuhn.tree.uniform_policy())
    assert exploitability(kuhn.tree, finish(MAKERS[name](kuhn, 40_000, 1))) < share * start


@pytest.mark.parametrize("name", MAKERS)
def test_equal_seeds_give_equal_policies(kuhn, name):
    found = []
    for seed in (1, 1, 2):
        learner = MAKERS[name](kuhn, 2_000, seed)
        for _ in range(2):
            learner.step()
        found.append(learner.policy().probabilities)
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
