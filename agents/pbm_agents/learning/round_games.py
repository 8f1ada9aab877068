"""Self-play games of a round: a pool plays them in batches, and each batch is written to disk when it is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from pbm_envs import Game
from pbm_envs.toolbox import in_one_piece, is_partial

from ..common.workers import Pool
from .self_play import play_batch
from .settings import Training
from .training_data import Examples, joined

BATCH_OF_GAMES = 16
"""Number of games that a process plays simultaneously."""


def play_round(
    game: Game,
    settings: Training,
    number: int,
    evaluator: Any,
    folder: Path,
    pool: Pool,
    advance: Callable[[int, float | None], None],
) -> tuple[Examples, float | None]:
    """Return a round's self-play games, and the positions per second of those played now (None if none were).

    The seed, the number of the round (from 0) and that of the batch determine the games. Batches that a killed process
    left in `folder` are not played again. There is no evaluator in imitation rounds. `advance` is called with a number
    of games done, and the positions per second so far if they were played now.
    """
    folder.mkdir(exist_ok=True)
    search, how = settings.self_play_search(evaluator), settings.self_play_settings()
    sizes = [min(BATCH_OF_GAMES, settings.games - k) for k in range(0, settings.games, BATCH_OF_GAMES)]
    files = [folder / f"{number}-{k}.npz" for k in range(len(sizes))]
    jobs, positions, speed, began = {}, 0, None, perf_counter()
    for k, (file, size) in enumerate(zip(files, sizes, strict=True)):
        if file.exists():
            advance(size, None)
        else:
            jobs[k] = (size, (settings.seed, number, k))
    for k, examples in pool.run(partial(play_batch, game, search, how), jobs):
        _save(files[k], examples)
        positions += len(examples.returns)
        advance(sizes[k], speed := positions / (perf_counter() - began))
    parts = [_load(file) for file in files]
    return joined(part._replace(games=part.games + k * BATCH_OF_GAMES) for k, part in enumerate(parts)), speed


def forget_rounds(folder: Path, before: int) -> None:
    """Remove the files of earlier rounds, which a killed run may have left."""
    for file in folder.glob("*.npz"):
        if is_partial(file) or int(file.name.partition("-")[0]) < before:
            file.unlink()


def _save(file: Path, examples: Examples) -> None:
    with in_one_piece(file) as part:
        np.savez(part, **examples._asdict())


def _load(file: Path) -> Examples:
    with np.load(file) as arrays:
        return Examples(**{name: arrays[name] for name in Examples._fields})
