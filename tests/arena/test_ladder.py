"""The frozen ladders, and how an agent finds its place on one."""

import gzip
import json
import math
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from pbm_agents import make_agent
from pbm_agents.arena import (
    LadderRating,
    Run,
    Rung,
    ladders,
    load_ladder,
    measure_exploitability,
    plot_placement,
    rate,
    rate_on_ladder,
)
from pbm_agents.arena.ladder import Ladder, ladder_of_json, play_pin
from pbm_agents.arena.likelihood import expected_score
from pbm_agents.arena.ratings import bootstrap
from pbm_agents.cli.app import app
from pbm_agents.equilibrium import PublicTree, exploitability
from typer.testing import CliRunner

from pbm_envs import Chameleon, Trinim, make_game
from pbm_envs.envs.memory import AgentWithMemory
from pbm_envs.records import GameRecord

GAMES = Path(__file__).parents[2] / "benchmarks" / "results" / "ladders"
PINS = {
    (ladder.name, pin): pytest.param(ladder, pin, id=f"{ladder.name}-{pin.agent.partition(',')[0]}-{pin.seed}")
    for ladder in ladders().values()
    for pin in ladder.pins
}
"""Each pin once, though later versions of a ladder have those of earlier ones."""
EVERY = pytest.mark.parametrize("ladder", ladders().values(), ids=lambda ladder: ladder.id)


@pytest.mark.slow
@pytest.mark.parametrize(("ladder", "pin"), PINS.values())
def test_every_opponent_plays_as_it_did_when_it_was_rated(ladder, pin):
    """If this fails, the search has changed and the scale with it: make the next version of the ladders."""
    assert play_pin(ladder.game, pin, len(pin.moves)) == pin.moves


@EVERY
def test_every_opponent_is_pinned_and_every_setting_of_it_is_spelt_out(ladder):
    assert Counter(pin.agent for pin in ladder.pins) == {rung.agent: 2 for rung in ladder.rungs}
    for rung in ladder.rungs:
        make_agent(rung.agent)
        if rung.agent.startswith("mcts"):
            named = {part.partition("=")[0] for part in rung.agent.partition(":")[2].split(",")}
            of_run = {"simulations", "parallel_simulations", "solver", "early_stop", "reuse"}
            assert named >= of_run | {"c", "rave", "playouts", "avoid_losing_moves"}


@EVERY
def test_the_ratings_are_those_of_the_committed_games(ladder):
    files = ladder.tournament.get("files", [f"{ladder.name}.jsonl.gz"])
    texts = [gzip.decompress((GAMES / file).read_bytes()).decode() for file in files]
    records = [GameRecord.from_json(line) for text in texts for line in text.splitlines()]
    assert len(records) == ladder.tournament["games"]
    assert {record.game for record in records} == {ladder.game.name}
    assert all(dict(record.options) == dict(ladder.game.options) for record in records)
    assert not any(record.forfeits for record in records)
    ratings = rate(records, anchor="random")
    for rung in ladder.rungs:
        assert ratings[rung.agent] == pytest.approx((rung.elo, rung.low, rung.high), abs=0.06)
    agents, _, drawn = bootstrap(records, anchor="random")
    order = [agents.index(rung.agent) for rung in ladder.rungs]
    assert np.allclose(ladder.tournament["covariance"], np.cov(drawn.T)[np.ix_(order, order)], atol=0.06)
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
    assert load_ladder(ladder.id) == ladder
    assert load_ladder(ladder.game) == load_ladder(ladder.name)
    assert load_ladder(ladder.name).version == max(
        each.version for each in ladders().values() if each.name == ladder.name
    )


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


@pytest.mark.parametrize("rung", [1, 2, 4])
def test_a_comparison_with_a_rung_counts_what_is_not_known_of_the_rungs(rung):
    """Ladders whose ratings are off by errors of known covariance, and an agent that is as strong as a rung is."""
    rng, known, truly = np.random.default_rng(rung), (0.0, 300.0, 700.0, 1000.0, 1250.0), []
    root = np.tril(np.ones((5, 5))) * [0, 60, 90, 50, 70]  # each rung is off against the one below
    frozen = made_up(known)
    frozen = replace(frozen, tournament={"covariance": (root @ root.T).tolist()})
    for _ in range(300):
        true = made_up(known + root @ rng.normal(size=5))
        rating = LadderRating("someone", frozen, 60)
        while not rating.precise:
            for k in rating.opponents():
                chance = expected_score(true.rungs[rung].elo - true.rungs[k].elo, 2)
                rating.scores += [(k, score / 2) for score in rng.binomial(2, chance, 4).tolist()]
        truly.append((rating.ahead_of(frozen.rungs[rung]), rating.rating.low <= known[rung] <= rating.rating.high))
    held = np.mean([ahead.low <= 0 <= ahead.high for ahead, _ in truly])
    assert 0.92 <= held <= 0.995
    if rung > 1:  # against the frozen numbers alone the interval would be too narrow
        assert np.mean([on_scale for _, on_scale in truly]) < 0.9
    same = replace(frozen, tournament={})
    exact = LadderRating("someone", same, 60, rating.scores)
    assert exact.ahead_of(same.rungs[rung]).low > rating.ahead_of(frozen.rungs[rung]).low


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
    assert card["ladder"] == "ladder/trinim-5/v2"
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
    rating = rate_on_ladder(
        "mcts:simulations=60", "trinim-5", tmp_path, half_width=90, run=Run(workers=1 + (kept == 0.8))
    )
    assert rating.as_dict() == json.loads((folder / "card.json").read_text())
    again = [GameRecord.from_json(line).moves for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    before = [GameRecord.from_json(line).moves for line in whole.decode().splitlines()]
    assert sorted(again) == sorted(before)


def test_three_seats(tmp_path):
    rungs = (Rung("random", "random", 0, 0, 0, 9), Rung("40 simulations", "mcts:simulations=40", 350, 340, 360, 9))
    ladder = Ladder("three", 1, Trinim(num_players=3), 0, rungs)
    rating = rate_on_ladder("mcts:simulations=20", ladder, tmp_path, half_width=150)
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
        (["random"], "neither --game nor --ladder is given: expected one of the two"),
        (["random", "-g", "chameleon:size=3"], "there is no ladder for Chameleon(size=3"),
        (["mtcs", "-g", "trinim", "--out", str(tmp_path / "a")], "'mtcs' is not an agent"),
        (["random", "-g", "trinim", "--interval", "0", "--out", str(tmp_path / "b")], "half_width is 0"),
    ):
        result = CliRunner().invoke(app, ["ladder", *words])
        assert result.exit_code == 2
        assert message in result.stderr


@pytest.mark.slow
def test_exploitability_is_that_of_the_public_tree():
    found = measure_exploitability("random", (1, 2))
    assert list(found) == ["curio-ladder-1", "curio-ladder-2"]
    for name, each in found.items():
        tree = PublicTree.build(make_game(name))
        assert each.value == pytest.approx(exploitability(tree, tree.uniform_policy()))
        assert each.value == each.random
    [greedy] = measure_exploitability("greedy").values()
    assert 0 < greedy.value < greedy.random
    with pytest.raises(ValueError, match="remembers games"):
        measure_exploitability(Remembering())


class Remembering(AgentWithMemory):
    def begin_games(self, game, ids):
        pass

    def end_games(self, ids):
        pass

    def act(self, game, views, rng, ids):
        return game.legal_action_mask(views).argmax(axis=1)


@pytest.mark.slow
def test_the_card_of_curio_shows_exploitability(tmp_path):
    words = ["ladder", "greedy", "-g", "curio:base=3,rows=4,cols=4", "--interval", "300", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    [said] = [line for line in result.stdout.splitlines() if line.startswith("Exploitability")]
    found = json.loads((tmp_path / "card.json").read_text())["exploitability"]["curio-ladder-1"]
    assert 0 < found["low"] < found["value"]
    assert said.startswith(f"Exploitability in curio-ladder-1: {found['low']:.3f} to {found['value']:.3f} (random")
    result = CliRunner().invoke(app, [*words, "--exploit", "0"])
    assert "Exploitability" not in result.stdout
    assert json.loads((tmp_path / "card.json").read_text())["exploitability"] == {}
