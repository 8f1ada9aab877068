"""The frozen ladders, and how an agent finds its place on one."""

import gzip
import json
import math
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.arena import LadderRating, Rung, ladders, load_ladder, plot_placement, rate, rate_on_ladder
from pbm_agents.arena.ladder import Ladder, ladder_of_json, play_pin
from pbm_agents.arena.likelihood import expected_score
from pbm_agents.cli.app import app
from typer.testing import CliRunner

from pbm_envs import Chameleon, Trinim
from pbm_envs.records import GameRecord

GAMES = Path(__file__).parents[2] / "benchmarks" / "results" / "ladders"
FAST = 100
"""Simulations up to which the moves of a rung are played again in the quick tests."""
PINS = [
    pytest.param(
        ladder,
        pin,
        id=f"{ladder.id}-{pin.agent.partition(',')[0]}-{pin.seed}",
        marks=[] if int(pin.agent.partition("simulations=")[2].partition(",")[0] or 0) <= FAST else pytest.mark.slow,
    )
    for ladder in ladders().values()
    for pin in ladder.pins
]
EVERY = pytest.mark.parametrize("ladder", ladders().values(), ids=lambda ladder: ladder.id)


@pytest.mark.parametrize(("ladder", "pin"), PINS)
def test_every_opponent_plays_as_it_did_when_it_was_rated(ladder, pin):
    """If this fails, the search has changed and the scale with it: make the next version of the ladders."""
    assert play_pin(ladder.game, pin) == pin.moves


@EVERY
def test_every_opponent_is_pinned_and_every_setting_of_it_is_spelt_out(ladder):
    assert Counter(pin.agent for pin in ladder.pins) == {rung.agent: 2 for rung in ladder.rungs}
    for rung in ladder.rungs:
        make_agent(rung.agent)
        if rung.agent.startswith("mcts"):
            named = {part.partition("=")[0] for part in rung.agent.partition(":")[2].split(",")}
            named_there = {"simulations", "c", "rave", "width", "playouts", "solver", "early_stop", "reuse"}
            assert named >= named_there | {"avoid_losing_moves"}


@EVERY
def test_the_ratings_are_those_of_the_committed_games(ladder):
    text = gzip.decompress((GAMES / f"{ladder.name}.jsonl.gz").read_bytes()).decode()
    records = [GameRecord.from_json(line) for line in text.splitlines()]
    assert len(records) == ladder.tournament["games"]
    assert {record.game for record in records} == {ladder.game.name}
    assert all(dict(record.options) == dict(ladder.game.options) for record in records)
    assert not any(record.forfeits for record in records)
    ratings = rate(records, anchor="random")
    for rung in ladder.rungs:
        assert ratings[rung.agent] == pytest.approx((rung.elo, rung.low, rung.high), abs=0.06)
    assert ladder.rungs[0].elo <= 0 < ladder.rungs[-1].elo
    assert [rung.elo for rung in ladder.rungs] == sorted(rung.elo for rung in ladder.rungs)


@EVERY
def test_the_results_are_transitive(ladder):
    """No three opponents beat each other in a circle, beyond what chance does."""
    scores = {}
    for winner, loser, games, score, _, _ in ladder.tournament["pairs"]:
        scores[winner, loser], scores[loser, winner] = (score, games), (1 - score, games)
    names = [rung.name for rung in ladder.rungs]

    def beats(one, other):
        score, games = scores.get((one, other), (0, 1))
        return score - 2 * math.sqrt(0.25 / games) > 0.5

    for a, b, c in combinations(names, 3):
        assert not (beats(a, b) and beats(b, c) and beats(c, a)), (a, b, c)
        assert not (beats(a, c) and beats(c, b) and beats(b, a)), (a, b, c)


@EVERY
def test_a_ladder_is_what_its_file_says(ladder):
    assert ladder_of_json(ladder.to_json()) == ladder
    assert load_ladder(ladder.id) == load_ladder(ladder.game) == load_ladder(ladder.name) == ladder


def test_a_ladder_that_is_not_there_is_named():
    with pytest.raises(ValueError, match=r"there is no ladder for 'trinim-9': expected one of .*ladder/trinim-5/v1"):
        load_ladder("trinim-9")
    with pytest.raises(ValueError, match="there is no ladder for 'ladder/trinim-5/v99': expected one of"):
        load_ladder("ladder/trinim-5/v99")
    with pytest.raises(
        ValueError, match=r"there is no ladder for Chameleon\(size=3.*: expected one of .*Trinim\(size=5"
    ):
        load_ladder(Chameleon(size=3))


def made_up(elos, game=None):
    rungs = tuple(
        Rung(f"rung {elo}", f"mcts:simulations={k + 1}", elo, elo - 9, elo + 9, 100) for k, elo in enumerate(elos)
    )
    return Ladder("made-up", 1, game or Trinim(), 0, rungs)


def simulated(truth, ladder, half_width, rng):
    """The rating of an agent of this strength whose openings are two independent games."""
    rating = LadderRating("someone", ladder, half_width)
    while not rating.precise:
        for rung in rating.opponents():
            chance = expected_score(truth - ladder.rungs[rung].elo, 2)
            rating.scores += [(rung, score / 2) for score in rng.binomial(2, chance, 4).tolist()]
    return rating


@pytest.mark.parametrize("truth", [-100, 300, 700, 1300])
def test_intervals_hold_the_truth_and_are_as_narrow_as_asked_for(truth):
    rng, ladder = np.random.default_rng(abs(truth)), made_up([0, 200, 500, 900, 1200])
    ratings = [simulated(truth, ladder, 70, rng) for _ in range(20)]
    held = sum(low <= truth <= high for _, low, high in (rating.rating for rating in ratings))
    assert held >= 16  # of 20; 95% are 19, less three standard deviations
    assert all((high - low) / 2 <= 70 for _, low, high in (rating.rating for rating in ratings))
    assert abs(np.mean([rating.rating.value for rating in ratings]) - truth) < 40


def test_opponents_are_those_that_teach_most():
    ladder = made_up([0, 200, 500, 900, 1200])
    rating = simulated(700, ladder, 60, np.random.default_rng(1))
    assert set(rating.opponents()) == {2, 3}
    counts = Counter(rung for rung, _ in rating.scores)
    assert counts[2] + counts[3] > 0.8 * rating.openings
    own = LadderRating(ladder.rungs[3].agent, ladder, 60, rating.scores)
    assert 3 not in own.opponents()


def test_the_posterior_is_bayes_rule():
    """For one opponent and single results, against the formula written out."""
    ladder = made_up([100, 400])
    rating = LadderRating("someone", ladder, 50, [(0, 1.0)] * 10 + [(0, 0.5)] * 10 + [(0, 0.0)] * 10)
    grid = rating._grid
    chance = 1 / (1 + 10 ** ((100 - grid) / 400))
    scatter = np.array([1.0, 0.5, 0.0]).repeat(10)
    logs = 30.0 * np.log(chance) + 30.0 * np.log(1 - chance)
    prior = 0.5 * np.log(chance * (1 - chance))
    best = chance[(logs + prior).argmax()]
    factor = (20 + ((scatter - best) ** 2 / (best * (1 - best) / 2)).sum()) / 50
    weights = np.exp(logs / factor + prior)
    assert rating.posterior() == pytest.approx(weights / weights.sum(), abs=1e-9)
    assert rating.rating.value == pytest.approx(100, abs=0.1)


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("placed") / "rating"
    result = CliRunner().invoke(
        app, ["ladder", "mcts:simulations=60", "-g", "trinim", "--interval", "90", "--out", str(folder)]
    )
    assert result.exit_code == 0, result.output
    return folder, result


def test_the_command_places_an_agent_and_writes_its_card(placed):
    folder, result = placed
    card = json.loads((folder / "card.json").read_text())
    assert card["headline"] in result.stdout
    assert (folder / "card.txt").read_text() == result.stdout
    assert card["ladder"] == "ladder/trinim-5/v1"
    value, low, high = (card["rating"][name] for name in ("value", "low", "high"))
    elo = {rung.name: rung.elo for rung in load_ladder("trinim-5").rungs}
    assert low < elo["100 simulations"]
    assert high > elo["30 simulations"]
    assert low < value < high
    assert (high - low) / 2 <= 90
    assert "(until ± 90)" in result.stderr
    assert {path.name for path in folder.iterdir()} >= {"card.png", "card.svg", "games.jsonl", "tournament.json"}


@pytest.mark.parametrize("kept", [0.0, 0.37, 0.8])
def test_a_stopped_rating_goes_on_and_workers_change_nothing(placed, tmp_path, kept):
    """A file cut anywhere."""
    folder, _ = placed
    whole = (folder / "games.jsonl").read_bytes()
    (tmp_path / "tournament.json").write_bytes((folder / "tournament.json").read_bytes())
    (tmp_path / "games.jsonl").write_bytes(whole[: int(kept * len(whole))])
    rating = rate_on_ladder("mcts:simulations=60", "trinim-5", tmp_path, 90, workers=1 + (kept == 0.8))
    assert rating.as_dict() == json.loads((folder / "card.json").read_text())
    again = [GameRecord.from_json(line).moves for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    before = [GameRecord.from_json(line).moves for line in whole.decode().splitlines()]
    assert sorted(again) == sorted(before)


def test_three_seats(tmp_path):
    rungs = (
        Rung("random", "random", 0, 0, 0, 9),
        Rung("40 simulations", "mcts:simulations=40", 350, 340, 360, 9),
    )
    ladder = Ladder("three", 1, Trinim(num_players=3), 0, rungs)
    rating = rate_on_ladder("mcts:simulations=20", ladder, tmp_path, 150)
    assert rating.games == 6 * rating.openings
    assert 50 < rating.rating.value < 600


def test_a_picture_shows_every_rung(placed):
    rating = LadderRating("someone", load_ladder("trinim-5"), 50, [(4, 0.5)] * 30)
    labels = [text.get_text() for text in plot_placement(rating).axes[0].get_yticklabels()]
    assert labels == [rung.name for rung in rating.ladder.rungs]


def test_the_ladders_are_listed_and_wrong_commands_refused(tmp_path):
    listed = CliRunner().invoke(app, ["ladder"])
    assert "ladder/trinim-5/v1" in listed.stdout
    for words, message in (
        (["random"], "--game is None and --ladder is None: expected one of the two"),
        (["random", "-g", "chameleon:size=3"], "there is no ladder for Chameleon(size=3"),
        (["mtcs", "-g", "trinim", "--out", str(tmp_path / "a")], "'mtcs' is no agent"),
        (["random", "-g", "trinim", "--interval", "0", "--out", str(tmp_path / "b")], "half_width is 0"),
    ):
        result = CliRunner().invoke(app, ["ladder", *words])
        assert result.exit_code == 2
        assert message in result.stderr
