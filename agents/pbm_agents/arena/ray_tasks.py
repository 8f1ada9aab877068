"""Work as tasks of a Ray cluster (extra `ray`), whose processes and machines may die."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

Key = TypeVar("Key")
RETRIES = 3
"""How often a task is done again because its process or its machine died."""


def import_ray() -> Any:
    """The library; ImportError that says how to install it."""
    try:
        import ray
    except ImportError:
        raise ImportError("Ray is not installed: pip install 'pbm-envs[ray]'") from None
    return ray


@contextmanager
def ray_cluster(address: str | None = None) -> Iterator[Any]:
    """Ray, connected to a cluster, and disconnected after the block unless it was connected before.

    Args:
        address: As in `ray.init`: of a cluster; "local" starts one here; None: the one that runs, or one here.
    """
    ray = import_ray()
    started = not ray.is_initialized()
    if started:
        ray.init(address)
    try:
        yield ray
    finally:
        if started:
            ray.shutdown()


def run_tasks(
    ray: Any, function: Callable[[Any], Any], jobs: Mapping[Key, Any]
) -> Generator[tuple[Key, Any], None, None]:
    """Yield each key with what the function makes of its job, as they are done, one processor a job.

    The cluster's machines need this package, and those of your own games and agents. Processes stay for the next jobs.
    A job whose process or machine dies is done again, RETRIES times; the others are not touched by that. Whoever has
    seen enough closes the generator, and what is not done is cancelled.

    Args:
        ray: Of `ray_cluster`.
        function: Of a module that the machines can import.
        jobs: By key; they and the results are pickled.

    Raises:
        ChildProcessError: The processes of a job die again and again. What the function raises is raised, too.
    """
    task: Any = ray.remote(num_cpus=1, max_retries=RETRIES)(function)
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
                    f"processes of the Ray cluster die ({type(error).__name__}): too little memory, or machines that "
                    "leave it"
                ) from error
            yield key, result
    finally:
        for left in pending:
            ray.cancel(left)
