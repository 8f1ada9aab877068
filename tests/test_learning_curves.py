"""The clock and the checks with which `benchmarks/learning_curves.py` measures the programs of RL libraries."""

import importlib
import json
from pathlib import Path

import pytest

from pbm_envs import Chameleon

pytest.importorskip("typer")
ROOT = Path(__file__).parent.parent


@pytest.fixture
def curves(monkeypatch):
    """The script, whose evaluations take 100 seconds of a processor time that the test sets."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    script, now = importlib.import_module("learning_curves"), [50.0]
    real = script.evaluate

    def slow(*arguments, **settings):
        now[0] += 100.0
        return real(*arguments, **settings)

    monkeypatch.setattr(script.time, "process_time", lambda: now[0])
    monkeypatch.setattr(script, "evaluate", slow)
    monkeypatch.setattr(script, "CHECK_GAMES", 2)
    return script, now


def test_a_run_counts_neither_set_up_nor_evaluations_and_stops(curves):
    script, now = curves
    run = script.Run(Chameleon(size=3), 60.0)
    now[0] = 70.0
    with run.start("folder", 100) as log:
        log.advance(5)
        assert run.evaluate("random", run.game, games=2)["random"].games == 2
        for _ in range(59):
            now[0] += 1.0
            log.advance(10)
        now[0] += 1.0
        with pytest.raises(script.TimeIsUpError):
            log.advance(10)
    assert run.setup == 70.0
    assert run.plies == 605
    seconds, plies, scores = zip(*run.curve, strict=True)
    assert seconds[:6] == (1.0, 2.0, 3.0, 4.0, 5.0, 7.0)  # each a quarter later than the last, rounded up
    assert (seconds[-1], plies[-1]) == (60.0, 605)
    assert all(0 <= score <= 1 for score in scores)


def test_finished_runs_are_found_again(curves, tmp_path):
    script, _ = curves
    line = {"library": "ppo", "game": "chameleon", "seed": 2, "minutes": 1.0}
    (tmp_path / "lines").write_text(json.dumps(line) + "\n", encoding="utf-8")
    [found] = script.read_lines(tmp_path / "lines")
    assert script.done(found, "ppo", 2, 1.0, on_hex=False)
    assert not script.done(found, "ppo", 2, 10.0, on_hex=False)
    assert not script.done(found, "ppo", 1, 1.0, on_hex=False)
    assert not script.done(found, "ppo", 2, 1.0, on_hex=True)
    assert script.read_lines(tmp_path / "none") == []


def test_a_row_has_the_median_time_to_the_bar_and_the_range_of_scores(curves):
    script, _ = curves
    reach = [[[1.0, 10, 0.5], [2.0, 20, 0.96]], [[4.0, 10, 0.95]], [[1.0, 10, 0.5], [2.0, 20, 0.4]]]
    lines = [
        {"curve": curve, "plies": 200, "seconds": 2.0, "set-up": 3.0, "alone": score}
        for curve, score in zip(reach, (0.1, 0.2, 0.6), strict=True)
    ]
    row = ["3", "3", "100", "200", "0.770", "0.300", "4", "10", "0.100", "to", "0.600"]
    assert script.figures(lines).split() == row
    searched = [line | {"in search": score} for line, score in zip(lines, (0.5, 0.7, 0.9), strict=True)]
    assert script.figures(searched).split() == [*row, "0.700", "0.500", "to", "0.900"]
    assert script.figures(lines[2:]).split() == ["1", "3", "100", "200", "0.400", "0.600", "never", "never"]


def test_the_table_has_a_line_for_each_library_and_time(curves, monkeypatch, tmp_path):
    script, _ = curves
    line = {"seed": 1, "curve": [[1.0, 10, 0.5]], "plies": 20, "seconds": 2.0, "set-up": 3.0, "alone": 0.5}
    line |= {"machine": "a machine", "versions": {"torch": "2"}}
    named = ("sb3", 10.0, "chameleon"), ("ppo", 1.0, "hex"), ("ppo", 1.0, "chameleon"), ("sb3", 1.0, "chameleon")
    runs = [dict(zip(("library", "minutes", "game"), each, strict=True)) for each in named]
    monkeypatch.setattr(script, "RESULTS", tmp_path)
    monkeypatch.setattr(script, "LINES", tmp_path / "lines.jsonl")
    (tmp_path / "learning_curves.txt").write_text("old\n", encoding="utf-8")
    (tmp_path / "lines.jsonl").write_text("".join(json.dumps(line | run) + "\n" for run in runs), encoding="utf-8")
    script.draw()
    table = (tmp_path / "learning_curves.txt").read_text(encoding="utf-8").splitlines()
    assert table[:5] == ["old", "", script.HEADING, "", "a machine"]
    own = ["ppo.py", "(here)", "self-play", "1"]
    assert [table[-9], table[-3]] == ["Chameleon 5x5", "Hex 5x5"]
    assert [row.split()[:-8] for row in (*table[-7:-4], table[-1])] == [
        own,
        ["MaskablePPO", "past", "selves", "1"],
        ["MaskablePPO", "past", "selves", "10"],
        own,
    ]


def test_each_part_of_the_results_is_written_alone(curves, monkeypatch, tmp_path):
    script, _ = curves
    monkeypatch.setattr(script, "RESULTS", tmp_path)
    (tmp_path / "learning_curves.txt").write_text("old\ncurves\n", encoding="utf-8")
    script.write_results(libraries="a table")
    script.write_results(ppo="new curves")
    text = (tmp_path / "learning_curves.txt").read_text(encoding="utf-8")
    assert text == f"new curves\n\n{script.HEADING}\n\na table\n"


@pytest.mark.parametrize(
    ("name", "on_hex", "message"),
    [("pgx", False, "expected pgx on hex"), ("train", True, "expected train on chameleon"), ("sb4", False, "sb3")],
)
def test_what_a_program_cannot_learn_is_refused(curves, tmp_path, name, on_hex, message):
    script, _ = curves
    with pytest.raises(script.typer.BadParameter, match=message):
        script.library(name, seed=[1], on_hex=on_hex, out=tmp_path / "lines.jsonl")
    assert not list(tmp_path.iterdir())
