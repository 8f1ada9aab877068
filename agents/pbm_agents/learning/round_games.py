"""The games of a training run: a pool plays them in jobs, and the result of each job is written to disk at once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from pbm_envs import Game
from pbm_envs.toolbox import in_one_piece, is_partial

from ..common.workers import Pool
from .self_play import play_batch
from .settings import Training
from .training_data import Examples, joined

BATCH_OF_GAMES = 32
"""Number of games that a process plays simultaneously."""
SELF_PLAY, EVALUATION = "games", "evaluation"


class Score(NamedTuple):
    """The points of a network in some games."""

    games: int
    points: float


class Job(NamedTuple):
    """Games for one process."""

    kind: str
    """SELF_PLAY or EVALUATION."""
    job: Any
    """The argument of the kind's function."""


class Spent(NamedTuple):
    """What a job cost."""

    seconds: float
    processor_seconds: float


class Done(NamedTuple):
    """A job that is done: its name, its result, and its costs, or None if it was done before."""

    name: str
    result: Any
    spent: Spent | None


RESULTS: dict[str, Any] = {SELF_PLAY: Examples, EVALUATION: Score}


def self_play_jobs(settings: Training, number: int) -> dict[str, Job]:
    """Return the jobs of a round's self-play by the names of their files.

    The seed, the number of the round (from 0) and that of the batch determine the games.
    """
    sizes = [min(BATCH_OF_GAMES, settings.games - k) for k in range(0, settings.games, BATCH_OF_GAMES)]
    return {
        f"{SELF_PLAY}-{number}-{k}": Job(SELF_PLAY, (size, (settings.seed, number, k))) for k, size in enumerate(sizes)
    }


def self_play_function(game: Game, settings: Training, evaluator: Any) -> Callable[[Any], Examples]:
    """Return the function that plays a job of self-play; without an evaluator, of imitation rounds."""
    return partial(play_batch, game, settings.self_play_search(evaluator), settings.self_play_settings())


def run_jobs(
    pool: Pool, functions: Mapping[str, Callable[[Any], Any]], jobs: Mapping[str, Job], folder: Path
) -> Generator[Done, None, None]:
    """Run the jobs that have no result in `folder` yet, and write their results there.

    Yield each job when it is done: first those that were done before, then the others in the order of completion.

    Args:
        pool: Runs the jobs.
        functions: For each kind of job, a picklable function.
        jobs: The jobs by name.
        folder: A folder that exists.
    """
    missing = {name: job for name, job in jobs.items() if not (folder / f"{name}.npz").exists()}
    for name in jobs.keys() - missing.keys():
        yield Done(name, _read(folder / f"{name}.npz", jobs[name].kind), None)
    for name, (result, spent) in pool.run(partial(_run_job, functions), missing):
        with in_one_piece(folder / f"{name}.npz") as part:
            np.savez(part, **result._asdict())
        yield Done(name, result, spent)


def _read(path: Path, kind: str) -> Any:
    """Return the result of a job that is done: Examples or a Score."""
    with np.load(path) as arrays:
        found = {field: arrays[field] for field in RESULTS[kind]._fields}
    if kind == EVALUATION:
        return Score(int(found["games"]), float(found["points"]))
    return Examples(**found)


def joined_jobs(jobs: Mapping[str, Job], results: Mapping[str, Any]) -> Examples:
    """Return the examples of all jobs of self-play in their order, with the games counted from 0."""
    parts = [results[name] for name, job in jobs.items() if job.kind == SELF_PLAY]
    return joined(part._replace(games=part.games + k * BATCH_OF_GAMES) for k, part in enumerate(parts))


def forget_results(folder: Path, done: Mapping[str, int]) -> None:
    """Remove results that a killed run has left: partly written files, and those of rounds that are done.

    Args:
        folder: A folder that may be missing.
        done: For each kind of file, the number of rounds that are done.
    """
    for file in folder.glob("*"):
        kind, _, rest = file.stem.partition("-")
        number = rest.partition("-")[0]
        if is_partial(file) or (number.isdecimal() and int(number) < done.get(kind, 0)):
            file.unlink()


def _run_job(functions: Mapping[str, Callable[[Any], Any]], job: Job) -> tuple[Any, Spent]:
    began, used = perf_counter(), process_time()
    result = functions[job.kind](job.job)
    return result, Spent(perf_counter() - began, process_time() - used)
