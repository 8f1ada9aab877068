"""Worker processes of `pbm serve` in which agents and advisers think, so that the server itself only serves boards.

The agents of all boards share a few processes, and wait for one in a queue. A process gets the name of an agent, the
game, and the views that the agent may know, never the full state. It runs at a lower priority than the server, so that
persons come first.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, lru_cache
from multiprocessing.connection import wait
from typing import Any, final
from weakref import WeakKeyDictionary

from pbm_envs.toolbox import COMPILING, Progress

from ..common.faults import InfrastructureError
from ..common.workers import Task, Worker, is_interrupted, one_thread_each, sendable, usable_cores
from ..players.names import make_agent
from ..search.ending import end_searches_when, ending
from .ahead import how_far

NICENESS = 10
"""How much lower the priority of worker processes is than that of the server (0 to 19)."""
MOST_AGENTS = 8
"""Agents that a worker process keeps, with their weights and their trees."""
FAIR_SECONDS = 30.0
"""Seconds in the queue after which a question without a clock is as urgent as one whose time is over."""
GRACE_SECONDS = 60.0
"""Seconds after which a worker process is killed if an agent that was told to end goes on."""
LOADING_SECONDS = 600.0
"""Seconds beyond its time for an agent to be loaded and compiled."""
LOOK_SECONDS = 0.1
"""Seconds between checks whether anybody still needs a result."""

_run: ContextVar[Callable[..., Any] | None] = ContextVar("_run", default=None)
_seat: ContextVar[tuple[int, int]] = ContextVar("_seat")
"""In a worker process: the number of the game and the seat whose view a question is about."""


def worker_process() -> Callable[..., Any] | None:
    """Return what calls a module's function with its arguments in a worker process and returns its result.

    The arguments are the name of an agent, which `known_agent` makes there, the game, the view, and others. None means
    that the agents of this thread think in this process.
    """
    return _run.get()


def known_agent(name: str) -> Any:
    """Return the agent with this name in a worker process, which answers one question at a time.

    Each seat of each game has agents of its own, so that none takes what it has seen from one view to another.
    """
    return _agent_of_seat(name, _seat.get())


@lru_cache(maxsize=MOST_AGENTS)
def _agent_of_seat(name: str, seat: tuple[int, int]) -> Any:
    return make_agent(name)


@final
class AgentProcesses:
    """A bounded number of worker processes, started when they are first needed, and the queue for them."""

    def __init__(self, most: int | None = None) -> None:
        """Prepare `most` processes; None for as many as there are processors."""
        self._most = most or usable_cores()
        self._idle: list[Worker] = []
        self._busy: set[Worker] = set()
        self._closed = False
        self._queue: list[tuple[float, int]] = []
        self._numbers = itertools.count()
        self._sessions: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        self._changed = threading.Condition()
        """Held while the queue and the processes change."""

    @contextmanager
    def used(
        self, session: object, seconds: float, until: float, notify: Callable[[dict[str, Any]], None]
    ) -> Iterator[None]:
        """Let agents that are asked in this block and thread think in these processes.

        Args:
            session: The game that they are asked about.
            seconds: The time after which their searches end, counted from when they get a process.
            until: The moment at which their searches end, by `time.monotonic`.
            notify: Called with messages about the progress of compilation.
        """
        with self._changed:
            number = self._sessions.setdefault(session, next(self._numbers))

        def run(function: Callable[..., Any], *arguments: Any) -> Any:
            is_over = ending() or (lambda: False)
            worker = self._take(min(until, time.monotonic() + FAIR_SECONDS), is_over)
            try:
                left = max(0.0, min(seconds, until - time.monotonic()))
                return _result(worker, _Question((function, arguments, number), left, notify), is_over)
            finally:
                self._give_back(worker)

        token = _run.set(run)
        try:
            yield
        finally:
            _run.reset(token)

    def close(self) -> None:
        """End all processes, including those in which an agent thinks, and start no more."""
        with self._changed:
            self._closed = True
            for worker in self._busy:
                worker.process.kill()  # whoever waits for its result notices
            while self._idle:
                self._idle.pop().end()
            self._changed.notify_all()

    def _take(self, urgency: float, is_over: Callable[[], bool]) -> Worker:
        """Wait for a process, the most urgent first.

        Raises:
            InfrastructureError: If nobody needs it any more, or there are no more processes.
        """
        place = urgency, next(self._numbers)
        with self._changed:
            self._queue.append(place)
            try:
                while self._closed or min(self._queue) != place or (not self._idle and len(self._busy) == self._most):
                    if self._closed or is_over():
                        raise InfrastructureError("the game was left")
                    self._changed.wait(LOOK_SECONDS)
                if not self._idle:
                    with one_thread_each():
                        self._idle.append(Worker())
                self._busy.add(worker := self._idle.pop())
                return worker
            finally:
                self._queue.remove(place)
                self._changed.notify_all()

    def _give_back(self, worker: Worker) -> None:
        with self._changed:
            self._busy.remove(worker)
            if worker.task is None and not self._closed:
                self._idle.append(worker)
            else:
                worker.end()
            self._changed.notify_all()


class _Question(Task):
    """A question to an agent."""

    def __init__(self, job: Any, seconds: float, notify: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(_answer, job)
        self._seconds, self._notify = seconds, notify
        self.deadline = time.monotonic() + seconds + LOADING_SECONDS

    def call(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the call, as for `Task`."""
        return _answer, (*self.job, self._seconds)

    def hear(self, message: dict[str, Any]) -> None:
        """Pass on the progress of compilation."""
        self._notify(message)


def _result(worker: Worker, question: _Question, is_over: Callable[[], bool]) -> Any:
    """Return the result of a question that an idle process answers.

    Raises:
        InfrastructureError: If the process dies, or has to be killed.
    """
    worker.give(question)
    told = False
    while True:
        wait([worker.connection, worker.process.sentinel], LOOK_SECONDS)
        dead = not worker.process.is_alive()  # before reading, so that no report is missed
        if (done := worker.read()) is not None:
            result = done[1]
            if isinstance(result, Exception):
                raise result
            return result
        if dead or worker.is_late:
            death = worker.end()
            how = "it did not end in time" if death.late else death.how
            raise InfrastructureError(f"the agent gave no answer: {how}")
        if is_over() and not told:
            told = True
            worker.interrupt()
            question.deadline = min(question.deadline, time.monotonic() + GRACE_SECONDS)


def _answer(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    number: int,
    seconds: float,
    report: Callable[[dict[str, Any]], None],
) -> Any:
    """Return the result of a question, or the exception that it raised; called in a worker process."""
    _be_nice()
    until = time.monotonic() + seconds
    _, game, view = arguments[:3]
    _seat.set((number, int(view["viewer"][0])))

    def hear(progress: Progress) -> None:
        report(how_far(game.name, progress))

    COMPILING.listeners.add(hear)
    try:
        with end_searches_when(lambda: is_interrupted() or time.monotonic() > until):
            return function(*arguments)
    except Exception as error:
        return sendable(error)
    finally:
        COMPILING.listeners.discard(hear)


@cache
def _be_nice() -> None:
    """Lower the priority of this process, where that is possible; on Linux all else on its processor goes first."""
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
