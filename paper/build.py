"""Write the paper about Curio-Bench, `paper/curio-bench.md`, from `template.md` and the committed results.

    python paper/build.py

`{file.txt: line: k}` is a number of a result file (`docs/figures.py`); the other words in braces are tables. So no
figure is typed, and `tests/test_figures.py` compares the file with its sources.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "benchmarks" / "curio_bench" / "README.md").read_text("utf-8")


def between(first: str, last: str) -> str:
    """Return the part of the benchmark's page between two texts."""
    return README.split(first)[1].split(last)[0].strip()


def block(file: str, first: str, last: str) -> str:
    """Return the lines of a result file from one that begins with `first` to before an empty one or `last`, as code."""
    text = (ROOT / "benchmarks" / "results" / file).read_text("utf-8")
    found = re.search(rf"(?ms)^{first}.*?(?=\n\n|\n{last}|\Z)", text)
    if found is None:
        raise ValueError(f"no line of {file} begins with {first!r}")
    return f"```text\n{found[0].rstrip()}\n```"


def paper() -> str:
    """Return the whole text."""
    sys.path.insert(0, str(ROOT / "docs"))
    from figures import result

    levels = between("## Games\n", "\nAll other options")
    tables = {
        "levels": levels,
        "leveled_first": levels.splitlines()[2].split("|")[5].strip(),
        "results": between("<!-- results -->", "<!-- /results -->"),
        "solvers": block("equilibrium_curves.txt", "game ", "all runs"),
        "learners": block("learner_curves.txt", "game ", "all runs"),
        "tuning": block("learner_curves.txt", "tuning: ", "last policies"),
    }
    template = (Path(__file__).parent / "template.md").read_text("utf-8")
    return re.sub(r"\{(.+?)\}", lambda name: tables.get(name[1]) or result(" ".join(name[1].split())), template)


if __name__ == "__main__":
    (Path(__file__).parent / "curio-bench.md").write_text(paper(), "utf-8")
