"""Play batches in this process, in worker processes, or on a Ray cluster. The games are the same; their order may vary.

A process reports each question to an agent and each answer. If it dies, or is killed because an answer takes too long,
its parent thus knows which agent was being asked, and about which games. Another process resumes from the answers so
far:

* If the agent was asked about one game, it forfeits that game.
* If it was asked about several games, it is asked about one at a time for the rest of the batch.
* If it was being loaded, asked once before the games or informed about them, or has ended MOST_DEATHS processes in
  this batch, it forfeits its unfinished games of the batch.
* If the process was killed (SIGKILL, SIGTERM), for example by a system that is short of memory, the batch is played
  again from the start, once. If that happens again, its games are left unplayed.
"""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import cache
from time import monotonic
from typing import Any, final

from pbm_envs.records import GameRecord
from pbm_envs.toolbox import describe_error

from ..common.workers import MOST_DEATHS, Death, ProcessPool, Task, make_pool
from .journal import Journal
from .match import Answer, Question, Report, SoFar
from .schedule import Batch, Unplayed

LOADING_SECONDS = 120.0
"""Time limit for loading an agent and compiling, or for observing a ply."""


def play_batches(
    batches: Sequence[Batch],
    workers: int = 1,
    move_seconds: float | None = None,
    ray: str | None = None,
    journal: Journal | None = None,
) -> Generator[list[GameRecord] | Unplayed, None, None]:
    """Yield the games of each batch as it is done, or the games that a fault left unplayed.

    With one worker and no time limit, this process plays the batches in order. With `ray`, the address of a cluster,
    its machines play, one processor per batch. The journal records all questions and answers, except on Ray; batches
    resume from its answers.

    Raises:
        BudgetSpentError: The journal's budget is used up.
        ChildProcessError: Processes die while no agent is being asked.
        ValueError: A machine of the Ray cluster has other versions or files than this one.
    """
    if ray:
        jobs = {batch.number: (batch, move_seconds) for batch in batches}
        with make_pool(ray=ray) as pool:
            pool.check((batch.game for batch in batches), (name for batch in batches for name in batch.agents))
            with closing(pool.run(_play_on_ray, jobs)) as results:
                for _, games in results:
                    yield games
    elif workers == 1 and move_seconds is None:
        for batch in batches:
            yield batch.play(journal.reporter(batch), journal.so_far(batch)) if journal else batch.play()
    else:
        tasks = [BatchTask(batch, move_seconds, journal) for batch in batches]
        with ProcessPool(workers) as processes, closing(processes.do(tasks)) as done:
            for _, games in done:
                yield games


@final
class BatchTask(Task):
    """A batch, with its answers so far."""

    def __init__(self, batch: Batch, move_seconds: float | None, journal: Journal | None = None) -> None:
        super().__init__(Batch.play, batch)
        self.move_seconds, self.killed, self.journal = move_seconds, False, journal
        self.report: Report = journal.reporter(batch) if journal else lambda message: None
        self.question: Question | None = None
        self.given_up: Unplayed | None = None
        self._start_again()

    def call(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the call, as for `Task`."""
        self._forget_question()
        return (_play, (self.job, self.so_far)) if self.given_up is None else (_give_up, (self.given_up,))

    def hear(self, message: Question | Sequence[Answer]) -> None:
        """Receive a question or answers. A forfeit decided here is among the answers once it is carried out."""
        self.report(message)
        if isinstance(message, Question):
            self.question = message
            if self.move_seconds is not None:
                limit = self.move_seconds * max(1, len(message.rows)) + LOADING_SECONDS * (not message.rows)
                self.deadline = monotonic() + limit
        else:
            self.so_far.answers += message
            for answer in message:
                self.so_far.sentences.pop(answer.row, None)
            self._forget_question()

    def lost(self, death: Death) -> None:
        """Resume without the answer, restart, or give up; raise ChildProcessError if no agent was being asked."""
        if death.late:
            self._blame(f"no answer within {self.move_seconds:g} seconds")
        elif death.killed:
            if self.killed:
                asked = self.question.agent if self.question is not None else "no agent was being asked"
                reason = f"{death.how}, twice: too little memory?"
                self.given_up = Unplayed(self.job.number, len(self.job), asked, reason)
            self.killed = True
            self._start_again()
        elif self.question is not None:
            self._blame(death.how)
        else:
            super().lost(death)
            self._start_again()

    def _blame(self, how: str) -> None:
        """Resume without the answer to the question; `how` describes how its process ended."""
        assert self.question is not None
        name, rows = self.question
        self.so_far.restarts += 1
        self.ended[name] += 1
        if not rows or self.ended[name] >= MOST_DEATHS:
            outside = " while the agent was loaded, asked once before the games, or informed about them"
            self.so_far.excluded[name] = how + (f", {self.ended[name]} times in a batch" if rows else outside)
        elif len(rows) > 1:
            self.so_far.alone.add(name)
        else:
            self.so_far.sentences[rows[0]] = how

    def _start_again(self) -> None:
        self.so_far = SoFar() if self.journal is None else self.journal.so_far(self.job)
        self.ended = Counter[str]()
        self._forget_question()

    def _forget_question(self) -> None:
        self.question, self.deadline = None, float("inf")


def _give_up(unplayed: Unplayed, report: Callable[[Any], None]) -> Unplayed:
    return unplayed


def _play_on_ray(job: tuple[Batch, float | None]) -> list[GameRecord] | Unplayed:
    """Play a batch in a separate process, so that an agent that ends its process does not end Ray's task."""
    [(_, games)] = _own_process().do([BatchTask(*job)])
    return games


@cache
def _own_process() -> ProcessPool:
    """Return the one-process pool that a Ray process keeps for its batches."""
    pool = ProcessPool(1)
    atexit.register(pool.__exit__)
    return pool


def _play(batch: Batch, so_far: SoFar, report: Callable[[Any], None]) -> list[GameRecord] | Unplayed:
    try:
        return batch.play(report, so_far)
    except Exception as error:  # a bug in this package: agents' errors are handled elsewhere
        raise RuntimeError(f"games from {batch.number} on: {describe_error(error)}") from None
