"""Work for several processes, of this machine or of a Ray cluster; a process may die or hang without harm to others.

    with make_pool(workers=2) as pool:
        for key, result in pool.run(function, {"a": job, "b": other_job}):
            ...

Results come as they are done. What follows from them must not depend on that order: sort by key.
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
from typing import Any, NamedTuple, Protocol, TypeVar, final

from pbm_envs import Game
from pbm_envs.toolbox import describe_error

Key = TypeVar("Key")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What NumPy's linear algebra, PyTorch and Numba read as they are imported."""
MOST_DEATHS = 3
"""Processes that may die at one job."""
LOOK_SECONDS = 1.0
"""How often to look whether a process still lives: its children can hold open the pipe that would tell."""


class Pool(Protocol):
    """Does jobs, one after another or side by side, within its `with` block."""

    def check(self, games: Iterable[Game], agents: Iterable[str], libraries: Iterable[str] = ()) -> None:
        """Raise ValueError unless every machine has the same versions and files (`programs`) as this one.

        Args:
            games: The games that are played there.
            agents: By name.
            libraries: Further distributions whose versions matter.
        """

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Generator[tuple[Key, Any], None, None]:
        """Yield each key with what the function returns for its job, as jobs are done.

        Closing the generator cancels what is not done.

        Args:
            function: Of a module, or a `partial` of one with what is common to all jobs, such as a network. What it
                raises is raised here.
            jobs: By key; they and the results are pickled. A job whose process dies is done again.

        Raises:
            ChildProcessError: Processes die again and again.
        """

    def __enter__(self) -> Pool: ...

    def __exit__(self, *error: object) -> None: ...


def make_pool(workers: int = 1, ray: bool | str = False) -> Pool:
    """Return a pool of so many processes of this machine, or instead the Ray cluster at this address.

    Args:
        workers: Processes; with 1, this process does the work.
        ray: The address of a cluster; True: the one that runs, or is started here.

    Raises:
        ImportError: Without the extra `ray`, if `ray` is given.
    """
    if not ray:
        return ProcessPool(workers)
    from .ray_pool import RayPool  # only where it is asked for

    return RayPool(None if ray is True else ray)


class Death(NamedTuple):
    """How a process ended that had not done its job."""

    how: str
    """In words, such as "the process ended with exit code 1"."""
    late: bool = False
    """It was ended here, because its deadline had passed."""
    killed: bool = False
    """It got SIGKILL or SIGTERM, most likely from somebody else, such as a system that is short of memory."""

    def error(self) -> ChildProcessError:
        """Return what to raise if the job is given up."""
        return ChildProcessError(
            f"worker processes die ({self.how}): too little memory, or a script that starts workers outside "
            "`if __name__ == '__main__':`"
        )


class Task:
    """A job that a process does; where the process dies, another one does what is left of it.

    This one starts again from the beginning. Subclasses learn from what a process reports, and go on from there.
    """

    def __init__(self, function: Callable[[Any], Any], job: Any) -> None:
        self.function, self.job = function, job
        self.deaths = 0
        self.deadline = float("inf")
        """By `time.monotonic`: when it has passed, the process is ended."""

    def call(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return a function of a module and its arguments; the function takes `report` after them."""
        return _call, (self.function, self.job)

    def hear(self, message: Any) -> None:
        """Take what the function has reported."""

    def lost(self, death: Death) -> None:
        """Get ready for another process, or raise."""
        self.deaths += 1
        if self.deaths == MOST_DEATHS:
            raise death.error()


def _call(function: Callable[[Any], Any], job: Any, report: Callable[[Any], None]) -> Any:
    return function(job)


class Worker:
    """A process that does one task after another."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,))
        self.process.start()
        other.close()
        self.task: Task | None = None
        self.ready = False

    def give(self, task: Task) -> None:
        """Let the process do a task."""
        call = task.call()
        self.task = task
        with suppress(OSError):  # it has died, which is noticed later
            self.connection.send(call)

    def read(self) -> tuple[Task, Any] | None:
        """Take everything that has been reported; return the task and its result if it is done."""
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
        """Whether the deadline of its task has passed."""
        return self.task is not None and monotonic() > self.task.deadline

    def end(self) -> Death:
        """Kill the process, unless it has ended already; return how it ended."""
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
    """Processes of this machine, which are started when they are first needed and end with the `with` block.

    >>> with ProcessPool(1) as pool:
    ...     dict(pool.run(abs, {"one": -1, "two": 2}))
    {'one': 1, 'two': 2}
    """

    def __init__(self, workers: int) -> None:
        """So many processes; with 1, `run` works in this process."""
        self._most = workers
        self._workers: list[Worker] = []

    def check(self, games: Iterable[Game], agents: Iterable[str], libraries: Iterable[str] = ()) -> None:
        """Do nothing: its processes are on this machine."""

    def run(self, function: Callable[[Any], Any], jobs: Mapping[Key, Any]) -> Generator[tuple[Key, Any], None, None]:
        """As `Pool`."""
        if self._most == 1:
            for key, job in jobs.items():
                yield key, function(job)
            return
        tasks = {key: Task(function, job) for key, job in jobs.items()}
        keys = {id(task): key for key, task in tasks.items()}
        for task, result in self.do(list(tasks.values())):
            yield keys[id(task)], result

    def do(self, tasks: Sequence[Task]) -> Generator[tuple[Task, Any], None, None]:
        """Yield each task with its result, as tasks are done by processes, even if it is only one.

        Raises:
            ChildProcessError: Processes die before they do anything, or a task gives up. What a task's function raises
                is raised, too.
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
        """Give waiting tasks to idle processes, and to new ones."""
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
        """Remove a process that is dead or late; return its task, which is ready for another process."""
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


def _work(connection: Connection[Any, Any]) -> None:
    """Do tasks for as long as the process that started this one lives."""
    follow_parent()
    connection.send(("ready", None))
    with suppress(EOFError):
        while True:
            function, arguments = connection.recv()
            try:
                result = function(*arguments, lambda message: connection.send(("reports", message)))
            except Exception as error:
                connection.send(("failed", (_sendable(error), traceback.format_exc())))
            else:
                connection.send(("done", result))


def _sendable(error: Exception) -> Exception:
    """Return the error, or what describes it if it cannot be pickled and read again."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(describe_error(error))
    return error


def follow_parent() -> None:
    """Let Ctrl-C end this process in silence, and so the end of the process that started it, however that ended."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def usable_cores() -> int:
    """Return how many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux has it
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let processes that are started meanwhile compute in one thread each, unless the environment says otherwise."""
    added = {name: "1" for name in THREADS if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]
