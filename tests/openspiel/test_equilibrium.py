"""Exploitability and CFR+ on public trees are OpenSpiel's."""

import numpy as np
import pytest
from open_spiel.python.algorithms import cfr
from open_spiel.python.algorithms.exploitability import exploitability as their_exploitability
from open_spiel.python.algorithms.exploitability import nash_conv
from open_spiel.python.policy import TabularPolicy, UniformRandomPolicy
from pbm_agents.equilibrium import CFR, CFRPlus, Policy, PublicTree, exploitability

from pbm_envs import Curio
from pbm_envs.adapters.openspiel import load
from tests.equilibrium.games import VARIANTS, tree
from tests.openspiel.games import tree as states_below


def their_states(game):
    """Of each information state with a player to move, by what we know it by: player, moves and view."""
    found = {}
    for state, _ in states_below(game.new_initial_state()):
        player = state.current_player()
        view = game.rules.view(state.states, player)[0]
        key = (player, *state.moves(), *(view[name].tobytes() for name in game.rules.dtype.names))
        found.setdefault(key, state.information_state_string(player))
    return found


def our_keys(built):
    names = built.game.dtype.names
    for s in range(built.num_information_sets):
        view = built.view(s)[0]
        yield (int(built.set_player[s]), *built.moves(s), *(view[name].tobytes() for name in names))


@pytest.fixture(
    scope="module", params=[{"face": "small", "capture": "gt", "reveal_captured": False}, {"capture": "ge"}], ids=str
)
def pair(request):
    rules = Curio(rows=2, cols=3, base=2, turn=False, no_capture_limit=1, **request.param)
    return PublicTree.build(rules), load(rules)


def random_policy(built):
    weights = np.random.default_rng(1).random(built.num_choices) ** 3
    totals = np.add.reduceat(weights, built.set_choices[:-1])
    return Policy(built, weights / np.repeat(totals, np.diff(built.set_choices)))


def write(policy, table, strings):
    """The same policy in a table of theirs."""
    for s, key in enumerate(our_keys(policy.tree)):
        row = table.policy_for_key(strings[key])
        row[:] = 0
        for action, probability in policy.at(s).items():
            row[action] = probability


def test_exploitability(pair):
    built, game = pair
    policy, table = random_policy(built), TabularPolicy(game)
    strings = their_states(game)
    assert len(strings) == built.num_information_sets == len(table.state_lookup)
    write(policy, table, strings)
    assert exploitability(built, policy) == pytest.approx(their_exploitability(game, table), abs=1e-12)
    assert 2 * exploitability(built, policy) == pytest.approx(nash_conv(game, table), abs=1e-12)


@pytest.mark.parametrize(("ours", "theirs"), [(CFR, cfr.CFRSolver), (CFRPlus, cfr.CFRPlusSolver)])
def test_counterfactual_regret_minimization(pair, ours, theirs):
    """The same average policy in every information state, after the same number of iterations. Both begin with the
    same random policy of the first player: from the uniform one on, rounding decides between symmetric actions.
    (Theirs makes the second player's uniform before it is used.)
    """
    built, game = pair
    start, strings = random_policy(built), their_states(game)
    second = np.repeat(built.set_player == 1, np.diff(built.set_choices))
    start.probabilities[second] = built.uniform_policy().probabilities[second]
    solver, our_solver = theirs(game), ours(built)
    write(start, solver._current_policy, strings)
    our_solver.current = start
    for _ in range(7):
        solver.evaluate_and_update_policy()
    average, policy = solver.average_policy(), our_solver.run(7)
    for s, key in enumerate(our_keys(built)):
        row = average.policy_for_key(strings[key])
        assert policy.at(s) == pytest.approx({action: row[action] for action in policy.at(s)}, abs=1e-9)


def test_totals():
    """C7: what was legal at past turns is part of what a player knows."""
    rules = Curio(rows=2, cols=3, base=2, turn=False, no_capture_limit=1, face="small", capture="gt_total")
    built, game = PublicTree.build(rules), load(rules)
    policy = UniformRandomPolicy(game)
    assert built.num_information_sets == len(TabularPolicy(game).state_lookup)
    assert exploitability(built, built.uniform_policy()) == pytest.approx(their_exploitability(game, policy), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["plain", "hidden", "resignation"])
def test_random_play(name):
    """On what OpenSpiel does in a minute."""
    game = load(VARIANTS[name])
    built = tree(name)
    expected = their_exploitability(game, UniformRandomPolicy(game))
    assert exploitability(built, built.uniform_policy()) == pytest.approx(expected, abs=1e-12)
