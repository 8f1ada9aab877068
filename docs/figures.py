"""Figures printed by the benchmarks, looked up by their place in `benchmarks/results`.

    result("peers.txt: pbm_envs chameleon")           # the first number there
    result("vector_speed.txt: Chameleon: 1024: 5")    # the fifth of the line "1024", below "Chameleon"

A reference is a file, then the starts of lines, each searched for below the previous one, then the position of the
number in the line (by default the first). A start after `*` may be anywhere in its line.
"""

import json
import re
from pathlib import Path

RESULTS = Path(__file__).parent.parent / "benchmarks" / "results"
TABLES = Path(__file__).parent / "tables.json"
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def result(reference: str) -> str:
    """Return the number of a reference as it was printed; ValueError if there is none."""
    file, *path = reference.split(": ")
    index = int(path.pop()) if len(path) > 1 and path[-1].isdigit() else 1
    lines = [" ".join(line.split()) for line in (RESULTS / file).read_text(encoding="utf-8").splitlines()]
    at = -1
    for beginning in path:
        before = ".*" * beginning.startswith("*")
        found = re.compile(rf"{before}{re.escape(beginning.removeprefix('*'))}(?=[\s,:(]|$)")
        at = next((k for k in range(at + 1, len(lines)) if found.match(lines[k])), -1)
        if at < 0:
            raise ValueError(f"no line of {file} begins with {beginning!r}, as {reference!r} says")
    return NUMBER.findall(found.sub("", lines[at], count=1))[index - 1]


def table(name: str) -> str:
    """Return a table of `tables.json` in Markdown, with each `{reference}` replaced by its number."""
    head, *rows = json.loads(TABLES.read_text(encoding="utf-8"))[name]
    filled = [[re.sub(r"\{(.*?)\}", lambda reference: result(reference[1]), cell) for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *filled]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
