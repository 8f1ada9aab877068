"""Measure exact exploitability and CFR+ on one core, and compare with OpenSpiel's C++.

    python benchmarks/equilibrium_speed.py        # what is missing in results/equilibrium_speed.jsonl

Each measurement runs in its own process. Both wall-clock and processor time are recorded, since a busy machine
increases the former. The time and memory of larger trees are in `curio_ladder.py`. Needs the extras `bench` and
`openspiel`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from machine import machine
from pbm_agents.equilibrium import CFRPlus, PublicTree, exploitability

from pbm_envs import make_game

RESULTS = Path(__file__).parent / "results"


class Clock:
    """Wall-clock and processor seconds since its creation."""

    def __init__(self) -> None:
        self.start = time.perf_counter(), time.process_time()

    def read(self, name: str) -> dict[str, float]:
        return {
            f"{name}_seconds": time.perf_counter() - self.start[0],
            f"{name}_processor_seconds": time.process_time() - self.start[1],
        }


def measure_openspiel() -> dict[str, Any]:
    """Measure exploitability and CFR+ on Leduc poker, ours (docs/guides/leduc.py) and OpenSpiel's game in C++."""
    import pyspiel

    sys.path.insert(0, str(RESULTS.parents[1] / "docs" / "guides"))
    from leduc import SCALE, Leduc

    PublicTree.build(Leduc(), threads=1)
    clock = Clock()
    tree = PublicTree.build(Leduc(), threads=1)
    facts: dict[str, Any] = {"information_sets": tree.num_information_sets} | clock.read("tree")
    solver, theirs = CFRPlus(tree), pyspiel.load_game("leduc_poker")
    their_solver = pyspiel.CFRPlusSolver(theirs)
    solver.step()
    their_solver.evaluate_and_update_policy()
    policy, their_policy = solver.policy(), their_solver.average_policy()
    found, ours = pyspiel.exploitability(theirs, their_policy), SCALE * exploitability(tree, policy)
    assert abs(found - ours) < 1e-9, (found, ours)
    responses = [pyspiel.TabularBestResponse(theirs, player, their_policy) for player in range(2)]

    def respond_again() -> None:
        for response in responses:
            response.set_policy(their_policy)
            response.value("")

    for name, work, times in (
        ("exploitability", lambda: exploitability(tree, policy), 1000),
        ("iteration", solver.step, 1000),
        ("openspiel", lambda: pyspiel.exploitability(theirs, their_policy), 20),
        ("openspiel_again", respond_again, 20),
        ("openspiel_iteration", their_solver.evaluate_and_update_policy, 100),
    ):
        clock = Clock()
        for _ in range(times):
            work()
        facts |= {key: seconds / times for key, seconds in clock.read(name).items()}
    return facts


def measure_solve(rung: int) -> dict[str, Any]:
    """Measure CFR+ on the whole tree, to an exploitability of 0.001."""
    tree = PublicTree.build(make_game(f"curio-ladder-{rung}"), threads=1)
    CFRPlus(tree).step()
    solver, clock, looks = CFRPlus(tree), Clock(), []
    solver.run(5000, until=1e-3, every=20, report=lambda _, left: looks.append(left))
    facts = {"information_sets": tree.num_information_sets, "iterations": solver.iterations, "left": looks[-1]}
    return facts | clock.read("solve")


JOBS: dict[str, Callable[[], dict[str, Any]]] = {
    "Leduc poker": measure_openspiel,
    **{f"CFR+ {rung}": partial(measure_solve, rung) for rung in range(1, 6)},
}


def table(known: dict[str, dict[str, Any]]) -> str:
    """Return the results as a readable table."""
    rows: dict[str, list[str]] = {}
    for job, facts in known.items():
        rows.setdefault(facts["machine"], []).append(job)
    lines = [
        *machine().splitlines()[1:],
        *(f"{where}: {'; '.join(jobs)}" for where, jobs in rows.items()),
        "",
        "seconds by the clock (in brackets: processor time), on a machine with other work on it",
        "",
    ]
    names = ("tree", "exploitability", "iteration", "openspiel", "openspiel_iteration", "solve")
    heads = ("tree", "exploitability", "CFR+ iteration", "OpenSpiel's expl.", "OpenSpiel's CFR+", "CFR+ to 0.001")
    lines.append(f"{'':<16} {'information sets':>16} " + " ".join(f"{head:>20}" for head in heads))
    for job, facts in known.items():
        cells = []
        for name in names:
            wall, own = facts.get(f"{name}_seconds"), facts.get(f"{name}_processor_seconds")
            cells.append(f"{wall:10.4g} ({own:7.4g})" if wall is not None else "")
        line = f"{job:<16} {facts['information_sets']:16,} " + " ".join(f"{cell:>20}" for cell in cells)
        lines.append(line.rstrip())
    if "Leduc poker" in known:
        own = {name.removesuffix("_processor_seconds"): value for name, value in known["Leduc poker"].items()}
        lines += ["", "times as fast as OpenSpiel's C++ on Leduc poker, by processor time"]
        lines.append(f"exploitability, its function: {own['openspiel'] / own['exploitability']:,.0f}")
        both = own["openspiel"] / (own["exploitability"] + own["tree"])
        lines.append(f"exploitability, our tree built too: {both:,.1f}")
        lines.append(f"exploitability, its tree kept too: {own['openspiel_again'] / own['exploitability']:,.0f}")
        lines.append(f"an iteration of CFR+: {own['openspiel_iteration'] / own['iteration']:,.0f}")
    return "\n".join(lines) + "\n"


def main(job: Annotated[str | None, typer.Option(hidden=True)] = None) -> None:
    """Measure the entries that are missing."""
    if job is not None:
        print(json.dumps(JOBS[job]()))
        return
    path = RESULTS / "equilibrium_speed.jsonl"
    known = dict(map(json.loads, path.read_text().splitlines())) if path.exists() else {}
    core = min(os.sched_getaffinity(0))
    for name in JOBS:
        if name in known:
            continue
        done = subprocess.run(
            [sys.executable, __file__, "--job", name],
            check=True,
            stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
            env=os.environ | {"NUMBA_NUM_THREADS": "1"},
        )
        known[name] = json.loads(done.stdout.splitlines()[-1]) | {"machine": machine().splitlines()[0]}
        print(name, known[name], flush=True)
        path.write_text("".join(json.dumps([key, known[key]]) + "\n" for key in JOBS if key in known))
    text = table(known)
    (RESULTS / "equilibrium_speed.txt").write_text(text)
    print(text)


if __name__ == "__main__":
    typer.run(main)
