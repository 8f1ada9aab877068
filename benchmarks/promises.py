"""The counts of the page "What we promise and how we test it": tests, mutants, coverage, fuzzing.

    python benchmarks/promises.py tests                     # how many there are of each kind
    python -m tests.mutation --minutes 60 --processes 2     # then:
    python benchmarks/promises.py mutants
    make coverage                                           # then:
    python benchmarks/promises.py coverage
    python benchmarks/promises.py fuzz --seconds 3600       # adds to the hours of before

Each writes its part of `results/promises.json`; `results/promises.txt` has all of them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer
from machine import machine

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "results"
KINDS = {
    "fast": [],
    "slow": ["-m", "slow"],
    "without the compiler": ["-m", "smallest"],
    "with other libraries": ["-m", "libraries"],
}
"""Of tests: the words for pytest. The first are those of `make test`."""
GAMES = ("chameleon", "trinim", "unlur", "curio")
app = typer.Typer(add_completion=False, help=__doc__)


def keep(part: str, facts: Any) -> None:
    """One part of the results, and the table of all."""
    path = RESULTS / "promises.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    known[part] = facts
    path.write_text(json.dumps(known, indent=1) + "\n")
    text = table(known)
    (RESULTS / "promises.txt").write_text(text)
    print(text)


def table(known: dict[str, Any]) -> str:
    """For people."""
    lines = [machine(), ""]
    if "tests" in known:
        lines += [f"tests, {kind}: {count:,}" for kind, count in known["tests"].items()]
    if "mutants" in known:
        facts = known["mutants"]
        lines += ["", f"mutants of {facts['all']:,}, drawn at random:"]
        lines += [
            f"{module}: {tried:,} tried, {equivalent} change nothing that can be observed, of the others "
            f"{1 - left / max(1, tried - equivalent):.1%} noticed"
            for module, (tried, equivalent, left) in facts["modules"].items()
        ]
        lines += ["", "not noticed:", *(f"    {name}" for name in facts["left"])]
    if "coverage" in known:
        lines += ["", "run by the fast tests, kernels as plain Python:"]
        lines += [
            f"{package}: {lines_run / lines_all:.1%} of {lines_all:,} lines, {ways_run / max(1, ways_all):.1%} of "
            f"{ways_all:,} branches"
            for package, (lines_run, lines_all, ways_run, ways_all) in known["coverage"].items()
        ]
    if "fuzz" in known:
        lines += ["", "random bytes as records, with Numba's checks of indices:"]
        lines += [
            f"{game}: {facts['seconds'] / 3600:.2f} hours, {facts['refused']:,} refused, {facts['accepted']:,} harmless"
            for game, facts in known["fuzz"].items()
        ]
    return "\n".join(lines) + "\n"


@app.command()
def tests() -> None:
    """Count the tests of each kind."""
    counts = {}
    for kind, words in KINDS.items():
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        counts[kind] = int(re.findall(r"(\d+)(?:/\d+)? tests collected", done.stdout)[-1])
    keep("tests", counts)


@app.command()
def mutants() -> None:
    """Sum up build/mutation.json."""
    sys.path.insert(0, str(ROOT))
    from tests.mutation.__main__ import EQUIVALENT, MODULES, SURVIVED, all_mutants, fingerprint, known_results

    every = all_mutants()
    results = known_results({mutant.name: fingerprint(mutant) for mutant in every})
    equivalent = json.loads(EQUIVALENT.read_text())
    modules, left = {}, []
    for module in [*MODULES, ""]:
        rows = {name: each["noticed"] for name, each in results.items() if name.startswith(module)}
        alive = [name for name, how in rows.items() if how == SURVIVED]
        left = [name for name in alive if name not in equivalent]
        modules[module or "all"] = len(rows), len(alive) - len(left), len(left)
    keep("mutants", {"all": len(every), "modules": modules, "left": sorted(left)})


@app.command()
def coverage() -> None:
    """Sum up what `make coverage` has measured."""
    path = ROOT / "build" / "coverage" / "data.json"
    subprocess.run([sys.executable, "-m", "coverage", "json", "-q", "-o", str(path)], cwd=ROOT, check=True)
    files = json.loads(path.read_text())["files"]
    sums: dict[str, list[int]] = {}
    for name, facts in files.items():
        package = Path(name).parts[1]
        facts = facts["summary"]
        row = [facts[key] for key in ("covered_lines", "num_statements", "covered_branches", "num_branches")]
        sums[package] = [a + b for a, b in zip(sums.get(package, [0] * 4), row, strict=True)]
    keep("coverage", sums)


@app.command()
def fuzz(
    seconds: Annotated[float, typer.Option(help="Of each game.")] = 600.0,
    seed: Annotated[int, typer.Option(help="Of the damage.")] = 1,
    processes: Annotated[int, typer.Option(help="Games at the same time.")] = 2,
) -> None:
    """Run `tests.faults.fuzz_states` and add its counts to those of before."""
    folder = ROOT / "build" / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "PBM_ENVS_CACHE_DIR": str(folder)}
    folder.chmod(0o700)

    def one(game: str) -> Counter[str]:
        words = ["-m", "tests.faults.fuzz_states", game, "--seconds", str(seconds), "--seed", str(seed)]
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
        )
        found = Counter[str](seconds=int(seconds))
        for count, word in re.findall(r"(\d+) (refused|accepted)", done.stdout):
            found[word] += int(count)
        return found

    path = RESULTS / "promises.json"
    before = json.loads(path.read_text()).get("fuzz", {}) if path.exists() else {}
    with ThreadPoolExecutor(processes) as pool:
        found = dict(zip(GAMES, pool.map(one, GAMES), strict=True))
    keep("fuzz", {game: dict(Counter(before.get(game, {})) + found[game]) for game in GAMES})


if __name__ == "__main__":
    app()
