"""Ratings: known strengths are found, in any order of the games, with intervals that hold them; draws, games of three,
agents that won everything.
"""

from itertools import combinations, permutations

import numpy as np
import pytest
from pbm_agents.arena import connected_groups, rate

from pbm_envs.records import GameRecord


def game(agents, returns, seed=0, ending="won"):
    rest = {"game": "trinim", "options": {}, "board": None, "moves": (), "plies": 0}
    return GameRecord(agents=agents, returns=returns, seed=seed, ending=ending, **rest)


def won(winner, loser, count, first_seed=0):
    return [game((winner, loser), (1, -1), seed) for seed in range(first_seed, first_seed + count)]


def drawn(a, b, count, first_seed=1000):
    return [game((a, b), (0, 0), seed) for seed in range(first_seed, first_seed + count)]


def simulate(elo, players, openings, rng, draws=0.0):
    """Games between all sets of so many agents, from all seats, by Luce's model; a part of them drawn."""
    records = []
    for names in combinations(elo, players):
        strengths = 10 ** (np.array([elo[name] for name in names]) / 400)
        for seed in range(openings):
            for seats in permutations(range(players)):
                returns = np.full(players, -1 / (players - 1))
                returns[rng.choice(players, p=strengths / strengths.sum())] = 1
                if rng.random() < draws:
                    returns[:] = 0
                agents = tuple(names[k] for k in seats)
                records.append(game(agents, tuple(returns[list(seats)].tolist()), seed))
    return records


@pytest.mark.parametrize(("players", "openings"), [(2, 200), (3, 40)])
def test_known_strengths_are_found(players, openings):
    elo = {"a": 300.0, "b": 100.0, "c": 0.0, "d": -150.0, "e": -250.0}
    ratings = rate(simulate(elo, players, openings, np.random.default_rng(4)))
    assert list(ratings) == list(elo)
    for agent, rating in ratings.items():
        assert abs(rating.value - elo[agent]) < 40
        assert rating.low <= rating.value <= rating.high
        assert 20 < rating.high - rating.low < 120


@pytest.mark.parametrize("players", [2, 3])
def test_intervals_hold_the_truth_as_often_as_they_say(players):
    """60 tournaments of three agents: 180 intervals, of which 95% hold; fewer than 160 happens once in 10**5 times."""
    elo, rng, hits = {"a": 150.0, "b": 0.0, "c": -150.0}, np.random.default_rng(8), 0
    for _ in range(60):
        ratings = rate(simulate(elo, players, 40 if players == 3 else 60, rng))
        hits += sum(rating.low <= elo[agent] <= rating.high for agent, rating in ratings.items())
    assert hits >= 160


def test_the_order_of_the_games_does_not_matter():
    rng = np.random.default_rng(4)
    records = simulate({"a": 100.0, "b": 0.0, "c": -100.0}, 2, 20, rng, draws=0.3)
    ratings = rate(records)
    assert rate([records[k] for k in rng.permutation(len(records))]) == ratings
    assert rate(records[::-1]) == ratings


def test_a_pair_has_the_rating_of_its_score():
    """The Elo difference of 75% is 191; half a game each way hardly changes it."""
    ratings = rate(won("a", "b", 300) + won("b", "a", 100, 300), anchor="b")
    assert ratings["b"] == (0, 0, 0)
    assert ratings["a"].value == pytest.approx(191, abs=1)
    # Beta(300.5, 100.5): 95% between 0.706 and 0.791
    assert ratings["a"].low == pytest.approx(152, abs=8)
    assert ratings["a"].high == pytest.approx(231, abs=8)


def test_who_won_everything_has_a_finite_rating_and_a_wide_interval():
    """Beta(100.5, 0.5): 921 Elo by its odds, 95% between 636 and 2150."""
    ratings = rate(won("a", "b", 100), anchor="b")
    assert ratings["a"].value == pytest.approx(921, abs=1)
    assert 560 < ratings["a"].low < 720
    assert 1500 < ratings["a"].high < 3500
    more = rate(won("a", "b", 1000), anchor="b")
    assert more["a"].value > ratings["a"].value


def test_a_chain_of_unbeaten_agents_is_ordered():
    ratings = rate(won("a", "b", 50) + won("b", "c", 50))
    assert list(ratings) == ["a", "b", "c"]
    assert all(np.isfinite(rating).all() for rating in ratings.values())
    assert ratings["a"].low > ratings["c"].high


def test_draws_are_half_a_win():
    even = rate(drawn("a", "b", 100))
    assert even["a"].value == pytest.approx(0, abs=1e-6)
    assert even["a"].high - even["a"].low < 20, "a hundred draws say more than fifty wins and fifty losses"
    toss = rate(won("a", "b", 50) + won("b", "a", 50, 50))
    assert toss["a"].high - toss["a"].low > 40
    half = rate(won("a", "b", 50) + drawn("a", "b", 50), anchor="b")
    assert half["a"].value == pytest.approx(rate(won("a", "b", 75) + won("b", "a", 25, 75), anchor="b")["a"].value)


def test_games_of_three():
    """Winning every second game against two equals is odds of 2 to 1 against each: 120 Elo."""
    records = []
    for seed in range(400):
        winner = "abac"[seed % 4]
        records.append(game(("a", "b", "c"), tuple(1 if name == winner else -0.5 for name in "abc"), seed))
    ratings = rate(records, anchor="b")
    assert ratings["a"].value == pytest.approx(120, abs=2)
    assert ratings["c"].value == pytest.approx(0, abs=1e-6)
    all_draws = rate([game(("a", "b", "c"), (0, 0, 0), seed) for seed in range(10)])
    assert all(abs(rating.value) < 1e-6 for rating in all_draws.values())


def test_who_resigned_has_no_share_of_a_draw():
    """(A2) The two who are left have drawn; the third is behind both."""
    ratings = rate([game(("a", "b", "c"), (-0.5, 0.25, 0.25), seed) for seed in range(20)])
    assert ratings["b"].value == pytest.approx(ratings["c"].value)
    assert ratings["a"].value < ratings["b"].value - 400


def test_two_seats_in_a_game_of_three():
    """An agent that has two of the seats and wins two games of three is no better than the other."""
    records = []
    for seed in range(300):
        returns = tuple(1 if seat == seed % 3 else -0.5 for seat in range(3))
        records.append(game(("a", "a", "b"), returns, seed))
    ratings = rate(records)
    assert ratings["a"].value == pytest.approx(0, abs=1)


def test_an_opening_from_both_seats_counts_as_one():
    """When each opening is won from both seats or from none, there is half as much to know: intervals are wider."""
    paired = [
        game(seats, (1, -1) if (seats[0] == "a") == (seed % 2 == 0) else (-1, 1), seed)
        for seed in range(100)
        for seats in (("a", "b"), ("b", "a"))
    ]
    single = [game(("a", "b"), (1, -1) if seed % 2 else (-1, 1), seed) for seed in range(200)]
    width = [rating.high - rating.low for rating in (rate(paired)["a"], rate(single)["a"])]
    assert width[0] == pytest.approx(width[1] * 2**0.5, rel=0.15)


def test_agents_that_have_not_met_are_rated_apart():
    records = won("a", "b", 30) + won("b", "a", 10, 30) + won("c", "d", 10) + won("d", "c", 10, 10)
    assert connected_groups(records) == [["a", "b"], ["c", "d"]]
    ratings = rate(records)
    assert ratings["a"].value + ratings["b"].value == pytest.approx(0)
    assert ratings["c"].value == pytest.approx(0)
    assert rate(records, anchor="b")["c"].value == pytest.approx(0)


def test_unfinished_games_do_not_count():
    records = won("a", "b", 3)
    assert rate([*records, game(("b", "a"), (0, 0), 9, ending="unfinished")]) == rate(records)
    assert rate([]) == {}


def test_an_unknown_anchor_is_refused():
    with pytest.raises(ValueError, match="anchor is 'z': expected one of a, b"):
        rate(won("a", "b", 3), anchor="z")
