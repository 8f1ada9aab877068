"""Batches played here, in processes of this machine, or on a Ray cluster: the same games, in whatever order."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from pbm_envs.records import GameRecord

from .processes import play_in_processes
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
    try:
        import ray
    except ImportError:
        raise ImportError("Ray is not installed: pip install 'pbm-envs[ray]'") from None
    started = not ray.is_initialized()
    if started:
        ray.init(address)
    pending: list[Any] = []
    try:
        play: Any = ray.remote(num_cpus=1, max_retries=3)(Batch.play)
        pending = [play.remote(batch) for batch in batches]
        while pending:
            (done,), pending = ray.wait(pending)
            yield ray.get(done)
    finally:
        for batch in pending:  # whoever has seen enough does not wait for them
            ray.cancel(batch)
        if started:
            ray.shutdown()
