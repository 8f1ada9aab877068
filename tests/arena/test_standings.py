"""Standings, head-to-head results, CSV and plots say what the records say."""

import csv
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from pbm_agents.arena import (
    by_game,
    head_to_head,
    plot_head_to_head,
    plot_ratings,
    save_plot,
    seat_scores,
    standings,
    write_csv,
)
from PIL import Image

from pbm_envs.records import Forfeit, GameRecord
from pbm_envs.toolbox import install_command

TWO = GameRecord(
    game="chameleon",
    options={"size": 3, "swap_rule": True, "allow_resign": False},
    board=None,
    agents=("a", "b"),
    moves=("b1x",) * 6,
    returns=(1.0, -1.0),
    ending="won",
    plies=6,
    turns=(3, 3),
    seconds=(0.3, 3.0),
)
GAMES = [
    TWO,
    replace(TWO, agents=("b", "a"), returns=(1, -1), number=1, plies=8, turns=(4, 4), seconds=(4.0, 0.4)),
    replace(TWO, agents=("a", "b"), returns=(0, 0), number=2, seed=1),
    replace(TWO, agents=("b", "a"), returns=(-1, 1), number=3, seed=1, forfeits=(Forfeit(6, 0, "slept"),)),
    replace(TWO, agents=("b", "a"), returns=(0, 0), number=4, ending="unfinished"),
]
THREE = [
    replace(
        TWO,
        game="trinim",
        options={"size": 5, "num_players": 3},
        agents=agents,
        returns=returns,
        turns=(2, 2, 2),
        seconds=(),
    )
    for agents, returns in [(("a", "b", "c"), (1, -0.5, -0.5)), (("c", "a", "b"), (0.25, -0.5, 0.25))]
]


def test_standings_of_a_game_of_two():
    a, b = standings(GAMES)
    assert (a.agent, a.games, a.wins, a.draws, a.losses, a.score) == ("a", 4, 2, 1, 1, 0.625)
    assert (b.agent, b.games, b.wins, b.draws, b.losses, b.score) == ("b", 4, 1, 1, 2, 0.375)
    assert a.score_by_seat == (0.75, 0.5)
    assert a.plies == 6.5
    assert a.seconds_per_move == pytest.approx((0.3 + 0.4 + 0.3 + 3) / 13)
    assert b.seconds_per_move == pytest.approx((3 + 4 + 3 + 0.3) / 13)
    assert (a.forfeits, b.forfeits) == (0, 1)
    assert seat_scores(GAMES).tolist() == [0.625, 0.375]


def test_head_to_head():
    meetings = head_to_head(GAMES, ["b", "a"])
    assert np.isnan(meetings.scores.diagonal()).all()
    assert meetings.scores[0, 1] == 0.375
    assert meetings.scores[1, 0] == 0.625
    assert meetings.games.tolist() == [[0, 4], [4, 0]]


def test_standings_of_a_game_of_three():
    """A winner beats both; the losers have drawn with each other; who is out is behind those who draw."""
    meetings = head_to_head(THREE, ["a", "b", "c"])
    assert meetings.scores[0].tolist()[1:] == [0.5, 0.5]
    assert meetings.scores[1, 2] == 0.5
    table = {row.agent: row for row in standings(THREE)}
    assert table["a"].score == 0.5
    assert table["c"].score == 0.25
    assert table["a"].score_by_seat[:2] == (1, 0)
    assert np.isnan(table["a"].score_by_seat[2])


def test_games_are_told_apart_by_their_options():
    records = [*GAMES, *THREE, replace(TWO, options={"size": 11, "swap_rule": True, "allow_resign": False})]
    assert {name: some.games for name, some in by_game(records).items()} == {
        "chameleon:size=3": 4,
        "trinim:num_players=3": 2,
        "chameleon": 1,
    }


def tables(records):
    rows = standings(records)
    return {"chameleon:size=3": (rows, head_to_head(records, [row.agent for row in rows]))}


def test_csv(tmp_path):
    ratings, pairs = write_csv(tmp_path, tables(GAMES))
    with open(ratings, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["agent"], row["wins"], row["score"], row["score_player_2"]) for row in rows] == [
        ("a", "2", "0.625", ""),
        ("b", "1", "0.375", ""),
    ]
    assert float(rows[0]["low"]) < float(rows[0]["rating"]) < float(rows[0]["high"])
    with open(pairs, newline="") as file:
        assert next(csv.DictReader(file)) == {
            "game": "chameleon:size=3",
            "agent": "a",
            "against": "b",
            "games": "4",
            "score": "0.625",
        }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["head_to_head.csv", "ratings.csv"]


def test_plots_name_every_agent_and_nothing_overlaps(tmp_path):
    long = "mcts:simulations=100000,c=1.25,parallel_simulations=4"
    records = [
        replace(record, agents=tuple({"a": long}.get(name, name) for name in record.agents))
        for record in [*GAMES, *THREE]
    ]
    rows = standings(records)
    for name, figure in {
        "ratings": plot_ratings(rows, "title"),
        "meetings": plot_head_to_head(head_to_head(records, [row.agent for row in rows]), "title"),
    }.items():
        png, svg = save_plot(figure, tmp_path / name)
        with Image.open(png) as image:
            assert min(image.size) > 200
            assert len(np.unique(np.asarray(image.convert("L")))) > 20
        ElementTree.parse(svg)
        renderer = FigureCanvasAgg(figure).get_renderer()
        figure.draw(renderer)
        [axes, *_] = figure.axes
        labels = axes.get_yticklabels()
        assert sorted(label.get_text() for label in labels) == sorted(row.agent for row in rows)
        boxes = [text.get_window_extent(renderer) for text in [*labels, *axes.texts, axes.title]]
        assert not [(a, b) for k, a in enumerate(boxes) for b in boxes[:k] if a.overlaps(b)]
        for box in boxes:
            assert box.x0 >= 0
            assert box.y1 <= figure.bbox.height


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=re.escape(install_command("plot"))):
        plot_ratings(standings(GAMES), "title")
