"""Figures in prose are those that the benchmarks printed, within 5%: `claims.json` says where each comes from.

A claim is some words of a page around a figure in brackets, and a reference (`docs/figures.py`) to the number that it
rounds.
"""

import importlib
import json
import re
import runpy
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
CLAIMS = json.loads((ROOT / "tests" / "claims.json").read_text(encoding="utf-8"))
FIGURE = re.compile(r"\[(\d[\d,.]*)( million)?\]")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "notebooks" / "training" / "README.md"]


@pytest.fixture(scope="module")
def figures():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")
        yield importlib.import_module("figures")


def words(text: str) -> str:
    return " ".join(text.split())


def number_of(text: str) -> float:
    return float(text.replace(",", ""))


@pytest.mark.parametrize("claim", CLAIMS, ids=[f"{claim['page']}: {claim['claim']}" for claim in CLAIMS])
def test_a_claim_rounds_what_the_benchmark_printed(figures, claim):
    [(digits, million)] = FIGURE.findall(claim["claim"])
    said = number_of(digits) * (1e6 if million else 1)
    measured = number_of(figures.result(claim["result"]))
    # a figure in millions may round one that is printed in millions
    assert any(said == pytest.approx(measured * unit, rel=0.05) for unit in ((1, 1e6) if million else (1,)))


@pytest.mark.parametrize("claim", CLAIMS, ids=[f"{claim['page']}: {claim['claim']}" for claim in CLAIMS])
def test_the_page_says_so(claim):
    page = words((ROOT / claim["page"]).read_text(encoding="utf-8"))
    assert FIGURE.sub(r"\1\2", claim["claim"]) in page


@pytest.mark.parametrize("page", ["README.md", "docs/comparison.md"])
def test_every_large_figure_is_a_claim(page):
    claimed = {number for claim in CLAIMS if claim["page"] == page for number, _ in FIGURE.findall(claim["claim"])}
    assert set(re.findall(r"\b\d+,\d{3}\b", (ROOT / page).read_text(encoding="utf-8"))) <= claimed | {"1,000"}


def test_tables_come_from_results(figures):
    """Each table is shown by a page, and all that it refers to is there."""
    pages = [page.read_text(encoding="utf-8") for page in PAGES]
    shown = [name for page in pages for name in re.findall(r"<!-- pages: table (\w+) -->", page)]
    tables = json.loads(figures.TABLES.read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(tables)
    for name, rows in tables.items():
        assert {len(row) for row in rows} == {len(rows[0])}
        assert len(figures.table(name).splitlines()) == len(rows) + 1


def test_a_reference_that_leads_nowhere_is_an_error(figures):
    with pytest.raises(ValueError, match=r"no line of peers\.txt begins with 'nothing'"):
        figures.result("peers.txt: nothing")


def test_every_script_has_one_result():
    """Those that make data, or only measure what they are told to, have none."""
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert {path.stem for path in (ROOT / "benchmarks" / "results").glob("*.*") if path.suffix != ".jsonl"} <= scripts


def test_scores_against_older_champions_are_those_of_the_games(monkeypatch):
    """The repository has the games of some matches: each tenth is replayed, and their means are the rows' scores."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    champions = importlib.import_module("champions")
    matches = defaultdict(dict)
    for line in champions.JOURNAL.read_text(encoding="utf-8").splitlines():
        game = json.loads(line)
        matches[tuple(game["match"])][game["number"]] = game
    played, compared = {repr(match.game): match.game for match in champions.REVISIONS}, 0
    for (name, settings, *sides, seconds, clock), games in matches.items():
        for number in sorted(games)[::10]:
            assert share_of(played[settings], champions.opening, games[number]) == games[number]["share"], number
        time = {"wall": "the clock", "processor": "processor time"}[clock]
        for row in champions.recorded(f"; champions of two revisions, {seconds} s of {time} a move"):
            if row.startswith(f"{words(name)} ") and row.endswith(f", {' against '.join(sides)}"):
                count = int(re.findall(r"(\d+) games", row)[0])
                mean = sum(games[number]["share"] for number in range(count)) / count
                assert row.startswith(f"{words(name)} {mean:.3f} (")
                compared += 1
    assert compared


def share_of(game, opening, played):
    """Return the first side's share of the point in a game that a match has recorded."""
    board, opened = opening(game, played["number"] // 2)
    moves = played["moves"].split()
    assert moves[: len(opened)] == opened
    state = game.init(1, np.random.default_rng(0), board=board)
    for move in moves:
        game.step(state, [game.string_to_action(move)])
    assert state["done"][0]
    return (1 + state["returns"][0, played["number"] % 2]) / 2


def test_the_paper_is_built_from_the_results(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    built = runpy.run_path(str(ROOT / "paper" / "build.py"))["paper"]()
    assert (ROOT / "paper" / "curio-bench.md").read_text(encoding="utf-8") == built
