"""Worker pools on this machine or a Ray cluster; a process may die or hang without affecting the others.

    with make_pool(workers=2) as pool:
        for key, result in pool.run(function, {"a": job, "b": other_job}):
            ...

Results arrive in the order of completion. Code that uses them must not depend on it: sort by key.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from time import monotonic
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol, TypeVar, final

from pbm_envs import Game
from pbm_envs.toolbox import describe_error

Key = TypeVar("Key")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables that NumPy's linear algebra, PyTorch and Numba read on import."""
MOST_DEATHS = 3
"""Number of processes that may die on one job."""
PRELOADED = ("pbm_agents.arena", "pbm_agents.champions")
"""What the server from which worker processes are forked imports."""
LOOK_SECONDS = 1.0
"""Interval between checks that a process is alive; its children can keep its pipe open after its death."""


class Pool(Protocol):
    """A pool that runs jobs, sequentially or in parallel, within its `with` block."""

    def check(self, games: Iterable[Game], agents: Iterable[str], libraries: Iterable[str] = ()) -> None:
        """Raise ValueError unless every machine has the same versions and files (`programs`) as this one.

        Args:
            games: The games that are played there.
            agents: The agent names.
            libraries: Further distributions whose versions matter.
        """

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Generator[tuple[Key, Any], None, None]:
        """Yield each key with the function's result for its job, in the order of completion.

        Closing the generator cancels the unfinished jobs.

        Args:
            function: A module-level function, or a `partial` of one with data common to all jobs, such as a network.
                Its exceptions are raised here.
            jobs: The jobs by key; they and the results are pickled. A job whose process dies is run again.

        Raises:
            ChildProcessError: Processes die repeatedly.
        """

    def __enter__(self) -> Pool: ...

    def __exit__(self, *error: object) -> None: ...


def make_pool(workers: int = 1, ray: bool | str = False) -> Pool:
    """Return a pool of processes on this machine or, if `ray` is given, on a Ray cluster.

    Args:
        workers: Number of processes; with 1, this process does the work.
        ray: The address of a cluster; True: the running cluster, or one started on this machine.

    Raises:
        ImportError: `ray` is given and the extra `ray` is not installed.
    """
    if not ray:
        return ProcessPool(workers)
    from .ray_pool import RayPool  # imported lazily: Ray is optional

    return RayPool(None if ray is True else ray)


class Death(NamedTuple):
    """The death of a process that had not finished its job."""

    how: str
    """A description, such as "the process ended with exit code 1"."""
    late: bool = False
    """True if the pool killed the process because its deadline had passed."""
    killed: bool = False
    """True if it got SIGKILL or SIGTERM, most likely from outside, such as a system that is short of memory."""

    def error(self) -> ChildProcessError:
        """Return the exception to raise if the job is abandoned."""
        return ChildProcessError(
            f"worker processes die ({self.how}): too little memory, or a script that starts workers outside "
            "`if __name__ == '__main__':`"
        )


class Task:
    """A job for a process; if the process dies, another one takes over.

    This class restarts the job from the beginning. Subclasses use the reports of the process to resume.
    """

    def __init__(self, function: Callable[..., Any], job: Any) -> None:
        self.function, self.job = function, job
        self.deaths = 0
        self.deadline = float("inf")
        """The deadline, by `time.monotonic`, after which the process is killed."""

    def call(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return a module-level function and its arguments; the function takes `report` after them."""
        return _call, (self.function, self.job)

    def hear(self, message: Any) -> None:
        """Receive a report of the function."""

    def lost(self, death: Death) -> None:
        """Prepare for another process, or raise."""
        self.deaths += 1
        if self.deaths == MOST_DEATHS:
            raise death.error()


def _call(function: Callable[[Any], Any], job: Any, report: Callable[[Any], None]) -> Any:
    return function(job)


class Worker:
    """A process that runs tasks one after another."""

    def __init__(self) -> None:
        context = _context()
        self.connection, other = context.Pipe()
        self._interrupted = context.RawValue("b")
        self.process = context.Process(target=_work, args=(other, self._interrupted, dict(os.environ)))
        self.process.start()
        other.close()
        self.task: Task | None = None
        self.ready = False

    def give(self, task: Task) -> None:
        """Start a task in the process."""
        call = task.call()
        self.task = task
        self._interrupted.value = 0
        with suppress(OSError):  # its death is noticed later
            self.connection.send(call)

    def interrupt(self) -> None:
        """Let `is_interrupted` return True in the process until it gets another task."""
        self._interrupted.value = 1

    def read(self) -> tuple[Task, Any] | None:
        """Receive all reports; return the task and its result if it is done."""
        while True:
            try:
                if not self.connection.poll():
                    return None
                kind, content = self.connection.recv()
            except (EOFError, OSError):
                return None
            if kind == "ready":
                self.ready = True
            elif kind == "failed":
                error, trace = content
                raise error from ChildProcessError(f"in a worker process:\n{trace}")
            elif self.task is not None and kind == "reports":
                self.task.hear(content)
            elif self.task is not None:
                task, self.task = self.task, None
                return task, content

    @property
    def is_late(self) -> bool:
        """True if the deadline of its task has passed."""
        return self.task is not None and monotonic() > self.task.deadline

    def end(self) -> Death:
        """Kill the process unless it has already ended; return how it ended."""
        late = self.process.is_alive()
        self.process.kill()
        self.process.join()
        self.connection.close()
        code = self.process.exitcode or 0
        how = f"the process ended with exit code {code}"
        if code < 0:
            how = f"the process died of signal {-code}"
            with suppress(ValueError):
                how = f"the process died of {signal.Signals(-code).name}"
        return Death(how, late, not late and sys.platform != "win32" and -code in (signal.SIGKILL, signal.SIGTERM))


@final
class ProcessPool:
    """A pool of processes on this machine, started when first needed and ended with the `with` block.

    >>> with ProcessPool(1) as pool:
    ...     dict(pool.run(abs, {"one": -1, "two": 2}))
    {'one': 1, 'two': 2}
    """

    def __init__(self, workers: int) -> None:
        """Take the number of processes; with 1, `run` works in this process."""
        self._most = workers
        self._workers: list[Worker] = []

    def check(self, games: Iterable[Game], agents: Iterable[str], libraries: Iterable[str] = ()) -> None:
        """Do nothing, because the processes are on this machine."""

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Generator[tuple[Key, Any], None, None]:
        """Run as `Pool.run`."""
        if self._most == 1:
            for key, job in jobs.items():
                yield key, function(job)
            return
        tasks = {key: Task(function, job) for key, job in jobs.items()}
        keys = {id(task): key for key, task in tasks.items()}
        for task, result in self.do(list(tasks.values())):
            yield keys[id(task)], result

    def do(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Yield each task with its result in the order of completion. Even a single worker is a separate process.

        Raises:
            ChildProcessError: Processes die before they do anything, or a task gives up. Exceptions of a task's
                function are raised, too.
        """
        waiting = deque(tasks)
        try:
            while waiting or any(worker.task for worker in self._workers):
                self._give(waiting)
                self._wait()
                for worker in list(self._workers):
                    dead = not worker.process.is_alive()  # before reading, so that no report is missed
                    done = worker.read()
                    if done is not None:
                        yield done
                    elif dead or worker.is_late:
                        waiting.extendleft(self._bury(worker))
        finally:
            for worker in [worker for worker in self._workers if worker.task is not None]:
                self._workers.remove(worker)
                worker.end()

    def _give(self, waiting: deque[Task]) -> None:
        """Assign waiting tasks to idle and new processes."""
        for worker in self._workers:
            if worker.task is None and waiting:
                worker.give(waiting.popleft())
        with one_thread_each():
            while waiting and len(self._workers) < self._most:
                self._workers.append(Worker())
                self._workers[-1].give(waiting.popleft())

    def _wait(self) -> None:
        """Wait until a process reports something, dies or is late."""
        deadlines = [worker.task.deadline for worker in self._workers if worker.task is not None]
        seconds = min([LOOK_SECONDS, *(deadline - monotonic() for deadline in deadlines)])
        ends = [end for worker in self._workers for end in (worker.connection, worker.process.sentinel)]
        wait(ends, max(0.0, seconds))

    def _bury(self, worker: Worker) -> list[Task]:
        """Remove a dead or late process; return its task, prepared for another process."""
        self._workers.remove(worker)
        death = worker.end()
        if worker.task is None:
            return []
        if not (worker.ready or death.killed):
            raise death.error()
        worker.task.lost(death)
        return [worker.task]

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(self, *error: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()


_interrupted: Any = SimpleNamespace(value=0)
"""What the parent of this process sets to interrupt its task."""


def is_interrupted() -> bool:
    """Return whether the parent of this worker process wants its task to end early (`Worker.interrupt`)."""
    return bool(_interrupted.value)


def _context() -> Any:
    """Return the context in which processes start: in Linux as forks of a server that has imported the package."""
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    return context


def _work(connection: Connection[Any, Any], interrupted: Any, environment: dict[str, str]) -> None:
    """Run tasks for as long as the parent process lives."""
    global _interrupted
    _interrupted = interrupted
    os.environ.clear()
    os.environ.update(environment)  # a server has that of the time at which it started
    follow_parent()
    connection.send(("ready", None))
    with suppress(EOFError):
        while True:
            function, arguments = connection.recv()
            try:
                result = function(*arguments, lambda message: connection.send(("reports", message)))
            except Exception as error:
                connection.send(("failed", (sendable(error), traceback.format_exc())))
            else:
                connection.send(("done", result))


def sendable(error: Exception) -> Exception:
    """Return the error, or a description of it if it cannot be pickled and unpickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(describe_error(error))
    return error


def follow_parent() -> None:
    """Make this process end silently on Ctrl-C and when its parent ends, however that happens."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def usable_cores() -> int:
    """Return the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # missing on some systems
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Make processes started within the context compute in one thread, unless the environment specifies more."""
    added = {name: "1" for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
