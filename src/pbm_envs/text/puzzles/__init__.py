"""Puzzles with exact answers, as JSON Lines: a graded set for each game.

| kind | question | answer |
|---|---|---|
| `win` | a move that wins within `number` moves of the player, whatever the opponent does | any such move |
| `only-move` | the only move after which the opponent cannot win at once | that move |
| `contract` | whether `swap` (Chameleon) or `black` (Unlur) wins now, with best play | yes or no |
| `count` | the number of set-ups that are consistent with the player's knowledge (Curio) | an integer |
| `probability` | the probability that a piece hides a number, if these set-ups are equally likely | a fraction |

Each line gives a position by its game, options, board and moves. `benchmarks/puzzles.py` makes the sets and evaluates
random answers and searches on them.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import Any

from ...core.checks import quoted
from ...foreign import check_fields, json_kinds, parse_object, registered_game
from ..dialogue import TextGame
from ..prompts import FULL, PromptStyle
from ..reading import Kind, last_json

FILES = resources.files(__package__)

KINDS = ("win", "only-move", "contract", "count", "probability")
MOVE_KINDS = ("win", "only-move")
NUMBER_KINDS = ("count", "probability")
NUMBER = re.compile(r"-?[0-9]{1,30}(/[0-9]{1,30}|\.[0-9]{0,30})?|\.[0-9]{1,30}")
"""The pattern of a number in an answer. Longer numbers and exponents are excluded, as they could exhaust memory."""
TOLERANCE = Fraction(1, 200)
"""Tolerance for a probability given as a decimal."""
ANSWER = "answer"


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """A position, a question and its answers."""

    id: str
    kind: str
    game: str
    options: dict[str, Any]
    board: str | None
    moves: tuple[str, ...]
    """Moves played from the board."""
    player: int
    """The player to move, who answers the question."""
    number: int = 0
    """The number of moves in `win`; the number on the other side in `probability`."""
    cell: str = ""
    """The cell of the piece in `probability`."""
    answers: tuple[str, ...]
    """All correct answers."""

    def to_json(self) -> str:
        """Return the puzzle as one line, without a newline."""
        fields = {name: value for name, value in vars(self).items() if value not in (0, "") or name == "player"}
        return json.dumps(fields)

    @classmethod
    def from_json(cls, line: str) -> Puzzle:
        """Return the puzzle in a line; ValueError if it is invalid."""
        given = {"number": 0, "cell": "", **parse_object(line, "a puzzle")}
        check_fields(given, FIELDS, "a puzzle")
        if given["kind"] not in KINDS:
            raise ValueError(f"kind is {given['kind'][:60]!r}: expected one of {', '.join(KINDS)}")
        if not given["answers"] or (given["kind"] in NUMBER_KINDS and not NUMBER.fullmatch(given["answers"][0])):
            raise ValueError(f"answers are {quoted(given['answers'])}: expected some, a number in {given['kind']!r}")
        return cls(**given | {"moves": tuple(given["moves"]), "answers": tuple(given["answers"])})

    @property
    def task(self) -> str:
        """The question, for people and for programs."""
        within = f"at most {self.number} moves of your own, this one included"
        within = "one move of your own, this one" if self.number == 1 else within
        return {
            "win": f"Find a move after which you win, whatever the opponent does, with {within}.",
            "only-move": "Find the only move after which the opponent cannot win with the very next move.",
            "contract": f"With best play by both from here on, do you win if you say `{self.cell}` now?",
            "count": "How many different set-ups (which piece stands or stood where, and how it lies) are consistent "
            "with everything that you know?",
            "probability": f"All set-ups that are consistent with everything that you know are equally likely. How "
            f"likely does the piece on {self.cell} have the number {self.number} on the side that you do not see?",
        }[self.kind]

    @property
    def question(self) -> str:
        """The question, with the form of an answer."""
        form = {"contract": '"yes" or "no"', "count": "an integer", "probability": 'a fraction such as "3/7"'}
        if self.kind in MOVE_KINDS:
            return f'{self.task} End your answer with {{"move": "..."}}'
        return f'{self.task} End your answer with {{"{ANSWER}": ...}}, {form[self.kind]}.'

    def table(self, style: PromptStyle = FULL, disguise: int | None = None) -> TextGame:
        """Return the game at the position."""
        table = TextGame(registered_game(self.game, self.options), style, attempts=1, disguise=disguise)
        table.reset(options={"board": self.board, "moves": self.moves})
        return table

    def prompt(self, style: PromptStyle = FULL) -> tuple[str, str]:
        """Return the system prompt, with the rules, and the user prompt, with the player's view and the question."""
        table = self.table(style)
        position = table.prompt().rpartition("\n\n")[0]  # without the question for a move
        return table.system_prompt().partition("\n\nAnswers. ")[0], f"{position}\n\n{self.question}"


FIELDS = json_kinds(Puzzle)


def has_puzzles(game: str) -> bool:
    """Return whether there are puzzles of a game."""
    return isinstance(game, str) and FILES.joinpath(f"{game}.jsonl").is_file()


def load_puzzles(game: str) -> list[Puzzle]:
    """Return the puzzles of a game; ValueError if it has none."""
    if not has_puzzles(game):
        names = ", ".join(sorted(file.name[:-6] for file in FILES.iterdir() if file.name.endswith(".jsonl")))
        raise ValueError(f"there are no puzzles for {quoted(game)}: expected one of {names}")
    file = FILES.joinpath(f"{game}.jsonl")
    return [Puzzle.from_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def score(puzzle: Puzzle, answer: str) -> float:
    """Return 1 for a correct answer and 0 otherwise; only its last JSON object or a move in brackets counts.

    An answer that is not text, such as None, is not correct.
    """
    if puzzle.kind in MOVE_KINDS:
        table = puzzle.table()
        reading = table.read(answer)
        return float(reading.kind is Kind.MOVE and table.game.action_to_string(reading.action) in puzzle.answers)
    try:
        said = str(last_json(answer if isinstance(answer, str) else "", ANSWER)).strip().lower()
        if puzzle.kind == "contract":
            return float(said in puzzle.answers)
        said = said[:100].replace(" ", "")
        right, number = Fraction(puzzle.answers[0]), Fraction(said if NUMBER.fullmatch(said) else "none")
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return 0.0
    near = puzzle.kind == "probability" and "/" not in said and abs(number - right) <= TOLERANCE
    return float(number == right or near)


def mean_scores(puzzles: Iterable[Puzzle], answers: Iterable[str]) -> dict[str, float]:
    """Return the mean score of each kind, and of `all`, given one answer per puzzle."""
    scores = defaultdict[str, list[float]](list)
    for puzzle, answer in zip(puzzles, answers, strict=True):
        value = score(puzzle, answer)
        scores[puzzle.kind].append(value)
        scores["all"].append(value)
    return {name: sum(values) / len(values) for name, values in scores.items()}
