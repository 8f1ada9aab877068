"""What agents use while a tournament is played: `answers.jsonl` keeps every answer that cost something.

A batch that a fault, a budget or a signal has ended is played again from its start, and gives the same games; but if
its answers cost something (`UsesResources`), it goes on from them, so that nothing is paid for twice.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, final

from pbm_envs.foreign import check_fields, parse_object
from pbm_envs.records import MOST, GameRecord
from pbm_envs.toolbox import quoted

from ..common.faults import BudgetSpentError
from .match import Answer, SoFar
from .schedule import Batch

ANSWERS = "answers.jsonl"
LINE = {"batch": int, "answers": [list]}
"""JSON's types of the fields of a line. An answer is the list of the fields of `Answer`."""
NUMBER = (int, float)
KINDS: tuple[Any, ...] = (int, int, (int, str, type(None)), NUMBER, (dict, type(None)))


@dataclass(frozen=True)
class Budget:
    """What agents may use in a folder, over all runs. It is checked before each question, so the last may exceed it."""

    requests: int | None = None
    cost: float | None = None
    """In the currency of the agents' prices."""


@final
class Journal:
    """Answers of the batches that are not done, and what has been used in the folder so far."""

    def __init__(
        self, folder: Path, budget: Budget, missing: Sequence[Batch] = (), records: Sequence[GameRecord] = ()
    ) -> None:
        """Read what earlier runs have left.

        Args:
            folder: Holds `answers.jsonl` once an answer has cost something.
            budget: When to stop.
            missing: The batches that are to be played.
            records: Games that have been played.

        Raises:
            ValueError: A line of the file is none of a journal.
        """
        self._path, self._budget = folder / ANSWERS, budget
        self._answers: dict[int, list[Answer]] = {batch.number: [] for batch in missing}
        self._used = {-1: _sum(usage for record in records for usage in record.usage)}
        if self._path.exists():
            sizes = {batch.number: len(batch) for batch in missing}
            lines = [line for line in BytesIO(self._path.read_bytes()).readlines() if line.endswith(b"\n")]
            for line in lines:
                number, answers = _read(line, sizes, self._path)
                if number in self._answers:
                    self._hear(number, answers)
            with open(self._path, "r+b") as file:
                file.truncate(sum(map(len, lines)))  # half a line of a killed process
        self._written = {number: len(answers) for number, answers in self._answers.items()}

    def so_far(self, batch: Batch) -> SoFar:
        """Return from where a batch is played: from its answers if they cost something, else from its start."""
        if not self._used.get(batch.number):
            self._answers[batch.number] = []
        answers = list(self._answers[batch.number])
        return SoFar(answers, restarts=len(answers))

    def check(self) -> None:
        """Raise BudgetSpentError if agents have used as much as they may."""
        used = _sum(self._used.values())
        limits = {"requests": self._budget.requests, "cost": self._budget.cost}
        over = [f"{name} {used[name]:g} of {limit:g}" for name, limit in limits.items() if limit is not None]
        if any(limit is not None and used[name] >= limit for name, limit in limits.items()):
            raise BudgetSpentError(
                f"the budget is used up ({', '.join(over)}), and games are unplayed: the same command with a larger "
                "budget plays them"
            )

    def hear(self, batch: Batch, answers: Sequence[Answer]) -> None:
        """Take answers in a batch, and keep them if it has cost something."""
        self._hear(batch.number, answers)
        if self._used.get(batch.number):
            new = self._answers[batch.number][self._written.get(batch.number, 0) :]
            line = json.dumps({"batch": batch.number, "answers": new}, ensure_ascii=False)
            with open(self._path, "ab", buffering=0) as file:
                file.write(line.encode() + b"\n")
            self._written[batch.number] = len(self._answers[batch.number])

    def done(self, games: Sequence[GameRecord]) -> None:
        """Take the records of a batch, which hold what it has used."""
        number = games[0].number
        self._used[number] = _sum(usage for record in games for usage in record.usage)
        self._answers.pop(number, None)

    def finish(self) -> None:
        """Remove the file: all games have been played."""
        self._path.unlink(missing_ok=True)

    def _hear(self, number: int, answers: Sequence[Answer]) -> None:
        self._answers[number] += answers
        if used := _sum(answer.usage or {} for answer in answers):
            self._used.setdefault(number, Counter()).update(used)


@final
class Journalist:
    """The reporter of a batch that is played in this process."""

    def __init__(self, journal: Journal, batch: Batch) -> None:
        self._journal, self._batch = journal, batch

    def asks(self, agent: str, rows: Sequence[int]) -> None:
        self._journal.check()

    def answers(self, answers: Sequence[Answer]) -> None:
        self._journal.hear(self._batch, answers)


def _sum(usages: Any) -> Counter[str]:
    total = Counter[str]()
    for usage in usages:
        total.update(usage)
    return total


def _read(line: bytes, sizes: Mapping[int, int], path: Path) -> tuple[int, list[Answer]]:
    """Return the number of a batch and the answers of a line; ValueError if it holds anything else."""
    given = parse_object(line, f"a line of {path}")
    check_fields(given, LINE, f"a line of {path}")
    answers: list[Answer] = []
    for fields in given["answers"]:
        fitting = len(fields) == len(KINDS) and all(isinstance(*pair) for pair in zip(fields, KINDS, strict=False))
        if not fitting or not 0 <= fields[0] < sizes.get(given["batch"], MOST) or not _are_amounts(fields[4] or {}):
            raise ValueError(f"{path} holds {quoted(fields)}: expected a row, a seat, an answer, seconds and usage")
        answers.append(Answer(*fields))
    return given["batch"], answers


def _are_amounts(usage: Mapping[str, Any]) -> bool:
    return all(isinstance(amount, NUMBER) and 0 <= amount <= MOST for amount in usage.values())
