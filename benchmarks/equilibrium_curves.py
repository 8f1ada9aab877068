"""Draw the exploitability of tabular and sampling solvers against iterations and processor time.

    python benchmarks/equilibrium_curves.py [--seconds 0.25] [--seeds 10] [--draw]

Solvers: CFR, CFR+, predictive CFR+ and discounted CFR, which sweep over the public tree, and external- and
outcome-sampling MCCFR with ten seeds. Games: the first three rungs of Curio's ladder, Leduc poker (a return of 1 is 16
chips), and the first two levels of Curio-Bench. A run ends at the first measurement after `--seconds` of processor
time (sweeps over the last game: 16 times as long), which evaluations do not count in. Measurements are at 1, 2, 4, 8,
... steps; a step of a sampling solver is 100 traversals for each player. Each finished run is a line of the .jsonl
beside the results, so a stopped command resumes; `--draw` starts no runs. Writes `results/equilibrium_curves.txt` and a
picture for the documentation. Needs the extras `cli`, `plot` and `bench`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from machine import machine
from matplotlib.figure import Figure
from pbm_agents.equilibrium import (
    CFR,
    CFRPlus,
    DiscountedCFR,
    ExternalSampling,
    OutcomeSampling,
    PredictiveCFRPlus,
    PublicTree,
    exploitability,
)

from pbm_envs import Game, make_game

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
GAMES = ("curio-ladder-1", "curio-ladder-2", "curio-ladder-3", "leduc", "curio-bench-1", "curio-bench-2")
SWEEPING: dict[str, Any] = {"CFR": CFR, "CFR+": CFRPlus, "PCFR+": PredictiveCFRPlus, "DCFR": DiscountedCFR}
SAMPLING: dict[str, Any] = {"external": ExternalSampling, "outcome": OutcomeSampling}
LONGER = {(solver, "curio-bench-2"): 16 for solver in SWEEPING}
"""Factors of the processor time of runs."""
TRAVERSALS = 100
"""Traversals per step of a sampling solver, for each player."""


def game_of(name: str) -> Game:
    """Return a game by name; Kuhn and Leduc poker are those of the guide."""
    sys.path.insert(0, str(ROOT / "docs" / "guides"))
    if name == "leduc":
        from leduc import Leduc

        return Leduc()
    if name == "kuhn":
        from duel import Duel

        return Duel()
    return make_game(name)


def run(tree: PublicTree, name: str, seed: int, seconds: float) -> list[dict[str, float]]:
    """Return the measurements of a solver: steps, seconds, exploitability of the average and the last policy."""
    solver = SWEEPING[name](tree) if name in SWEEPING else SAMPLING[name](tree, TRAVERSALS, seed)
    found: list[dict[str, float]] = []
    spent, steps = 0.0, 1
    while spent < seconds:
        start = time.process_time()
        while solver.iterations < steps:
            solver.step()
        spent += time.process_time() - start
        last = solver.current if name in SWEEPING else solver.last()
        measured = {"average": exploitability(tree, solver.policy()), "last": exploitability(tree, last)}
        found.append({"steps": steps, "seconds": spent} | measured)
        steps *= 2
    return found


def table(rows: list[dict[str, Any]], seconds: float) -> str:
    """Return the final exploitabilities as a readable table."""
    lines = [
        machine(),
        "",
        "exploitability of the average policy and of the last one after a run; external and outcome: medians of the",
        f"seeds, with the lowest and the highest average; seconds: processor time, at least {seconds:g} without",
        "evaluations (sweeps over curio-bench-2: 16 times as long); a step of external or outcome is 100",
        "traversals for each player",
        "",
        f"{'game':<16} {'solver':<10} {'seeds':>5} {'steps':>9} {'seconds':>8} "
        f"{'average':>9} {'lowest':>9} {'highest':>9} {'last':>9}",
    ]
    for game in GAMES:
        for solver in (*SWEEPING, *SAMPLING):
            ends = [row["curve"][-1] for row in rows if (row["game"], row["solver"]) == (game, solver)]
            if ends:
                middle = {key: median(end[key] for end in ends) for key in ends[0]}
                averages = [end["average"] for end in ends]
                lines.append(
                    f"{game:<16} {solver:<10} {len(ends):>5} {middle['steps']:>9,.0f} {middle['seconds']:8.2f} "
                    f"{middle['average']:9.6f} {min(averages):9.6f} {max(averages):9.6f} {middle['last']:9.6f}"
                )
    lines += [
        "",
        f"all runs, evaluations included: {sum(row['seconds'] for row in rows):.0f} seconds of processor time",
    ]
    return "\n".join(lines) + "\n"


def draw(rows: list[dict[str, Any]]) -> None:
    """Draw the curves of the average policies against processor time, one line per seed."""
    figure = Figure(figsize=(12, 7), layout="constrained")
    for axes, game in zip(figure.subplots(2, 3).flat, GAMES, strict=True):
        for color, solver in enumerate((*SWEEPING, *SAMPLING)):
            curves = [row["curve"] for row in rows if (row["game"], row["solver"]) == (game, solver)]
            for k, curve in enumerate(curves):
                axes.loglog(
                    [point["seconds"] for point in curve],
                    [point["average"] for point in curve],
                    color=f"C{color}",
                    alpha=1 if len(curves) == 1 else 0.5,
                    linewidth=1.6 if len(curves) == 1 else 0.8,
                    label=None if k else solver,
                )
        axes.set(title=game, xlabel="seconds of processor time", ylabel="exploitability")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    figure.savefig(ROOT / "docs" / "pictures" / "equilibrium_curves.png", dpi=110)


def main(
    seconds: Annotated[float, typer.Option(help="Processor time of a run.")] = 0.25,
    seeds: Annotated[int, typer.Option(help="Runs of a sampling solver.")] = 10,
    only_draw: Annotated[bool, typer.Option("--draw", help="Only write the table and the picture.")] = False,
) -> None:
    """Measure the runs that are missing, and draw all."""
    path = RESULTS / "equilibrium_curves.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    known = {(row["game"], row["solver"], row["seed"]) for row in rows}
    for game in () if only_draw else GAMES:
        tasks = [(solver, 0) for solver in SWEEPING] + [(solver, seed) for solver in SAMPLING for seed in range(seeds)]
        missing = [task for task in tasks if (game, *task) not in known]
        if not missing:
            continue
        tree = PublicTree.build(game_of(game), threads=1)
        for solver in (CFR(tree), *(kind(tree, 1) for kind in SAMPLING.values())):  # compiles before timing
            exploitability(tree, solver.run(1))
        for solver, seed in missing:
            start = time.process_time()
            curve = run(tree, solver, seed, seconds * LONGER.get((solver, game), 1))
            spent = time.process_time() - start
            rows.append({"game": game, "solver": solver, "seed": seed, "curve": curve, "seconds": spent})
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
            print(game, solver, seed, curve[-1], flush=True)
    text = table(rows, seconds)
    (RESULTS / "equilibrium_curves.txt").write_text(text, "utf-8")
    draw(rows)
    print(text)


if __name__ == "__main__":
    typer.run(main)
