"""Work for several processes, of this machine or of a Ray cluster.

Some may die: what they have not finished is done anew.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import Any, Protocol, TypeVar, final

Key = TypeVar("Key")
MOST_DEATHS = 3
"""Processes that may die one after the other without any work done in between."""


class Crew(Protocol):
    """Does jobs, one after another or side by side, within its `with` block."""

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Iterator[tuple[Key, Any]]:
        """Yield each key with what the function makes of its job, as they are done.

        Args:
            function: Of a module. What it raises is raised here.
            jobs: By key; they and the results are pickled. A job whose process dies is done again.

        Raises:
            ChildProcessError: Processes die again and again.
        """

    def __enter__(self) -> Crew: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def make_crew(workers: int = 1, ray: bool | str = False) -> Crew:
    """A crew of so many processes of this machine, or instead of the Ray cluster at this address.

    Args:
        workers: Processes; 1 is none but this.
        ray: The address of a cluster; True: the one that runs, or is started here.

    Raises:
        ImportError: Without the extra `ray`, if `ray` is given.
    """
    return RayCrew(None if ray is True else ray) if ray else ProcessCrew(workers)


@final
class RayCrew:
    """Processes of a Ray cluster, which is connected within the `with` block."""

    def __init__(self, address: str | None = None) -> None:
        """The address is that of `ray.init`."""
        from ..arena.ray_tasks import import_ray, ray_cluster  # imported lazily: arena stands above learning

        import_ray()
        self._cluster, self._ray = ray_cluster(address), None

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Iterator[tuple[Key, Any]]:
        """As `Crew`."""
        from ..arena.ray_tasks import run_tasks

        return run_tasks(self._ray, function, jobs)

    def __enter__(self) -> RayCrew:
        self._ray = self._cluster.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.__exit__(kind, error, trace)


@final
class ProcessCrew:
    """Processes that are started when they are first needed, and end with the `with` block.

    >>> with ProcessCrew(1) as crew:
    ...     dict(crew.run(abs, {"one": -1, "two": 2}))
    {'one': 1, 'two': 2}
    """

    def __init__(self, workers: int) -> None:
        """So many processes; 1 is none but this."""
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Iterator[tuple[Key, Any]]:
        """As `Crew`."""
        if self._workers == 1:
            yield from ((key, function(job)) for key, job in jobs.items())
            return
        left, deaths = dict(jobs), 0
        while left:
            try:
                for key, result in self._as_done(function, left):
                    left.pop(key)
                    deaths = 0
                    yield key, result
            except BrokenProcessPool:
                self.close()
                deaths += 1
                if deaths == MOST_DEATHS:
                    raise ChildProcessError(
                        "worker processes die: too little memory, or a script that works with several processes "
                        "outside `if __name__ == '__main__':`"
                    ) from None

    def _as_done(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Iterator[tuple[Key, Any]]:
        from ..arena.processes import one_thread_each, start_worker  # imported lazily: arena stands above learning

        with one_thread_each():  # a pool starts processes as jobs come
            if self._pool is None:
                context = multiprocessing.get_context("spawn")
                self._pool = ProcessPoolExecutor(self._workers, context, start_worker)
            futures = {self._pool.submit(function, job): key for key, job in jobs.items()}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def __enter__(self) -> ProcessCrew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
