"""Puzzles with exact answers, as JSON Lines: a graded set for each game.

| kind | what is asked | answer |
|---|---|---|
| `win` | a move after which the player wins within `number` own moves, whatever the opponent does | any such move |
| `only-move` | the only move after which the opponent cannot win at once | that move |
| `contract` | whether `swap` (Chameleon) or `black` (Unlur) wins now, with best play | yes or no |
| `count` | how many set-ups are consistent with all that the player knows (Curio) | an integer |
| `probability` | how likely a piece hides a number, all these set-ups being equally likely | a fraction |

Each line names a position by its game, options, board and moves. `benchmarks/puzzles.py` makes the sets and measures
random answers and searches on them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from importlib import resources
from typing import Any

from ...core.printable import quoted
from ...foreign import SCALAR, check_fields, parse_object, registered_game
from ..dialogue import TextGame
from ..prompts import FULL, PromptStyle
from ..reading import Kind, last_json

KINDS = ("win", "only-move", "contract", "count", "probability")
MOVE_KINDS = ("win", "only-move")
NUMBER_KINDS = ("count", "probability")
FIELDS = {
    "id": str,
    "kind": str,
    "game": str,
    "options": {str: SCALAR},
    "board": (str, type(None)),
    "moves": [str],
    "player": int,
    "number": int,
    "cell": str,
    "answers": [str],
}
"""JSON's types of the fields of a puzzle."""
NUMBER = re.compile(r"-?[0-9]{1,30}(/[0-9]{1,30}|\.[0-9]{0,30})?|\.[0-9]{1,30}")
"""A number as an answer may have it; longer ones, and powers of ten, would fill the memory."""
TOLERANCE = Fraction(1, 200)
"""By which a probability given as a decimal may differ."""
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
    """From the board on."""
    player: int
    """Who is asked: the player to move."""
    number: int = 0
    """Of moves in `win`; of the other side in `probability`."""
    cell: str = ""
    """Of the piece in `probability`."""
    answers: tuple[str, ...]
    """All that are right."""

    def to_json(self) -> str:
        """One line, without its end."""
        fields = {name: value for name, value in vars(self).items() if value not in (0, "") or name == "player"}
        return json.dumps(fields)

    @classmethod
    def from_json(cls, line: str) -> Puzzle:
        """Return the puzzle in a line; ValueError if there is none."""
        given = {"number": 0, "cell": "", **parse_object(line, "a puzzle")}
        check_fields(given, FIELDS, "a puzzle")
        if given["kind"] not in KINDS:
            raise ValueError(f"kind is {given['kind'][:60]!r}: expected one of {', '.join(KINDS)}")
        if not given["answers"] or (given["kind"] in NUMBER_KINDS and not NUMBER.fullmatch(given["answers"][0])):
            raise ValueError(f"answers are {quoted(given['answers'])}: expected some, a number in {given['kind']!r}")
        return cls(**given | {"moves": tuple(given["moves"]), "answers": tuple(given["answers"])})

    @property
    def question(self) -> str:
        """What is asked, and what an answer must look like."""
        asked = {
            "win": "Find a move after which you win, whatever the opponent does, with "
            + (
                "one move of your own, this one."
                if self.number == 1
                else f"at most {self.number} moves of your own, this one included."
            ),
            "only-move": "Find the only move after which the opponent cannot win with the very next move.",
            "contract": f"With best play by both from here on, do you win if you say `{self.cell}` now?",
            "count": "How many different set-ups (which piece stands or stood where, and how it lies) are consistent "
            "with everything that you know?",
            "probability": f"All set-ups that are consistent with everything that you know are equally likely. How "
            f"likely does the piece on {self.cell} have the number {self.number} on the side that you do not see?",
        }[self.kind]
        form = {"contract": '"yes" or "no"', "count": "an integer", "probability": 'a fraction such as "3/7"'}
        if self.kind in MOVE_KINDS:
            return f'{asked} End your answer with {{"move": "..."}}'
        return f'{asked} End your answer with {{"{ANSWER}": ...}}, {form[self.kind]}.'

    def table(self, style: PromptStyle = FULL, disguise: int | None = None) -> TextGame:
        """The game at the position."""
        table = TextGame(registered_game(self.game, self.options), style, attempts=1, disguise=disguise)
        table.reset(options={"board": self.board, "moves": self.moves})
        return table

    def prompt(self, style: PromptStyle = FULL) -> tuple[str, str]:
        """What the system and the user say: the rules; the position as the player sees it, and the question."""
        table = self.table(style)
        position = table.prompt().rpartition("\n\n")[0]  # without the question for a move
        return table.system_prompt().partition("\n\nAnswers. ")[0], f"{position}\n\n{self.question}"


def load_puzzles(game: str) -> list[Puzzle]:
    """The set of a game.

    Args:
        game: "chameleon", "curio", "trinim" or "unlur".

    Raises:
        ValueError: If there is no set for it.
    """
    file = resources.files(__package__).joinpath(f"{game}.jsonl")
    if not file.is_file():
        raise ValueError(f"there are no puzzles for {game!r}")
    return [Puzzle.from_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def score(puzzle: Puzzle, answer: str) -> float:
    """1 if an answer is right, else 0.

    Args:
        puzzle: What was asked.
        answer: Whatever was said; only its last JSON object counts, or a move in brackets.
    """
    if puzzle.kind in MOVE_KINDS:
        table = puzzle.table()
        reading = table.read(answer)
        return float(reading.kind is Kind.MOVE and table.game.action_to_string(reading.action) in puzzle.answers)
    try:
        said = str(last_json(answer, ANSWER)).strip().lower()
        if puzzle.kind == "contract":
            return float(said in puzzle.answers)
        said = said[:100].replace(" ", "")
        right, number = Fraction(puzzle.answers[0]), Fraction(said if NUMBER.fullmatch(said) else "none")
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return 0.0
    near = puzzle.kind == "probability" and "/" not in said and abs(number - right) <= TOLERANCE
    return float(number == right or near)


def mean_scores(puzzles: Iterable[Puzzle], answers: Iterable[str]) -> dict[str, float]:
    """The mean score of each kind, and of `all`.

    Args:
        puzzles: What was asked.
        answers: One for each.
    """
    scores: dict[str, list[float]] = {}
    for puzzle, answer in zip(puzzles, answers, strict=True):
        worth = score(puzzle, answer)
        for name in (puzzle.kind, "all"):
            scores.setdefault(name, []).append(worth)
    return {name: sum(values) / len(values) for name, values in scores.items()}
