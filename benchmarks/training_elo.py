"""Measure Elo during one run of `pbm train` on Chameleon 7x7, against fixed searches.

    python benchmarks/training_elo.py --minutes 90 [--run FOLDER]

The run is `pbm_agents.learning.trainer.train` with one process. It is extended by ten rounds at a time until it has
taken `--minutes`, and resumes if it was stopped. After each round the network plays 40 games against each opponent with
48 simulations per move; the Elo is relative to the last opponent, whose rating is 0. Needs the extras `torch`, `onnx`
and `plot`. Writes `results/training_elo.txt` and a picture for the documentation.
"""

from __future__ import annotations

import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
import typer
from machine import machine
from pbm_agents.learning.trainer import Training, train

from pbm_envs import Chameleon

RESULTS = Path(__file__).parent / "results"
PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
GAME = Chameleon(size=7)
OPPONENTS = ("random", "mcts:simulations=100", "mcts:simulations=1000")
LEG = 10
"""Rounds between two checks of the clock."""
ROWS = 9
"""Rows of the table: means over the rounds in equal parts of the run's time."""


def settings(rounds: int) -> Training:
    return Training(rounds=rounds, games=128, reuse=4.0, batch=256, opponents=OPPONENTS)


def table(curve: list[dict[str, Any]]) -> list[str]:
    names = "".join(f"{name:>24}" for name in OPPONENTS)
    lines = [f"{'minutes':>14}{'rounds':>8}{'positions':>11}{names}{'Elo':>8}"]
    minutes = np.array([line["seconds"] for line in curve]) / 60
    for part, ends in enumerate(np.linspace(0, minutes[-1], ROWS + 1)[1:], 1):
        begins = ends - minutes[-1] / ROWS
        rounds = [line for line, minute in zip(curve, minutes, strict=True) if begins < minute <= ends]
        if rounds:
            last = rounds[-1]
            scores = "".join(f"{np.mean([line[f'against {name}'] for line in rounds]):24.3f}" for name in OPPONENTS)
            elo = np.mean([line["elo"] for line in rounds])
            lines.append(f"part {part}{ends:8.1f}{last['round']:8}{last['positions']:11}{scores}{elo:8.0f}")
    return lines


def main(minutes: float = 90.0, run: Path = Path("runs/training_elo")) -> None:
    torch.set_num_threads(1)
    rounds, curve = LEG, train(GAME, run, settings(LEG))
    while curve[-1]["seconds"] < 60 * minutes:
        rounds = max(rounds, len(curve)) + LEG
        curve = train(GAME, run, settings(rounds))
    head = f"{machine()}, torch {version('torch')}, ONNX Runtime {version('onnxruntime')}; one process\n{GAME!r}"
    (RESULTS / "training_elo.txt").write_text("\n".join([head, *table(curve)]) + "\n", encoding="utf-8")
    shutil.copy(run / "curve.png", PICTURES / "training_elo.png")


if __name__ == "__main__":
    typer.run(main)
