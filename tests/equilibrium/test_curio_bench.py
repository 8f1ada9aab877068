"""Curio-Bench: frozen rules, checked submissions, rows of results."""

import hashlib
import json
import runpy
from pathlib import Path

import gymnasium
import pettingzoo
import pytest
from pbm_agents.arena.curio_bench import FORMAT, LEVELS, ROW, rules_hash
from pbm_agents.cli.app import app
from pbm_agents.equilibrium import PublicTree, exploitability, solve
from typer.testing import CliRunner

from pbm_envs import make_game

FOLDER = Path(__file__).parents[2] / "benchmarks" / "curio_bench"
RESULTS = FOLDER / "results.jsonl"


@pytest.mark.parametrize("number", LEVELS)
def test_rules_are_frozen(number):
    """A change of the rules, the sizes or the observations makes another benchmark: never update these hashes."""
    game = make_game(f"curio-bench-{number}")
    assert rules_hash(game) == LEVELS[number].rules
    assert all(game.options[name] == value for name, value in {"turn": True, "limit": True, "capture": "le"}.items())
    assert game.options["reveal_captured"]
    assert pettingzoo.make("aec", f"pbm/curio-bench-{number}-v0").unwrapped.game == game
    single = gymnasium.make(f"pbm/curio-bench-{number}-v0", opponent="random")
    assert single.action_space.n == game.num_actions


def test_sizes_are_as_listed():
    assert PublicTree.build(make_game("curio-bench-1")).num_information_sets == LEVELS[1].information_sets
    assert PublicTree.build(make_game("curio-bench-2")).num_information_sets == LEVELS[2].information_sets


def run(*words):
    return CliRunner().invoke(app, ["curio-bench", *map(str, words)])


def test_the_levels_are_listed():
    result = run()
    assert result.exit_code == 0, result.output
    assert all(level.rules in result.output for level in LEVELS.values())


def test_a_submission_is_verified_and_becomes_a_row(tmp_path):
    tree = PublicTree.build(make_game("curio-bench-1"))
    policy = solve(tree, until=1e-2)
    policy.save(tmp_path / "policy.npz")
    submission = {"format": FORMAT, "level": 1, "rules": LEVELS[1].rules, "agent": "policy.npz", "by": "the tests"}
    path = tmp_path / "submission.json"
    path.write_text(json.dumps(submission))
    result = run(path, "--results", tmp_path / "results.jsonl")
    assert result.exit_code == 0, result.output
    [row] = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    value = exploitability(tree, policy)
    assert row == submission | {"exploitability": [value, value]}
    for change, message in [
        ({"rules": "0" * 16}, "expected 'e011"),
        ({"level": 7}, "expected 'curio-bench 1', 1 to 6"),
        ({"by": 3}, "missing, unknown or of a wrong type"),
        ({"level": 6, "rules": LEVELS[6].rules}, "has no public tree"),
    ]:
        path.write_text(json.dumps(submission | change))
        result = run(path)
        assert result.exit_code == 2
        assert message in " ".join(result.output.split())


def test_an_agent_is_evaluated():
    result = run("random", "--by", "the tests")
    assert result.exit_code == 0, result.output
    row = json.loads(result.output.splitlines()[-1])
    assert row["exploitability"] == pytest.approx([0.7848, 0.7848], abs=1e-4)
    assert 0 < row["score_greedy"] < 0.5


def test_published_rows_are_of_these_levels():
    rows = [json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines()]
    assert {row["agent"] for row in rows} >= {"random", "greedy"}
    for row in rows:
        assert row.keys() >= ROW.keys()
        assert row["rules"] == LEVELS[row["level"]].rules
        if "exploitability" in row:
            low, high = row["exploitability"]
            assert -1 <= low <= high <= 1
        else:
            assert len(row["lower_bounds"]) == 2
            for value, low, high in row["lower_bounds"].values():
                assert low <= value <= min(high, 1)


def test_the_files_are_current():
    """Those that `benchmarks/curio_bench/update.py files` writes."""
    update = runpy.run_path(str(FOLDER / "update.py"))
    assert update["table"]() in (FOLDER / "README.md").read_text(encoding="utf-8")
    described = json.loads((FOLDER / "croissant.json").read_text(encoding="utf-8"))["distribution"]
    assert len(described) == 1 + len(update["UNTIL"])
    for each in described:
        assert hashlib.sha256((FOLDER / each["contentUrl"]).read_bytes()).hexdigest() == each["sha256"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of rdflib's classes
def test_mlcroissant_accepts_the_metadata():
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed: make test-slow installs it")
    dataset = mlcroissant.Dataset(FOLDER / "croissant.json")
    assert dataset.metadata.issues.errors == set()
    assert len(list(dataset.records("rows"))) == len(RESULTS.read_text(encoding="utf-8").splitlines())
