"""Batches played here, in processes of this machine, or on a Ray cluster: the same games, in whatever order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from pbm_envs.records import GameRecord

from .schedule import Batch

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What NumPy's linear algebra, PyTorch and Numba read as they are imported."""


def play_batches(batches: Sequence[Batch], workers: int = 1) -> Generator[list[GameRecord], None, None]:
    """The games of each batch as it is done; with one worker in this process, in order."""
    if workers == 1:
        for batch in batches:
            yield batch.play()
        return
    with one_thread_each():
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), start_worker)
        try:
            for done in as_completed([pool.submit(batch.play) for batch in batches]):
                yield done.result()
        except BrokenProcessPool:
            raise ChildProcessError(
                "a worker process died and the games in flight are lost: a crash outside Python, too little memory, or "
                "a script that plays with several workers outside `if __name__ == '__main__':`"
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


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
    try:
        play: Any = ray.remote(num_cpus=1, max_retries=3)(Batch.play)
        pending = [play.remote(batch) for batch in batches]
        while pending:
            (done,), pending = ray.wait(pending)
            yield ray.get(done)
    finally:
        if started:
            ray.shutdown()


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Processes that are started meanwhile compute in one thread each, unless the environment says otherwise."""
    added = {name: "1" for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def start_worker() -> None:
    """Ctrl-C ends a worker in silence, and so does the end of the process that started it, however that ended."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
