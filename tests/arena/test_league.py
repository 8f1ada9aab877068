"""Leagues: who is met how often, and the payoff table."""

import numpy as np
import pytest
from pbm_agents import RandomAgent
from pbm_agents.arena import plot_head_to_head
from pbm_agents.arena.league import LEAST, League, payoffs

from pbm_envs import Chameleon, Trinim, chameleon_v0, sample_actions
from pbm_envs.envs.opponents import OpponentScore


def first_legal(game, views, rng):
    return game.legal_action_mask(views).argmax(axis=1)


class First:
    def act(self, game, views, rng):
        return first_legal(game, views, rng)


def scored(**recent):
    return [OpponentScore(name, games=10, recent=value) for name, value in recent.items()]


def test_the_weightings_of_alphastar():
    for weighting, expected in (
        ("hard", {"weak": LEAST, "equal": 0.25, "strong": 1.0, "new": 0.25}),
        ("variance", {"weak": LEAST, "equal": 0.25, "strong": LEAST, "new": 0.25}),
        ("uniform", {"weak": 1.0, "equal": 1.0, "strong": 1.0, "new": 1.0}),
        (lambda p: 2 * p, {"weak": 2.0, "equal": 1.0, "strong": LEAST, "new": 1.0}),
    ):
        league = League(dict.fromkeys(("weak", "equal", "strong"), "random"), weighting)
        league.update(scored(weak=1.0, equal=0.5, strong=0.0, somebody=0.2))
        league.add("new", first_legal)
        league.update([OpponentScore("strong")])  # no games: nothing new
        assert league.weights() == expected


def test_a_learner_meets_those_it_loses_to():
    """Play that always gives up cells in order against one that loses to it, and one that is random."""
    league = League({"random": "random", "first": first_legal})
    envs, rng = chameleon_v0.vector_env(64, size=3, opponent=league.agents), np.random.default_rng(1)
    _, info = envs.reset(seed=1)
    for _ in range(3):
        for _ in range(40):
            *_, info = envs.step(sample_actions(info["action_mask"], rng))
        league.assign(envs)
    scores = {score.name: score for score in envs.opponent_scores()}
    weights = league.weights()
    assert league.scores == scores
    harder = min(scores, key=lambda name: scores[name].recent)
    assert max(weights, key=weights.__getitem__) == harder
    before = {name: score.games for name, score in scores.items()}
    for _ in range(100):
        *_, info = envs.step(sample_actions(info["action_mask"], rng))
    after = {score.name: score.games - before[score.name] for score in envs.opponent_scores()}
    share = weights[harder] / sum(weights.values())
    assert after[harder] / sum(after.values()) == pytest.approx(share, abs=0.1)


def test_the_payoff_table():
    game = Chameleon(size=3)
    table = payoffs(game, {"random": "random", "first": First(), "search": "mcts:simulations=50"}, openings=10)
    assert table.agents == ["random", "first", "search"]
    assert (table.games == 20 * ~np.eye(3, dtype=bool)).all()
    assert np.allclose((table.scores + table.scores.T)[~np.eye(3, dtype=bool)], 1)
    assert np.nanmean(table.scores[2]) > 0.8
    assert plot_head_to_head(table, "who beats whom").get_axes()


def test_leagues_that_cannot_be():
    with pytest.raises(ValueError, match="the league is empty"):
        League({})
    with pytest.raises(ValueError, match="weighting is 'soft': expected hard, variance, uniform"):
        League({"a": "random"}, "soft")
    league = League({"a": "random"})
    with pytest.raises(ValueError, match="'a' is in the league already"):
        league.add("a", "random")
    for name in ("a", "b"):
        with pytest.raises(ValueError, match="cannot leave"):
            league.remove(name)
    league.add("b", RandomAgent())
    league.remove("a")
    assert list(league.agents) == ["b"]
    with pytest.raises(ValueError, match="3 players: expected 2"):
        payoffs(Trinim(num_players=3), {"a": "random", "b": "random"})
    with pytest.raises(ValueError, match="expected at least two"):
        payoffs(Chameleon(size=3), {"a": "random"})
