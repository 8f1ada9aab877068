"""What agents use while games are played: `answers.jsonl` keeps every answer that cost something.

A batch that a fault, a budget or a signal has ended is played again from its start, and gives the same games. If its
answers cost something (`UsesResources`), it resumes from them instead, so that nothing is paid for twice.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, final

from pbm_envs.foreign import check_fields, parse_object
from pbm_envs.records import MOST, GameRecord
from pbm_envs.toolbox import quoted

from ..common.faults import BudgetSpentError
from .match import Answer, Question, Report, SoFar
from .schedule import Batch

ANSWERS = "answers.jsonl"
LINE = {"batch": int, "answers": [list]}
"""JSON's types of the fields of a line. An answer is the list of the fields of `Answer`."""
NUMBER = (int, float)
KINDS: tuple[Any, ...] = (int, int, (int, str, type(None)), NUMBER, dict)


@final
class Journal:
    """Answers of the batches that are not done, and what has been used in the folder so far."""

    def __init__(self, folder: Path, max_requests: int | None = None, max_cost: float | None = None) -> None:
        """Read what earlier runs have left.

        Args:
            folder: Holds `answers.jsonl` once an answer has cost something.
            max_requests: Requests after which no agent is asked any more, over all runs.
            max_cost: Cost after which no agent is asked any more, in the currency of the agents' prices.

        Raises:
            ValueError: A line of the file is not a journal's.
        """
        self._path, self._limits = folder / ANSWERS, {"requests": max_requests, "cost": max_cost}
        self._answers: dict[int, list[Answer]] = defaultdict(list)
        self._used: dict[int, Counter[str]] = defaultdict(Counter)
        if self._path.exists():
            lines = [line for line in self._path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
            for line in lines:
                self._hear(*_read(line, self._path))
            with open(self._path, "r+b") as file:
                file.truncate(sum(map(len, lines)))  # half a line of a killed process
        self._written = {number: len(answers) for number, answers in self._answers.items()}

    def so_far(self, batch: Batch) -> SoFar:
        """Return from where a batch is played: from its answers if they cost something, else from its start."""
        answers = self._answers[batch.number]
        if any(answer.row >= len(batch) for answer in answers):
            raise ValueError(f"{self._path} has answers in batch {batch.number} for more games than it has")
        if not self._used.get(batch.number):
            answers = self._answers[batch.number] = []
        return SoFar(list(answers), restarts=len(answers))

    def check(self) -> None:
        """Raise BudgetSpentError if agents have used as much as they may."""
        used = _sum(self._used.values())
        limits = {name: limit for name, limit in self._limits.items() if limit is not None}
        if any(used[name] >= limit for name, limit in limits.items()):
            spent = ", ".join(f"{name} {used[name]:g} of {limit:g}" for name, limit in limits.items())
            raise BudgetSpentError(
                f"the budget is used up ({spent}), and games are unplayed: the same command with a larger budget plays "
                "them"
            )

    def reporter(self, batch: Batch) -> Report:
        """Return what takes questions and answers of a batch, and keeps answers once the batch has cost something."""

        def report(message: Question | Sequence[Answer]) -> None:
            if isinstance(message, Question):
                self.check()
                return
            self._hear(batch.number, message)
            if self._used.get(batch.number):
                new = self._answers[batch.number][self._written.get(batch.number, 0) :]
                line = json.dumps({"batch": batch.number, "answers": new}, ensure_ascii=False)
                with open(self._path, "ab", buffering=0) as file:
                    file.write(line.encode() + b"\n")
                self._written[batch.number] = len(self._answers[batch.number])

        return report

    def done(self, games: Sequence[GameRecord]) -> None:
        """Take the records of a batch, which say what it has used."""
        self._answers.pop(games[0].number, None)
        self._used.pop(games[0].number, None)
        if used := _sum(usage for record in games for usage in record.usage):
            self._used[games[0].number] = used

    def finish(self) -> None:
        """Remove the file: all games have been played."""
        self._path.unlink(missing_ok=True)

    def _hear(self, number: int, answers: Sequence[Answer]) -> None:
        self._answers[number] += answers
        if used := _sum(answer.usage for answer in answers):
            self._used[number].update(used)


def _sum(usages: Iterable[Mapping[str, float]]) -> Counter[str]:
    total = Counter[str]()
    for usage in usages:
        total.update(usage)
    return total


def _read(line: bytes, path: Path) -> tuple[int, list[Answer]]:
    """Return the number of a batch and the answers of a line; ValueError if it holds anything else."""
    given = parse_object(line, f"a line of {path}")
    check_fields(given, LINE, f"a line of {path}")
    for fields in given["answers"]:
        fitting = len(fields) == len(KINDS) and all(isinstance(*pair) for pair in zip(fields, KINDS, strict=True))
        amounts = fields[4].values() if fitting else ()
        if not fitting or fields[0] < 0 or not all(isinstance(it, NUMBER) and 0 <= it <= MOST for it in amounts):
            raise ValueError(f"{path} holds {quoted(fields)}: expected a row, a seat, an answer, seconds and usage")
    return given["batch"], [Answer(*fields) for fields in given["answers"]]
