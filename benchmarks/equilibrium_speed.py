"""How fast are public trees, exact exploitability and CFR+, on one core and two, and beside OpenSpiel?

    python benchmarks/equilibrium_speed.py                     # what is missing in results/equilibrium_speed.jsonl
    python benchmarks/equilibrium_speed.py --only large --again

Each measurement runs in a process of its own, pinned to so many cores; seconds by the clock and of processor time are
both kept, since a busy machine stretches the first. Needs the extras `bench` and `openspiel`.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from machine import machine
from pbm_agents.equilibrium import CFRPlus, PublicTree, exploitability

from pbm_envs import Curio, Game, make_game

RESULTS = Path(__file__).parent / "results"
MIDDLE = {"base": 2, "rows": 2, "cols": 3, "no_capture_limit": 3}
LARGE = dict(make_game("curio-ladder-8").options)
SMALL = {"base": 2, "rows": 2, "cols": 3, "face": "small", "capture": "gt", "turn": False, "reveal_captured": False}
JOBS: dict[str, tuple[Any, ...]] = {
    "middle, 1 core": ("tree", 1, MIDDLE, 2),
    "middle, 2 cores": ("tree", 2, MIDDLE, 2),
    "large, 2 cores": ("tree", 2, LARGE, 0),
    "large, 1 core": ("tree", 1, LARGE, 0),
    "OpenSpiel": ("openspiel", 1, {**SMALL, "no_capture_limit": 4}),
    **{f"CFR+ {rung}": ("solve", 1, rung) for rung in range(1, 6)},
}


class Clock:
    """Seconds since it was made: by the clock, and of processor time."""

    def __init__(self) -> None:
        self.start = time.perf_counter(), time.process_time()

    def read(self, name: str) -> dict[str, float]:
        return {
            f"{name}_seconds": time.perf_counter() - self.start[0],
            f"{name}_processor_seconds": time.process_time() - self.start[1],
        }


def warm_up(game: Game, cores: int) -> None:
    """Compile everything on a tree of the same rules that is small."""
    tree = PublicTree.build(Curio(**{**dict(game.options), "no_capture_limit": 1}), threads=cores)
    exploitability(tree, tree.uniform_policy())
    CFRPlus(tree).step()


def measure_tree(cores: int, options: dict[str, Any], iterations: int) -> dict[str, Any]:
    """Tree, exploitability, iterations of CFR+."""
    game = Curio(**options)
    warm_up(game, cores)
    clock = Clock()
    tree = PublicTree.build(game, memory=11.0, threads=cores)
    facts: dict[str, Any] = {"information_sets": tree.num_information_sets, "pairs": tree.num_pairs}
    facts |= clock.read("tree")
    policy, clock = tree.uniform_policy(), Clock()
    facts["random"] = exploitability(tree, policy)
    facts |= clock.read("exploitability")
    if iterations:
        solver, clock = CFRPlus(tree), Clock()
        for _ in range(iterations):
            solver.step()
        facts |= {name: seconds / iterations for name, seconds in clock.read("iteration").items()}
    return facts | {"peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def measure_openspiel(cores: int, options: dict[str, Any]) -> dict[str, Any]:
    """The same figure from both."""
    from open_spiel.python.algorithms.exploitability import exploitability as theirs
    from open_spiel.python.policy import UniformRandomPolicy

    from pbm_envs.adapters.openspiel import load

    game = Curio(**options)
    warm_up(game, cores)
    clock = Clock()
    tree = PublicTree.build(game, threads=cores)
    facts: dict[str, Any] = {"information_sets": tree.num_information_sets}
    facts |= clock.read("tree")
    policy, clock = tree.uniform_policy(), Clock()
    for _ in range(200):
        ours = exploitability(tree, policy)
    facts |= {name: seconds / 200 for name, seconds in clock.read("exploitability").items()}
    spiel = load(game)
    clock = Clock()
    found = theirs(spiel, UniformRandomPolicy(spiel))
    facts |= clock.read("openspiel")
    assert abs(found - ours) < 1e-9, (found, ours)
    return facts | {"random": ours}


def measure_solve(cores: int, rung: int) -> dict[str, Any]:
    """CFR+ on the whole tree, to an exploitability of 0.001."""
    tree = PublicTree.build(make_game(f"curio-ladder-{rung}"), threads=cores)
    CFRPlus(tree).step()
    solver, clock, looks = CFRPlus(tree), Clock(), []
    solver.run(5000, until=1e-3, every=20, report=lambda _, left: looks.append(left))
    facts = {"information_sets": tree.num_information_sets, "iterations": solver.iterations, "left": looks[-1]}
    return facts | clock.read("solve")


MEASURES = {"tree": measure_tree, "openspiel": measure_openspiel, "solve": measure_solve}


def table(known: dict[str, dict[str, Any]]) -> str:
    """For people."""
    lines = [
        machine(),
        "",
        "seconds by the clock (in brackets: processor time), on a machine with other work on it",
        "",
    ]
    names = ("tree", "exploitability", "iteration", "openspiel", "solve")
    heads = ("tree", "exploitability", "CFR+ iteration", "OpenSpiel's expl.", "CFR+ to 0.001")
    lines.append(f"{'':<16} {'information sets':>16} " + " ".join(f"{head:>20}" for head in heads) + f" {'GiB':>6}")
    for job, facts in known.items():
        cells = []
        for name in names:
            wall, own = facts.get(f"{name}_seconds"), facts.get(f"{name}_processor_seconds")
            cells.append(f"{wall:10.4g} ({own:7.4g})" if wall is not None else "")
        peak = f"{facts['peak_gib']:6.2f}" if "peak_gib" in facts else ""
        line = f"{job:<16} {facts['information_sets']:16,} " + " ".join(f"{cell:>20}" for cell in cells) + f" {peak:>6}"
        lines.append(line.rstrip())
    if "OpenSpiel" in known:
        facts = known["OpenSpiel"]
        ratio = facts["openspiel_processor_seconds"] / facts["exploitability_processor_seconds"]
        with_tree = facts["openspiel_processor_seconds"] / (
            facts["exploitability_processor_seconds"] + facts["tree_processor_seconds"]
        )
        lines += ["", f"times as fast as OpenSpiel: {ratio:,.0f}", f"building the tree counted: {with_tree:,.0f}"]
    return "\n".join(lines) + "\n"


def main(
    only: Annotated[list[str] | None, typer.Option(help="Measurements whose names begin so.")] = None,
    again: Annotated[bool, typer.Option(help="Measure them anew.")] = False,
    job: Annotated[str | None, typer.Option(hidden=True)] = None,
) -> None:
    """Measure what is missing."""
    if job is not None:
        kind, *rest = JOBS[job]
        print(json.dumps(MEASURES[kind](*rest)))
        return
    path = RESULTS / "equilibrium_speed.jsonl"
    known = dict(map(json.loads, path.read_text().splitlines())) if path.exists() else {}
    for name, (_, cores, *_) in JOBS.items():
        if (only and not name.startswith(tuple(only))) or (name in known and not again):
            continue
        usable = sorted(os.sched_getaffinity(0))[:cores]
        command = [sys.executable, __file__, "--job", name]
        done = subprocess.run(
            command,
            check=True,
            stdout=subprocess.PIPE,
            preexec_fn=lambda usable=usable: os.sched_setaffinity(0, usable),
            env=os.environ | {"NUMBA_NUM_THREADS": str(cores)},
        )
        known[name] = json.loads(done.stdout.splitlines()[-1])
        print(name, known[name], flush=True)
        path.write_text("".join(json.dumps([key, known[key]]) + "\n" for key in JOBS if key in known))
    text = table(known)
    (RESULTS / "equilibrium_speed.txt").write_text(text)
    print(text)


if __name__ == "__main__":
    typer.run(main)
