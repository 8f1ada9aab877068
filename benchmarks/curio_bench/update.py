"""Build the files of Curio-Bench: solved policies, rows of the baselines, the table in README.md, Croissant metadata.

    python benchmarks/curio_bench/update.py solve      # policies/level1.npz ..., half a minute
    python benchmarks/curio_bench/update.py baselines  # the rows that results.jsonl lacks
    python benchmarks/curio_bench/update.py files      # README.md and croissant.json, from the results

A stopped run resumes.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import typer
from pbm_agents.arena.curio_bench import CHAMPION, FORMAT, LEVELS, evaluated
from pbm_agents.equilibrium import PublicTree, solve

from pbm_envs import __version__, make_game

FOLDER = Path(__file__).parent
AGENTS = ("random", "greedy", "ismcts:simulations=32", "champion:simulations=100")
SAMPLED = {3: 2}
"""Levels with only the first so many AGENTS, since two samples per information set bound the others by nothing."""
UNTIL = {1: 1e-6, 2: 1e-4, 3: 1e-3}
"""The exploitability at which the solution of a level is kept."""
FIELDS = {"level": int, "rules": str, "agent": str, "by": str, "score_random": float, "score_greedy": float}
"""The fields of a row that every data loader understands."""

app = typer.Typer(add_completion=False)


def rows() -> list[dict[str, Any]]:
    """Return the rows of results.jsonl."""
    return [json.loads(line) for line in (FOLDER / "results.jsonl").read_text("utf-8").splitlines()]


@app.command("solve")
def solve_levels() -> None:
    """Solve the levels whose policies are missing."""
    for level, until in UNTIL.items():
        path = FOLDER / "policies" / f"level{level}.npz"
        if not path.exists():
            tree = PublicTree.build(make_game(f"curio-bench-{level}"), memory=8.0)
            solve(tree, until=until).save(path)
            print(f"{path.name}: {path.stat().st_size:,} bytes", flush=True)


@app.command()
def baselines() -> None:
    """Evaluate the baselines that results.jsonl lacks."""
    done = {(row["level"], row["agent"]) for row in rows()}
    for level in LEVELS:
        policies = [f"policies/level{level}.npz"] if level in UNTIL else []
        for agent in (*AGENTS[: SAMPLED.get(level)], *policies):
            if (level, agent) in done:
                continue
            row = {"format": FORMAT, "level": level, "rules": LEVELS[level].rules, "agent": agent}
            row |= {"by": "Curio-Bench baselines"}
            line = json.dumps(row | evaluated(row, FOLDER, 0))
            print(line, flush=True)
            with (FOLDER / "results.jsonl").open("a", encoding="utf-8") as file:
                file.write(line + "\n")


@app.command()
def files() -> None:
    """Write the table in README.md and croissant.json."""
    readme = FOLDER / "README.md"
    text = re.sub(r"(?s)(<!-- results -->\n).*(<!-- /results -->)", rf"\1\n{table()}\n\2", readme.read_text("utf-8"))
    readme.write_text(text, "utf-8")
    (FOLDER / "croissant.json").write_text(json.dumps(croissant(), indent=2) + "\n", "utf-8")


def table() -> str:
    """Return the results as a table in Markdown."""
    lines = [
        "| level | agent | exploitability | by search | by the champion | against random | against greedy | by |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in sorted(rows(), key=lambda row: row["level"]):
        low, high = row.get("exploitability", (None, None))
        exact = "" if low is None else f"{low:.4f}" if low == high else f"{low:.3f} to {high:.3f}"
        bounds = row.get("lower_bounds", {})
        found = ["≥ {:.2f} ({:.2f} to {:.2f})".format(*bounds[name]) if bounds else "" for name in ("search", CHAMPION)]
        scores = [f"{row[f'score_{name}']:.3f}" if f"score_{name}" in row else "" for name in ("random", "greedy")]
        lines.append(" | ".join([f"| {row['level']}", f"`{row['agent']}`", exact, *found, *scores, f"{row['by']} |"]))
    return "\n".join(lines) + "\n"


def croissant() -> dict[str, Any]:
    """Return the metadata of results.jsonl and the policies in the Croissant 1.0 format (needs `mlcroissant`)."""
    import mlcroissant as mlc

    kinds = {int: mlc.DataType.INTEGER, float: mlc.DataType.FLOAT, str: mlc.DataType.TEXT}
    formats = {".jsonl": "application/jsonlines", ".npz": "application/zip"}
    paths = [FOLDER / "results.jsonl", *sorted((FOLDER / "policies").glob("*.npz"))]
    distribution = [
        mlc.FileObject(
            id=path.name,
            name=path.name,
            content_url=path.relative_to(FOLDER).as_posix(),
            encoding_formats=[formats[path.suffix]],
            sha256=sha256(path.read_bytes()).hexdigest(),
        )
        for path in paths
    ]
    source = {name: mlc.Source(file_object="results.jsonl", extract=mlc.Extract(column=name)) for name in FIELDS}
    fields = [
        mlc.Field(id=f"rows/{name}", name=name, data_types=kinds[kind], source=source[name])
        for name, kind in FIELDS.items()
    ]
    return mlc.Metadata(
        name="curio-bench",
        description="Exploitability and scores of agents on six sizes of Curio, a board game with hidden faces.",
        license=["https://spdx.org/licenses/MIT.html"],
        version=__version__,
        date_published=datetime(2026, 11, 24),
        cite_as="pbm_envs: Curio-Bench 1, 2026",
        distribution=distribution,
        record_sets=[mlc.RecordSet(id="rows", name="rows", fields=fields)],
    ).to_json()


if __name__ == "__main__":
    app()
