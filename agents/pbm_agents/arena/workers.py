"""Batches played here, in processes of this machine, or on a Ray cluster: the same games, in whatever order."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from pbm_envs.records import GameRecord

from .processes import play_in_processes
from .ray_tasks import ray_cluster, run_tasks
from .schedule import Batch


def play_batches(
    batches: Sequence[Batch], workers: int = 1, move_seconds: float | None = None
) -> Generator[list[GameRecord], None, None]:
    """The games of each batch as it is done; with one worker and no limit of time in this process, in order."""
    if workers == 1 and move_seconds is None:
        return (batch.play() for batch in batches)
    return play_in_processes(batches, workers, move_seconds)


def play_batches_on_ray(
    batches: Sequence[Batch], address: str | None = None
) -> Generator[list[GameRecord], None, None]:
    """The games of each batch as it is done by a Ray cluster, one processor a batch.

    Ray is started with `ray.init(address)` if it does not run yet. The cluster's machines need this package, and the
    packages of your own agents.
    """
    with ray_cluster(address) as ray, closing(run_tasks(ray, Batch.play, dict(enumerate(batches)))) as results:
        for _, records in results:
            yield records
