"""Batches played by worker processes, of which each may die or hang at any moment without harm to the others.

A worker reports each question that it puts to an agent and each answer. So when its process ends, or an answer takes
too long and the process is ended, it is known which agent was being asked, and about which games. Another process goes
on from the answers so far:

* The agent was asked about one game: it forfeits that game.
* It was asked about several: from then on, and in this batch, it is asked about one at a time.
* It was being loaded, or has ended MOST_DEATHS processes in this batch: it forfeits its unfinished games of the batch.
* The process was killed (SIGKILL) by somebody else, such as a system that is short of memory: the batch is played anew,
  once. If it happens again, it counts as the agent's doing.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any, NamedTuple

from pbm_envs.core.printable import describe_error
from pbm_envs.records import GameRecord

from .match import Answer, SoFar
from .schedule import Batch

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""What NumPy's linear algebra, PyTorch and Numba read as they are imported."""
MOST_DEATHS = 3
LOADING_SECONDS = 120.0
"""For loading an agent and compiling, beside the limit of a move."""
LOOK_SECONDS = 1.0
"""How often to look whether a process still lives. Its children can hold open what would tell us."""


class Question(NamedTuple):
    """What a worker was about to ask, and until when there has to be an answer."""

    agent: str
    rows: tuple[int, ...]
    deadline: float


@dataclass
class Job:
    """A batch, and what is known of it."""

    batch: Batch
    so_far: SoFar = field(default_factory=SoFar)
    kills: int = 0
    """How often its process was killed by somebody else."""
    deaths: dict[str, int] = field(default_factory=dict)
    """By agent."""
    unexplained: int = 0

    def blame(self, question: Question, how: str) -> None:
        """Go on without the answer to `question`; `how` its process came to its end."""
        name, self.so_far.restarts = question.agent, self.so_far.restarts + 1
        self.deaths[name] = self.deaths.get(name, 0) + 1
        if not question.rows or self.deaths[name] >= MOST_DEATHS:
            times = f", {self.deaths[name]} times in a batch" if question.rows else " while the agent was loaded"
            self.so_far.excluded[name] = how + times
        elif len(question.rows) > 1:
            self.so_far.alone.add(name)
        else:
            self.so_far.sentences[question.rows[0]] = how

    def start_anew(self) -> None:
        self.so_far = SoFar()
        self.deaths.clear()


class Worker:
    """A process that plays one batch after another."""

    def __init__(self, move_seconds: float | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other = context.Pipe()
        self.process = context.Process(target=work, args=(other,))
        self.process.start()
        other.close()
        self.job: Job | None = None
        self.question: Question | None = None
        self.ready = False
        self._move_seconds = move_seconds

    def give(self, job: Job) -> None:
        self.job, self.question = job, None
        with suppress(OSError):  # it has died: that is noticed later
            self.connection.send((job.batch, job.so_far))

    def read(self) -> list[GameRecord] | None:
        """Everything that has been reported; the games, if the batch is done."""
        while True:
            try:
                if not self.connection.poll():
                    return None
                kind, content = self.connection.recv()
            except (EOFError, OSError):
                return None
            if kind == "ready":
                self.ready = True
            elif kind == "asks":
                self.question = self._question(*content)
            elif kind == "answers" and self.job is not None:
                self.job.so_far.answers += content
                self._settle(content)
                self.question = None
            elif kind == "done":
                self.job = self.question = None
                records: list[GameRecord] = content
                return records
            elif kind == "failed":
                raise content

    def _question(self, agent: str, rows: list[int]) -> Question:
        limit = float("inf")
        if self._move_seconds is not None:
            limit = self._move_seconds * max(1, len(rows)) + LOADING_SECONDS * (not rows)
        return Question(agent, tuple(rows), monotonic() + limit)

    def _settle(self, answers: Sequence[Answer]) -> None:
        """A sentence is carried out once; a process that goes on from here finds it among the answers."""
        assert self.job is not None
        for answer in answers:
            self.job.so_far.sentences.pop(answer.row, None)

    @property
    def is_late(self) -> bool:
        return self.question is not None and monotonic() > self.question.deadline

    @property
    def is_dead(self) -> bool:
        return not self.process.is_alive()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()

    def how_it_ended(self) -> str:
        code = self.process.exitcode or 0
        if code >= 0:
            return f"the process ended with exit code {code}"
        with suppress(ValueError):
            return f"the process died of {signal.Signals(-code).name}"
        return f"the process died of signal {-code}"

    @property
    def was_killed(self) -> bool:
        return sys.platform != "win32" and self.process.exitcode == -signal.SIGKILL


def play_in_processes(
    batches: Sequence[Batch], workers: int, move_seconds: float | None = None
) -> Generator[list[GameRecord], None, None]:
    """The games of each batch as it is done by one of `workers` processes.

    Args:
        batches: What to play.
        workers: Processes.
        move_seconds: How long an agent may take for a move; None: as long as it likes.

    Raises:
        ChildProcessError: Processes die that are not asking an agent.
    """
    waiting, crew = deque(Job(batch) for batch in batches), list[Worker]()
    with one_thread_each():
        try:
            while waiting or any(worker.job for worker in crew):
                for worker in crew:
                    if worker.job is None and waiting:
                        worker.give(waiting.popleft())
                while waiting and len(crew) < workers:
                    crew.append(Worker(move_seconds))
                    crew[-1].give(waiting.popleft())
                _wait(crew)
                for worker in list(crew):
                    dead = worker.is_dead  # before reading: so nothing that it has reported is missed
                    records = worker.read()
                    if records is not None:
                        yield records
                    elif worker.is_late or dead:
                        crew.remove(worker)
                        waiting.extendleft(_bury(worker, move_seconds))
        finally:
            for worker in crew:
                worker.end()


def _wait(crew: Sequence[Worker]) -> None:
    """Until something is reported, or somebody dies or is late."""
    deadlines = [worker.question.deadline for worker in crew if worker.question is not None]
    seconds = min([LOOK_SECONDS, *(deadline - monotonic() for deadline in deadlines)])
    wait([*(worker.connection for worker in crew), *(worker.process.sentinel for worker in crew)], max(0.0, seconds))


def _bury(worker: Worker, move_seconds: float | None) -> list[Job]:
    """End a worker that is dead or late; its job, to be gone on with."""
    job, question = worker.job, worker.question
    late = not worker.is_dead
    worker.end()
    if job is None:
        return []
    if late:
        assert question is not None
        job.blame(question, f"no answer within {move_seconds:g} seconds")
    elif worker.was_killed and not job.kills:
        job.kills += 1
        job.start_anew()
    elif question is not None:
        job.blame(question, worker.how_it_ended())
    else:
        job.unexplained += 1
        if not worker.ready or job.unexplained == MOST_DEATHS:
            raise ChildProcessError(
                f"worker processes die while they ask no agent ({worker.how_it_ended()}): too little memory, or a "
                "script that plays with several workers outside `if __name__ == '__main__':`"
            )
        job.start_anew()
    return [job]


class Pipe:
    """The reporter of a worker."""

    def __init__(self, connection: Connection[Any, Any]) -> None:
        self._connection = connection

    def asks(self, agent: str, rows: Sequence[int]) -> None:
        self._connection.send(("asks", (agent, list(rows))))

    def answers(self, answers: Sequence[Answer]) -> None:
        self._connection.send(("answers", list(answers)))


def work(connection: Connection[Any, Any]) -> None:
    """What a worker does: play what it is given, for as long as the process that started it lives."""
    start_worker()
    connection.send(("ready", None))
    with suppress(EOFError):
        while True:
            batch, so_far = connection.recv()
            try:
                connection.send(("done", batch.play(Pipe(connection), so_far)))
            except Exception as error:  # not an agent's: a fault of ours
                connection.send(("failed", RuntimeError(f"games from {batch.number} on: {describe_error(error)}")))


def start_worker() -> None:
    """Ctrl-C ends a worker in silence, and so does the end of the process that started it, however that ended."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def usable_cores() -> int:
    """How many processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # Linux has it
    return os.cpu_count() or 1 if affinity is None else len(affinity(0))


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
