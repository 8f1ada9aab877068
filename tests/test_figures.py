"""Figures in prose are those that the benchmarks printed.

A figure in a Markdown page is followed by a comment that says where it comes from:

    3.0 million<!-- peers.txt: pbm_envs chameleon -->  5.05<!-- vector_speed.txt: Chameleon: 1024: 5 -->

That is a file of `benchmarks/results`, then beginnings of lines, each looked for below the one before, then which
number of the line is meant (the first, if nothing is said). The figure must be that number, rounded to as many digits.
"""

import re
from pathlib import Path

import pytest

from pbm_envs import registered_games
from pbm_envs.core.kernels import _part as part_of

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "notebooks" / "training" / "README.md"]
NUMBER = r"\d[\d,]*(?:\.\d+)?"
FIGURE = re.compile(rf"({NUMBER})( million)?<!-- (\w+\.txt):\s(.*?)\s-->", re.DOTALL)
FIGURES = [
    pytest.param(
        number,
        bool(million),
        file,
        " ".join(path.split()).split(": "),
        id=f"{page.stem}: {file} {' '.join(path.split())}",
    )
    for page in PAGES
    for number, million, file, path in FIGURE.findall(page.read_text(encoding="utf-8"))
]


def numbers_of(line: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(rf"(?<![\w.]){NUMBER}", line)]


def result(file: str, path: list[str]) -> float:
    """The number of a results file to which a comment leads."""
    unit = 1_000_000 if path[-1] == "million" else 1
    path = path[:-1] if path[-1] == "million" else path
    index = int(path[-1]) if path[-1].isdigit() and len(path) > 1 else 1
    beginnings = path[:-1] if path[-1].isdigit() and len(path) > 1 else path
    lines = [" ".join(line.split()) for line in (RESULTS / file).read_text(encoding="utf-8").splitlines()]
    at = -1
    for beginning in beginnings:
        found = re.compile(rf"{re.escape(beginning)}(?=[\s,:(]|$)")
        at = next((k for k in range(at + 1, len(lines)) if found.match(lines[k])), None)
        assert at is not None, f"no line of {file} begins with {beginning!r}"
    return numbers_of(lines[at][len(beginnings[-1]) :])[index - 1] * unit


def rounded(value: float, like: str) -> float:
    """`value` with the digits of the text `like`: its decimals, or its leading digits before zeros."""
    if "." in like:
        return round(value, len(like.partition(".")[2]))
    digits = len(like.replace(",", "").rstrip("0"))
    return float(f"{value:.{max(digits, 1)}g}")


@pytest.mark.parametrize(("number", "million", "file", "path"), FIGURES)
def test_a_figure_is_what_the_benchmark_printed(number, million, file, path):
    value = result(file, path) / (1_000_000 if million else 1)
    assert rounded(value, number) == pytest.approx(float(number.replace(",", ""))), f"{file} says {value}"


@pytest.mark.parametrize("page", ["README.md", "docs/comparison.md"])
def test_large_figures_say_where_they_come_from(page):
    text = FIGURE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    assert re.findall(r"\b\d+,\d{3}\b", text) in ([], ["1,000"]), "expected a comment after each figure"


def test_figures_are_checked_in_every_page_that_has_many():
    counts = {page.name: len(FIGURE.findall(page.read_text(encoding="utf-8"))) for page in PAGES}
    assert counts["benchmarks.md"] > 20
    assert counts["comparison.md"] > 15
    assert counts["train.md"] > 15


def test_rounding():
    assert rounded(3_042_873, "3,040,000") == 3_040_000
    assert rounded(5.396, "5.4") == 5.4
    assert rounded(12.3, "12") == 12


def test_notices_of_compiling_say_how_long_it_takes():
    lines = [line.split() for line in (RESULTS / "compiling.txt").read_text(encoding="utf-8").splitlines()]
    for module, columns in (("pbm_envs.games.curio.rules", [1]), ("pbm_agents.search.tree", [3, 5])):
        shortest, longest = map(float, re.findall(r"\d+", part_of(module)[1]))
        measured = [
            float(line[column]) for line in lines if line and line[0] in registered_games() for column in columns
        ]
        assert len(measured) >= 4
        assert shortest <= min(measured) <= max(measured) <= longest


def test_whole_loops_are_faster_than_pettingzoos_own_by_what_we_promise():
    """`env()` with its checks beside `connect_four_v3.env()`, in one run."""
    for game, times in {"chameleon": 4, "curio": 3}.items():
        assert result("step_latency.txt", ["ordinary loop of env()", game, "2"]) >= times
