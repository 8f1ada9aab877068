"""A Ray cluster that does jobs (extra `ray`); its processes and machines may die."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeVar, final

Key = TypeVar("Key")
RETRIES = 3
"""How often a task is done again because its process or its machine died."""


@final
class RayPool:
    """The processes of a Ray cluster, which is connected within the `with` block unless it was connected before."""

    def __init__(self, address: str | None = None) -> None:
        """Take the address of `ray.init`: a cluster's; "local" starts one here; None: the one that runs, or one here.

        Raises:
            ImportError: Ray is not installed.
        """
        try:
            import ray
        except ImportError:
            raise ImportError("Ray is not installed: pip install 'pbm-envs[ray]'") from None
        self._ray: Any = ray
        self._address, self._started = address, False

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Generator[tuple[Key, Any], None, None]:
        """As `Pool.run`, one processor per job. The machines need this package, and those of your games and agents."""
        ray = self._ray
        task = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
        pending = {task.remote(job): key for key, job in jobs.items()}
        deaths = ray.exceptions
        try:
            while pending:
                (done,), _ = ray.wait(list(pending))
                key = pending.pop(done)
                try:
                    result = ray.get(done)
                except (deaths.WorkerCrashedError, deaths.NodeDiedError, deaths.OutOfMemoryError) as error:
                    raise ChildProcessError(
                        f"processes of the Ray cluster die ({type(error).__name__}): too little memory, or machines "
                        "that leave it"
                    ) from error
                yield key, result
        finally:
            for left in pending:
                ray.cancel(left)

    def __enter__(self) -> RayPool:
        self._started = not self._ray.is_initialized()
        if self._started:
            self._ray.init(self._address)
        return self

    def __exit__(self, *error: object) -> None:
        if self._started:
            self._ray.shutdown()
