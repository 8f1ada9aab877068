"""How much of an exact best response do the approximate ones find? On the rungs of Curio's ladder where both are known.

    python benchmarks/approximate_responses.py                  # what is missing in the .jsonl beside the results

One line of JSON a rung, agent and method; `results/approximate_responses.txt` has the table. A share above 100% is
chance: the approximate figure is a mean over games. Needs the extra `torch` for the learned responses.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from machine import machine
from pbm_agents import make_agent
from pbm_agents.equilibrium import PublicTree, agent_policy, exploitability
from pbm_agents.equilibrium.agent_policies import MemoizedAgent
from pbm_agents.equilibrium.responses import Responder
from pbm_agents.equilibrium.search_response import SearchResponder

from pbm_envs import make_game

RESULTS = Path(__file__).parent / "results"
AGENTS = ("random", "greedy", "ismcts:simulations=32")
METHODS = ("search", "search, exact endgames", "learned")


def responder(method: str, game: Any, agent: MemoizedAgent, simulations: int, steps: int) -> Responder:
    """With the settings of the table."""
    if method == "learned":
        from pbm_agents.equilibrium.learned_response import LearnedResponder

        return LearnedResponder(game, agent, steps=steps, entropy=0.05)
    endgame = 2.0 if method == "search, exact endgames" else 0.0
    return SearchResponder(game, agent, simulations=simulations, endgame=endgame, batch=100)


def table(rows: list[dict[str, Any]]) -> str:
    """For people."""
    lines = [machine(), "", "found: mean over games, with a 95% interval; share: of the exact exploitability", ""]
    lines.append(
        f"{'rung':<4} {'agent':<22} {'method':<24} {'exact':>8} {'found':>8} {'low':>8} {'high':>8} {'share':>7} "
        f"{'games':>6} {'seconds':>8}"
    )
    for row in rows:
        low, high = row["interval"]
        lines.append(
            f"{row['rung']:<4} {row['agent']:<22} {row['method']:<24} {row['exact']:8.4f} {row['found']:8.4f} "
            f"{low:8.4f} {high:8.4f} {row['found'] / row['exact']:7.1%} {2 * row['games']:6,} {row['seconds']:8.1f}"
        )
    return "\n".join(lines) + "\n"


def main(
    rungs: Annotated[list[int] | None, typer.Option(help="Of the ladder.")] = None,
    games: Annotated[int, typer.Option(help="For each seat.")] = 1000,
    simulations: Annotated[int, typer.Option(help="Of each move of the search.")] = 800,
    steps: Annotated[int, typer.Option(help="Moves from which a network learns.")] = 400_000,
    samples: Annotated[int, typer.Option(help="How often an agent without probabilities acts at each view.")] = 4,
    methods: Annotated[list[str] | None, typer.Option(help="Only these.")] = None,
) -> None:
    """Measure what is missing."""
    path = RESULTS / "approximate_responses.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(row["rung"], row["agent"], row["method"]) for row in rows}
    for rung in rungs or (1, 2, 3):
        game = make_game(f"curio-ladder-{rung}")
        for name in AGENTS:
            missing = [method for method in methods or METHODS if (rung, name, method) not in known]
            if not missing:
                continue
            agent = MemoizedAgent(make_agent(name), samples)
            tree = PublicTree.build(game)
            exact = exploitability(tree, agent_policy(tree, agent))
            for method in missing:
                spent = time.process_time()
                found = responder(method, game, agent, simulations, steps).run(games, np.random.default_rng(rung))
                row = {"rung": rung, "agent": name, "method": method, "exact": exact, "found": found.exploitability}
                row |= {"interval": found.interval, "games": games, "seconds": time.process_time() - spent}
                rows.append(row)
                print(row, flush=True)
                path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows.sort(key=lambda row: (row["rung"], AGENTS.index(row["agent"]), METHODS.index(row["method"])))
    text = table(rows)
    (RESULTS / "approximate_responses.txt").write_text(text)
    print(text)


if __name__ == "__main__":
    typer.run(main)
