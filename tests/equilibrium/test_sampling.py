"""Monte Carlo regret minimization, beside the textbook's recursions on Kuhn poker and small Curios."""

import importlib

import numpy as np
import pytest
from pbm_agents.equilibrium import ExternalSampling, OutcomeSampling, PublicTree, expected_value, exploitability

from pbm_envs import register_game
from pbm_envs.authoring import seeds, uniform
from tests.equilibrium.games import tree
from tests.test_contracts import GUIDES

KUHN_VALUE = -1 / 36
"""The value for the first player; a return of 1 is two antes."""


class Textbook:
    """Both algorithms of Lanctot et al. (2009), slow and recursive, with dictionaries of regrets."""

    def __init__(self, built, seed, exploration=0.6):
        self.tree, self.exploration = built, exploration
        self.random = seeds(np.random.default_rng(seed), 1)
        self.regrets, self.average = {}, {}
        self.sets = np.repeat(np.arange(built.num_information_sets), np.diff(built.set_pairs))

    def begin(self):
        built = self.tree
        return self.draw(built.chances[built.pair_world[: built.num_roots]].tolist())

    def draw(self, chances):
        left = uniform(self.random, 0)
        for k, chance in enumerate(chances):
            if left < chance:
                return k
            left -= chance
        return len(chances) - 1

    def at(self, pair):
        """Return the information set, its player, and the policy there."""
        s = int(self.sets[pair])
        choices = int(np.diff(self.tree.set_choices[s : s + 2])[0])
        positive = np.maximum(self.regrets.setdefault(s, np.zeros(choices)), 0)
        self.average.setdefault(s, np.zeros(choices))
        policy = positive / positive.sum() if positive.sum() > 0 else np.full(choices, 1 / choices)
        return s, int(self.tree.set_player[s]), policy

    def below(self, pair, j, player):
        """Return the next pair and None, or None and the return of `player`."""
        built, s = self.tree, int(self.sets[pair])
        choices = int(np.diff(built.set_choices[s : s + 2])[0])
        child = int(built.children[built.set_transitions[s] + (pair - built.set_pairs[s]) * choices + j])
        return (child, None) if child >= 0 else (None, (1 - 2 * player) * float(built.payoffs[~child]))

    def external(self, pair, player):
        s, mover, policy = self.at(pair)
        if mover != player:
            self.average[s] += policy
            child, value = self.below(pair, self.draw(policy.tolist()), player)
            return value if child is None else self.external(child, player)
        values = np.zeros(len(policy))
        for j in range(len(policy)):
            child, value = self.below(pair, j, player)
            values[j] = value if child is None else self.external(child, player)
        self.regrets[s] += values - policy @ values
        return policy @ values

    def outcome(self, pair, player, own, other, drawn):
        """Return an estimate of the value at the pair, given that it is reached."""
        s, mover, policy = self.at(pair)
        mine = mover == player
        sampled = self.exploration / len(policy) + (1 - self.exploration) * policy if mine else policy
        j = self.draw(sampled.tolist())
        child, value = self.below(pair, j, player)
        if child is not None:
            reached = (own * policy[j], other) if mine else (own, other * policy[j])
            value = self.outcome(child, player, *reached, drawn * sampled[j])
        values = np.zeros(len(policy))
        values[j] = value / sampled[j]
        if mine:
            self.regrets[s] += other / drawn * (values - policy @ values)
            self.average[s] += own / drawn * policy
        return policy @ values


@pytest.fixture
def kuhn(monkeypatch):
    monkeypatch.syspath_prepend(str(GUIDES))
    return PublicTree.build(register_game(importlib.import_module("duel").Duel)())


def check_equal(solver, book):
    for s in range(book.tree.num_information_sets):
        choices = slice(*book.tree.set_choices[s : s + 2].tolist())
        zeros = np.zeros(choices.stop - choices.start)
        np.testing.assert_allclose(solver._regrets.totals[choices], book.regrets.get(s, zeros), atol=1e-8)
        np.testing.assert_allclose(solver._regrets.average[choices], book.average.get(s, zeros), atol=1e-8)


@pytest.mark.parametrize("name", ["kuhn", "plain", "hidden totals"])
def test_traversals_are_the_textbooks(kuhn, name):
    built = kuhn if name == "kuhn" else tree(name)
    for solver in (ExternalSampling(built, traversals=20, seed=5), OutcomeSampling(built, traversals=20, seed=5)):
        book = Textbook(built, 5)
        for _ in range(2):
            solver.step()
        for k in range(80):
            if isinstance(solver, ExternalSampling):
                book.external(book.begin(), k % 2)
            else:
                book.outcome(book.begin(), k % 2, 1.0, 1.0, 1.0)
        check_equal(solver, book)
        assert solver.visited > 80


def test_they_solve_kuhn_poker(kuhn):
    for solver, least in ((ExternalSampling(kuhn, seed=1), 0.005), (OutcomeSampling(kuhn, seed=1), 0.02)):
        policy = solver.run(200)
        assert exploitability(kuhn, policy) < least
        assert expected_value(kuhn, policy) == pytest.approx(KUHN_VALUE, abs=2 * least)
        assert exploitability(kuhn, solver.last()) < exploitability(kuhn, kuhn.uniform_policy())


def test_seeds_and_settings(kuhn):
    one, other = (ExternalSampling(kuhn, 10, seed).run(3).probabilities for seed in (1, 2))
    assert np.array_equal(one, ExternalSampling(kuhn, 10, 1).run(3).probabilities)
    assert not np.array_equal(one, other)
    with pytest.raises(ValueError, match="traversals is 0"):
        ExternalSampling(kuhn, 0)
    with pytest.raises(ValueError, match="exploration is 0"):
        OutcomeSampling(kuhn, exploration=0)
