"""Train the champions again, from nothing.

    python benchmarks/train_champions.py FOLDER [--workers 2] [--share 0.01]

Plays the games of the ladders of Chameleon and Unlur, learns the patterns of their champions from these (see
learn_patterns.py), and the values of Curio's champion from games against itself (see learn_curio.py). Trinim's champion
solves the game, and learns nothing. The weights are then in FOLDER: `chameleon.npz`, `unlur.npz` and `curio.npz`. A
stopped command resumes. To use them, copy them to `agents/pbm_agents/champions/weights`; `champions.py revisions HEAD`
then plays the new champions against those of the last commit. Needs the extra `torch`.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from ladders import tournament
from learn_curio import learn_generations
from learn_patterns import learn
from pbm_agents.arena import Run, play_tournament
from pbm_agents.champions.curio import save_weights

PATTERNS = {"chameleon-11": 40.0, "unlur-6": 30.0}
"""Seconds of processor time in which the patterns are learned from the games of a ladder."""


def main(
    folder: Path,
    workers: Annotated[int, typer.Option(help="Processes that play the games of the ladders.")] = 2,
    share: Annotated[float, typer.Option(help="Share of the games, and of the seconds of PATTERNS.")] = 1.0,
) -> None:
    """Train the champions whose weights are not in the folder yet."""
    start = time.perf_counter()
    for name, seconds in PATTERNS.items():
        games = tournament(name)
        out = folder / f"{games.games[0].name}.npz"
        if not out.exists():
            some = replace(games, openings=max(1, round(share * games.openings)))
            records = play_tournament(some, folder / name, Run(workers, progress=True))
            learn(records, share * seconds).save(out)
    if not (out := folder / "curio.npz").exists():
        save_weights(out, learn_generations(folder / "curio", share))
    print(f"{folder}: {(time.perf_counter() - start) / 60:.1f} minutes")


if __name__ == "__main__":
    typer.run(main)
