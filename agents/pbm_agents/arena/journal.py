"""Resources used by agents during games: `answers.jsonl` keeps every answer that had a cost.

A batch interrupted by a fault, a budget or a signal is played again from its start and gives the same games. If its
answers had a cost (`UsesResources`), it resumes from them instead, so that nothing is paid for twice.
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

from ..common.faults import UNLIMITED, Budget
from .match import Answer, Question, Report, SoFar
from .schedule import Batch

ANSWERS = "answers.jsonl"
LINE = {"batch": int, "answers": [list]}
"""JSON types of the fields of a line. An answer is the list of the fields of `Answer`."""
NUMBER = (int, float)
KINDS: tuple[Any, ...] = (int, int, (int, str, type(None)), NUMBER, dict)


@final
class Journal:
    """The answers of unfinished batches, and the resources used in the folder so far."""

    def __init__(self, folder: Path, budget: Budget = UNLIMITED) -> None:
        """Read the journal of earlier runs.

        Args:
            folder: The folder, which holds `answers.jsonl` once an answer has had a cost.
            budget: Limits over all runs, after which no agent is asked.

        Raises:
            ValueError: A line of the file is not a valid journal entry.
        """
        self._path, self._budget = folder / ANSWERS, budget
        self._answers: dict[int, list[Answer]] = defaultdict(list)
        self._used: dict[int, Counter[str]] = defaultdict(Counter)
        if self._path.exists():
            lines = [line for line in self._path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
            for line in lines:
                self._hear(*_read(line, self._path))
            with open(self._path, "r+b") as file:
                file.truncate(sum(map(len, lines)))  # drops a partial line of a killed process
        self._written = {number: len(answers) for number, answers in self._answers.items()}

    def so_far(self, batch: Batch) -> SoFar:
        """Return the point where a batch resumes: after its answers if they had a cost, else its start."""
        answers = self._answers[batch.number]
        if any(answer.row >= len(batch) for answer in answers):
            raise ValueError(f"{self._path} has answers in batch {batch.number} for more games than it has")
        if not self._used.get(batch.number):
            answers = self._answers[batch.number] = []
        return SoFar(list(answers), restarts=len(answers))

    def check(self) -> None:
        """Raise BudgetSpentError if the budget is used up."""
        self._budget.check(total(self._used.values()), "the same command with a larger budget plays them")

    def reporter(self, batch: Batch) -> Report:
        """Return a callback for a batch's questions and answers, which keeps answers once one has had a cost."""

        def report(message: Question | Sequence[Answer]) -> None:
            if isinstance(message, Question):
                if message.rows:
                    self.check()
                return
            if not message:
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
        """Count the resources used by a finished batch, from its records."""
        self._answers.pop(games[0].number, None)
        self._used.pop(games[0].number, None)
        if used := total(usage for record in games for usage in record.usage):
            self._used[games[0].number] = used

    def finish(self) -> None:
        """Remove the file, once all games have been played."""
        self._path.unlink(missing_ok=True)

    def _hear(self, number: int, answers: Sequence[Answer]) -> None:
        self._answers[number] += answers
        if used := total(answer.usage for answer in answers):
            self._used[number].update(used)


def total(usages: Iterable[Mapping[str, float]]) -> Counter[str]:
    """Return the sums of the resources by name."""
    used = Counter[str]()
    for usage in usages:
        used.update(usage)
    return used


def _read(line: bytes, path: Path) -> tuple[int, list[Answer]]:
    """Return the batch number and the answers in a line; ValueError if it holds anything else."""
    given = parse_object(line, f"a line of {path}")
    check_fields(given, LINE, f"a line of {path}")
    for fields in given["answers"]:
        fitting = len(fields) == len(KINDS) and all(isinstance(*pair) for pair in zip(fields, KINDS, strict=True))
        amounts = fields[4].values() if fitting else ()
        if not fitting or fields[0] < 0 or not all(isinstance(it, NUMBER) and 0 <= it <= MOST for it in amounts):
            raise ValueError(f"{path} holds {quoted(fields)}: expected a row, a seat, an answer, seconds and usage")
    return given["batch"], [Answer(*fields) for fields in given["answers"]]
