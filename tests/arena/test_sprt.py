"""Sequential tests: the ratio against other programs' figures and a brute-force maximum, the decisions, resuming."""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from pbm_agents.arena import Run, SequentialResult, SequentialTest, play_sprt, tournament_records
from pbm_agents.arena.likelihood import (
    elo_of_score,
    expected_score,
    log_likelihood_ratio,
    normalized_quotient,
    normalized_ratio,
    possible_scores,
)
from pbm_agents.arena.ratings import fit
from pbm_agents.arena.schedule import seatings
from pbm_agents.arena.sprt import H0, H1, opening_score
from pbm_agents.cli.app import app
from typer.testing import CliRunner

from pbm_envs import Chameleon, Trinim

ROOT = Path(__file__).parents[2]
PENTANOMIAL = [0, 0.25, 0.5, 0.75, 1]
EASY = SequentialTest(
    Chameleon(size=4), "mcts:simulations=40", "random", elo1=100, batch=8, key="the same games each time"
)


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "llr"),
    [([223, 9863, 21279, 10037, 246], 0.5, 2.5, -3.07), ([871, 26175, 55983, 26678, 821], 0, 2, -4.98)],
)
def test_the_ratio_is_that_of_fastchess(counts, elo0, elo1, llr):
    """The expectations of its own tests (app/tests/sprt_test.cpp, "logistic pentanomial")."""
    found = log_likelihood_ratio(counts, PENTANOMIAL, expected_score(elo0, 2), expected_score(elo1, 2))
    assert found == pytest.approx(llr, abs=0.006)


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "llr"),
    [([365, 16618, 36229, 16974, 390], 0, 2, 2.25), ([127, 4883, 10712, 5150, 104], -1.75, 0.25, 3.01)],
)
def test_the_normalized_ratio_is_that_of_fastchess(counts, elo0, elo1, llr):
    """The expectations of its own tests (app/tests/sprt_test.cpp, "normalized pentanomial")."""
    test = SequentialTest(Chameleon(size=4), "greedy", "random", elo0, elo1, normalized=True)
    assert test.ratio(counts, PENTANOMIAL) == pytest.approx(llr, abs=0.03)
    means = [normalized_quotient(elo, 2) for elo in (elo0, elo1)]
    assert normalized_ratio(counts, PENTANOMIAL, *means) == test.ratio(counts, PENTANOMIAL)


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        pytest.param([30, 50, 40], 0, 0.1, marks=pytest.mark.slow),
        ([30, 5, 40], 0.2, -0.1),
        pytest.param([9, 90, 20], 0, 0.3, marks=pytest.mark.slow),
    ],
)
def test_the_normalized_ratio_is_that_of_the_best_distributions(counts, low, high):
    """Of all distributions over three values with this quotient, tried one after another."""
    first, last = np.meshgrid(np.linspace(0, 1, 4001)[1:-1], np.linspace(0, 1, 4001)[1:-1], indexing="ij")
    middle = 1 - first - last
    mean = middle / 2 + last
    sigma = np.sqrt(np.where(middle > 0, middle / 4 + last - mean**2, np.nan))
    with np.errstate(invalid="ignore", divide="ignore"):
        quotient = (mean - 0.5) / sigma
        likelihood = counts[0] * np.log(first) + counts[1] * np.log(middle) + counts[2] * np.log(last)

    def best(wanted):
        return np.nanmax(np.where(np.abs(quotient - wanted) < 5e-4, likelihood, np.nan))

    assert normalized_ratio(counts, [0, 0.5, 1], low, high) == pytest.approx(best(high) - best(low), abs=0.05)


@pytest.mark.parametrize("players", [2, 3])
def test_normalized_elo_is_what_was_asked_for(players):
    """Openings whose mean is so many standard deviations of a game from 1/2 have that normalized Elo."""
    rng, games = np.random.default_rng(players), 2**players - 2
    result = SequentialResult(SequentialTest(Trinim(num_players=players), "greedy", "random", normalized=True))
    chance = 0.55
    for score in rng.binomial(games, chance, 40_000) / games:
        result.counts[int(np.abs(np.subtract(result.values, score)).argmin())] += 1
    expected = (chance - 0.5) / np.sqrt(chance * (1 - chance)) * 800 / np.log(10)
    assert result.normalized_elo == pytest.approx(expected, abs=3)


@pytest.mark.slow
@pytest.mark.parametrize(("elo", "accepted"), [(0.0, H0), (40.0, H1)])
def test_normalized_tests_keep_their_error_rates(elo, accepted):
    """150 tests at each hypothesis, 60% draws: wrong no more often than 5% and chance explain."""
    rng, wrong = np.random.default_rng(7), 0
    won = 0.2 + normalized_quotient(elo, 1) * np.sqrt(0.1)  # variance of a game with 60% draws: 0.1
    won = (0.4 + 2 * (won - 0.2)) / 2
    for _ in range(150):
        result = SequentialResult(SequentialTest(Chameleon(size=4), "greedy", "random", 0, 40, normalized=True))
        while result.accepted is None:
            games = rng.choice([0, 0.5, 1], size=(20, 2), p=[0.4 - won, 0.6, won])
            any(result.add(score) for score in games.mean(axis=1).tolist())
        wrong += result.accepted != accepted
    assert wrong / 150 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 150)


def best_likelihood(counts, values, mean):
    """The greatest log-likelihood of three values with this mean, by trying 200,000 distributions."""
    middle = np.linspace(1e-9, 1 - 1e-9, 200_001)
    last = (mean - values[0] * (1 - middle) - values[1] * middle) / (values[2] - values[0])
    first = 1 - middle - last
    fits = (first > 0) & (last > 0)
    chances = np.stack([first[fits], middle[fits], last[fits]])
    return (np.array(counts)[:, None] * np.log(chances)).sum(axis=0).max()


@pytest.mark.parametrize("counts", [[3, 5, 9], [40, 10, 30], [1, 100, 2], [200, 1, 150]])
@pytest.mark.parametrize(("low", "high"), [(0.5, 0.51), (0.4, 0.7), (0.6, 0.5)])
def test_the_ratio_is_that_of_the_best_distributions(counts, low, high):
    values = [0, 0.5, 1]
    expected = best_likelihood(counts, values, high) - best_likelihood(counts, values, low)
    assert log_likelihood_ratio(counts, values, low, high) == pytest.approx(expected, abs=1e-5)


def test_nothing_seen_says_nothing_and_impossible_means_are_refused():
    assert log_likelihood_ratio([0] * 5, PENTANOMIAL, 0.5, 0.51) == pytest.approx(0, abs=1e-4)
    assert 0 < log_likelihood_ratio([0, 0, 0, 0, 3], PENTANOMIAL, 0.5, 0.51) < 0.1
    with pytest.raises(ValueError, match=r"high is 1.0: expected a mean between 0.0 and 1.0"):
        log_likelihood_ratio([1] * 5, PENTANOMIAL, 0.5, 1.0)


@pytest.mark.parametrize("players", [2, 3])
def test_scores_of_strengths_are_those_of_luces_model(players):
    """Which `ratings` fits: as many games as expected at 130 points' difference are rated 130 points apart."""
    rows = seatings(("a", "b"), players)
    seats = np.array(sorted([row.count("a"), row.count("b")] for row in rows), np.float64)
    strength = np.array([10 ** (130 / 400), 1.0])
    won = seats * strength / (seats * strength).sum(axis=1, keepdims=True)
    fitted = fit(won[None], seats, np.ones((2, 2), bool))[0]
    assert 400 / np.log(10) * (fitted[0] - fitted[1]) == pytest.approx(130, abs=1e-6)
    assert expected_score(130, players) == pytest.approx(won[:, 0].mean())
    assert elo_of_score(expected_score(130, players), players) == pytest.approx(130, abs=1e-6)


def test_possible_scores_are_all_there_are():
    assert possible_scores(2) == (0, 0.25, 0.5, 0.75, 1)
    by_game = [(0, 1, n / 3) for n in (2, 2, 2, 1, 1, 1)]  # the share of who has n seats: lost, won, drawn
    assert {round(sum(shares) / 6, 9) for shares in product(*by_game)} == {round(v, 9) for v in possible_scores(3)}


def test_it_ends_as_soon_as_a_bound_is_crossed_and_counts_no_more():
    result = SequentialResult(EASY)
    while not result.add(1.0):
        assert result.accepted is None
        assert EASY.bounds[0] < result.llr < EASY.bounds[1]
    assert result.accepted == H1
    counted = list(result.counts)
    assert result.add(0.0)
    assert result.counts == counted
    even = SequentialResult(EASY)
    while not even.add(0.5):
        pass
    assert even.accepted == H0


def test_simulated_tests_are_wrong_as_seldom_as_asked():
    rng = np.random.default_rng(1)
    for elo, wrong in ((0, H1), (100, H0)):
        chance = expected_score(elo, 2)
        count = 0
        for _ in range(200):
            result = SequentialResult(EASY)
            while not result.add(rng.binomial(2, chance) / 2):
                pass
            count += result.accepted == wrong
        assert count <= 18, (elo, count)  # 5% of 200, and two and a half standard deviations


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sprt") / "test"
    return play_sprt(EASY, folder), folder


def test_a_test_is_played_to_its_decision(decided):
    result, folder = decided
    assert result.accepted == H1
    records = tournament_records(folder)
    assert len(records) >= 2 * result.openings
    scores = [opening_score(records[k : k + 2], EASY.new) for k in range(0, 2 * result.openings, 2)]
    assert [scores.count(value) for value in PENTANOMIAL] == result.counts
    assert {record.agents for record in records} == {(EASY.new, EASY.old), (EASY.old, EASY.new)}
    assert "H1 accepted" in str(result)


@pytest.mark.slow
def test_workers_come_to_the_same_result(decided, tmp_path):
    result = play_sprt(EASY, tmp_path / "test", Run(workers=2))
    assert (result.counts, result.llr, result.accepted) == (decided[0].counts, decided[0].llr, decided[0].accepted)


def test_three_seats(tmp_path):
    test = SequentialTest(Trinim(num_players=3), "mcts:simulations=40", "random", elo1=80)
    result = play_sprt(test, tmp_path / "three")
    assert result.accepted == H1
    assert len(result.counts) == 19
    records = tournament_records(tmp_path / "three")
    assert {record.agents.count(test.new) for record in records} == {1, 2}


def test_openings_that_are_used_up_decide_nothing(tmp_path):
    test = SequentialTest(Chameleon(size=3), "mcts:simulations=2", "random", elo1=1, openings=3)
    result = play_sprt(test, tmp_path / "few")
    assert (result.accepted, result.openings) == (None, 3)
    assert "nothing is decided yet" in str(result)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_killed_test_goes_on(decided, tmp_path):
    folder = tmp_path / "killed"
    options = "-g chameleon:size=4 --elo1 100 --batch 8 --key".split()
    words = ["sprt", EASY.new, EASY.old, *options, EASY.key, "--out", str(folder)]
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-m", "pbm_agents.cli", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        games, deadline = folder / "games.jsonl", time.monotonic() + 600
        size = games.stat().st_size if games.exists() else 0
        while process.poll() is None and time.monotonic() < deadline:
            if games.exists() and games.stat().st_size > size:
                os.kill(process.pid, signal.SIGKILL)
                break
            time.sleep(0.001)
        process.communicate()
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 0, again.output
    written = json.loads((folder / "result.json").read_text())
    assert written["accepted"] == "H1"
    assert written["openings_played"] == decided[0].openings
    assert "LLR" in again.stderr
    other = CliRunner().invoke(app, [*words[:-2], "--alpha", "0.1", "--out", str(folder)])
    assert other.exit_code == 2
    assert "holds another tournament: alpha 0.05 there and 0.1 here" in other.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"elo1": 0.0}, "elo0 is 0.0 and elo1 is 0.0: expected elo0 < elo1"),
        ({"alpha": 0.7}, "alpha is 0.7: expected a number from 1e-09 to 0.5"),
        ({"old": "mcts:simulations=40"}, "expected at least two, each only once"),
        ({"openings": 0}, "openings is 0: expected an integer from 1 up"),
        ({"new": "mtcs"}, "'mtcs' is not an agent"),
    ],
)
def test_what_cannot_be_tested_is_refused(change, message):
    settings = {"game": EASY.game, "new": EASY.new, "old": EASY.old} | change
    with pytest.raises(ValueError, match=message):
        SequentialTest(**settings)
