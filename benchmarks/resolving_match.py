"""Continual resolving against information-set search on the default board of Curio, at equal seconds a move.

    python benchmarks/resolving_match.py --games 200 --seconds 0.2

Pairs of games from one opening with exchanged seats, a line each in `results/resolving_match.jsonl`, so that the script
can be stopped and started again; `results/resolving_match.txt` sums them up. Seconds are those of the clock: on a busy
machine both think less.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from machine import machine
from pbm_agents import evaluate

from pbm_envs import Curio

RESULTS = Path(__file__).parent / "results"


def table(rows: list[dict[str, Any]], agent: str, opponent: str) -> str:
    """For people: the score and its 95% interval over pairs of games."""
    scores = np.array([row["score"] for row in rows])
    half = 1.96 * scores.std(ddof=1) / np.sqrt(len(scores)) if len(scores) > 1 else np.nan
    wins, draws, losses = (sum(row[name] for row in rows) for name in ("wins", "draws", "losses"))
    lines = [
        machine(),
        "",
        f"{agent} against {opponent}, default Curio",
        "a machine with other work",
        f"games: {2 * len(rows)}",
        f"won, drawn, lost: {wins}, {draws}, {losses}",
        f"score: {scores.mean():.3f} ({max(scores.mean() - half, 0):.3f} to {min(scores.mean() + half, 1):.3f})",
        f"plies a game: {np.mean([row['plies'] for row in rows]):.1f}",
    ]
    return "\n".join(lines) + "\n"


def main(
    games: Annotated[int, typer.Option(help="In all.")] = 200,
    seconds: Annotated[float, typer.Option(help="Of each move of both.")] = 0.2,
    worlds: Annotated[int, typer.Option(help="Of `resolve`.")] = 3,
    playouts: Annotated[int, typer.Option(help="Of `resolve`.")] = 1,
) -> None:
    """Play what is missing."""
    path = RESULTS / "resolving_match.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if any((row["seconds"], row["worlds"], row["playouts"]) != (seconds, worlds, playouts) for row in rows):
        raise ValueError(
            f"{path} has games with other settings: expected seconds={seconds}, worlds={worlds}, playouts={playouts}"
        )
    opponent = f"ismcts:seconds={seconds}"
    while 2 * len(rows) < games:
        agent = f"resolve:seconds={seconds},worlds={worlds},playouts={playouts}"
        found = evaluate(agent, Curio(), [opponent], games=2, seed=len(rows))[opponent]
        row = {"seconds": seconds, "worlds": worlds, "playouts": playouts, "plies": found.plies}
        row |= {"wins": found.wins, "draws": found.draws, "losses": found.losses, "score": found.score.value}
        rows.append(row)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        text = table(rows, agent, opponent)
        (RESULTS / "resolving_match.txt").write_text(text)
        print(f"{2 * len(rows)} games, score {np.mean([row['score'] for row in rows]):.3f}", flush=True)


if __name__ == "__main__":
    typer.run(main)
