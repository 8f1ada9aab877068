"""Measure Curio's ladder: sizes, time and memory, values, and the effects of mixed play and hidden information.

    python benchmarks/curio_ladder.py                      # what is missing in results/curio_ladder.jsonl
    python benchmarks/curio_ladder.py --rungs 3

Each rung has a line of JSON in `results/curio_ladder.jsonl`, first without its solution, then with it; the table of all
rungs is `results/curio_ladder.txt`. A rung that has been measured is skipped, so a stopped script resumes.
"""

from __future__ import annotations

import json
import resource
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from machine import machine
from pbm_agents import make_agent
from pbm_agents.equilibrium import (
    Policy,
    PredictiveCFRPlus,
    PublicTree,
    Trunk,
    agent_policy,
    expected_value,
    exploitability,
    outcome_facts,
)

from pbm_envs import make_game
from pbm_envs.games.curio.ladder import RUNGS

RESULTS = Path(__file__).parent / "results"
EXPLOITABILITY, SECONDS = 2.5e-7, 900.0
"""A rung is solved to this exploitability, or for about so much processor time."""
LARGEST_GREEDY = 2_000_000
"""Information sets with the greedy agent, at most."""


def pure(policy: Policy) -> Policy:
    """Return the pure policy that makes the most likely choice at each information set."""
    tree = policy.tree
    firsts, sizes = tree.set_choices[:-1], np.diff(tree.set_choices)
    most = np.repeat(np.maximum.reduceat(policy.probabilities, firsts), sizes)
    candidates = np.where(policy.probabilities == most, np.arange(tree.num_choices), tree.num_choices)
    chosen = np.zeros(tree.num_choices)
    chosen[np.minimum.reduceat(candidates, firsts)] = 1.0
    return Policy(tree, chosen)


def measure_tree(rung: int) -> tuple[PublicTree, dict[str, Any]]:
    """Return the public tree of a rung, and the figures that need no solution."""
    game = make_game(f"curio-ladder-{rung}")
    start, spent = time.perf_counter(), time.process_time()
    tree = PublicTree.build(game, memory=10.0)
    facts: dict[str, Any] = {
        "rung": rung,
        "worlds": len(tree.starts),
        "public_nodes": tree.num_public_nodes,
        "pairs": tree.num_pairs,
        "information_sets": tree.num_information_sets,
        "depth": tree.depth,
        "tree_mib": tree.nbytes / 2**20,
        "build_seconds": time.perf_counter() - start,
        "build_processor_seconds": time.process_time() - spent,
    }
    uniform = tree.uniform_policy()
    if tree.num_information_sets < 1_000_000:
        exploitability(tree, uniform)  # compiles
    start, spent = time.perf_counter(), time.process_time()
    facts["random"] = exploitability(tree, uniform)
    facts["evaluate_seconds"] = time.perf_counter() - start
    facts["evaluate_processor_seconds"] = time.process_time() - spent
    if tree.num_information_sets <= LARGEST_GREEDY:
        facts["greedy"] = exploitability(tree, agent_policy(tree, make_agent("greedy"), samples=8))
    facts["peak_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return tree, facts


def measure_solution(tree: PublicTree) -> dict[str, Any]:
    """Solve a rung and return the figures of its solution."""
    spent = time.process_time()
    trunk = Trunk.of(tree)
    facts: dict[str, Any] = {"trunk": trunk.tree.num_information_sets}
    solver = PredictiveCFRPlus(trunk.tree)
    found = solver.run(
        10_000, until=EXPLOITABILITY, every=25, report=lambda step, left: time.process_time() - spent > SECONDS
    )
    facts |= {"iterations": solver.iterations, "solver": type(solver).__name__}
    policy = trunk.extend(found)
    del solver, found, trunk
    facts |= {
        "solve_processor_seconds": time.process_time() - spent,
        "exploitability": exploitability(tree, policy),
        "value": expected_value(tree, policy),
        "pure": exploitability(tree, pure(policy)),
        "peak_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    facts |= outcome_facts(tree, policy)
    return facts


def table(rows: list[dict[str, Any]]) -> str:
    """Return the results as a readable table."""
    lines = [
        machine(),
        "",
        "pure: the most likely action of the solution everywhere; mixed: share of decisions, as they are met in play,",
        "in which no action has 90%; drawn: share of games; seconds of processor time (build, evaluate, solve);",
        "MiB: of the tree; GiB: the most memory in use",
        "",
        f"{'rung':>4} {'worlds':>6} {'information sets':>16} {'trunk':>9} {'plies':>5} {'value':>9} {'+-':>7} "
        f"{'random':>7} {'greedy':>7} {'pure':>6} {'mixed':>6} {'drawn':>6} {'build':>7} {'eval.':>6} {'solve':>7} "
        f"{'MiB':>6} {'GiB':>5}",
    ]
    lines += [line_of(row) for row in rows]
    return "\n".join(lines) + "\n"


def line_of(row: dict[str, Any]) -> str:
    """Return a rung's line of the table, with gaps for unknown figures."""

    def cell(name: str, form: str, width: int, times: float = 1) -> str:
        return format(times * row[name], form).rjust(width) if name in row else " " * width

    cells = [
        cell("rung", "", 4),
        cell("worlds", ",", 6),
        cell("information_sets", ",", 16),
        cell("trunk", ",", 9),
        cell("depth", "", 5),
        cell("value", "+.6f", 9),
        cell("exploitability", ".0e", 7, 2),
        cell("random", ".4f", 7),
        cell("greedy", ".4f", 7),
        cell("pure", ".3f", 6),
        cell("mixed", ".1%", 6),
        cell("drawn", ".1%", 6),
        cell("build_processor_seconds", ".2f", 7),
        cell("evaluate_processor_seconds", ".2f", 6),
        cell("solve_processor_seconds", ".1f", 7),
        cell("tree_mib", ".1f", 6),
        cell("peak_gib", ".2f", 5),
    ]
    return " ".join(cells).rstrip()


def main(rungs: Annotated[list[int] | None, typer.Option(help="Only these.")] = None) -> None:
    """Measure the rungs that are missing."""
    path = RESULTS / "curio_ladder.jsonl"
    known = {}
    if path.exists():
        known = {row["rung"]: row for row in map(json.loads, path.read_text().splitlines())}
    for rung in rungs or RUNGS:
        if "value" in known.get(rung, {}):
            continue
        tree, facts = measure_tree(rung)
        for solved in (False, True):
            known[rung] = facts | (measure_solution(tree) if solved else {})
            print(known[rung], flush=True)
            path.write_text("".join(json.dumps(known[k]) + "\n" for k in sorted(known)))
    text = table([known[k] for k in sorted(known)])
    (RESULTS / "curio_ladder.txt").write_text(text)
    print(text)


if __name__ == "__main__":
    typer.run(main)
