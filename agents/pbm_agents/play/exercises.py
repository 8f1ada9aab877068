"""Lessons and puzzles on the board: positions with a task, and what is said about a person's answer."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from pbm_envs import Game, make_game
from pbm_envs.authoring import Step
from pbm_envs.registry import make_registered_game
from pbm_envs.text.puzzles import MOVE_KINDS, Puzzle, has_puzzles, load_puzzles, score

from ..arena import Opening
from .branches import branch
from .messages import move_message, position
from .session import PERSON, Session
from .start import LEVELS, Message, Start, number_of, text_of

LESSON, PUZZLES = "lesson", "puzzles"
EXERCISE_ORDERS = ("exercise", "answer", "reveal", "leave")
"""The commands of `ExerciseOrders`."""


@dataclass(frozen=True)
class Task:
    """A position, a question, and what is said about answers."""

    text: str
    start: Start
    player: int
    answers: tuple[str, ...]
    """Accepted moves, or texts."""
    asks: str
    """The form of an answer: "move", "yes or no", or "number"."""
    right: str
    wrong: str
    puzzle: Puzzle | None = None

    def accepts(self, answer: str) -> bool:
        """Return whether a move, or another text, is a right answer."""
        if self.puzzle is not None and self.asks != "move":
            return score(self.puzzle, json.dumps({"answer": answer})) == 1
        action = self.start.game.string_to_action
        return action(answer) in map(action, self.answers)


@final
class Exercise:
    """The tasks of a lesson, or the puzzles of a game, one of which is on the board."""

    def __init__(self, kind: str, game: Game, tasks: Sequence[Task]) -> None:
        """Begin with the first task."""
        self.kind, self.game, self.tasks = kind, game, tasks
        self.solved: set[int] = set()
        self.set(0)

    def set(self, number: int) -> None:
        """Put a task on the board; ValueError for a step of a lesson before the steps before it are solved."""
        if self.kind == LESSON and not self.solved.issuperset(range(number)):
            raise ValueError(f"step {number + 1} follows the steps before it: solve them first")
        self.number, self._task = number, self.tasks[number]
        self._said, self._state, self._revealed = "", "open", False
        self.session = _session(self._task.start)

    @property
    def seat(self) -> int:
        """The seat of the person."""
        return self._task.player

    def play(self, move: str) -> None:
        """Take a move as the answer, and play it if it is right; ValueError if it is illegal or not asked for."""
        if self._task.asks != "move":
            raise ValueError("this puzzle asks for an answer in words or numbers, not for a move")
        trial = _session(self._task.start)
        trial.play(move)
        if self.answer(move):
            self.session = trial

    def answer(self, text: str) -> bool:
        """Take an answer; return whether it is right. ValueError if the task is already solved."""
        if self._state == "right":
            raise ValueError("this is solved: go on to the next one")
        good = self._task.accepts(text)
        self._state, self._said = ("right", self._task.right) if good else ("wrong", self._task.wrong)
        if good:
            self.solved.add(self.number)
        return good

    def reveal(self) -> None:
        """Show the right answers."""
        self._revealed = True
        self._said = f"The solver's answer: {' or '.join(self._task.answers)}." if self.kind == PUZZLES else self._said

    def play_on(self) -> Start:
        """Return the start of a game from the position on the board; ValueError if it is over there."""
        return branch(self.session, replace(self._task.start, continued=True), self.seat, self.session.plies)

    def position(self, theme: str) -> Message:
        """Return the message with the position and the task."""
        task, open_task = self._task, self._state != "right"
        shown = position(self.session, self.seat, theme=theme)
        game, last = self.session.game, self.number + 1 == len(self.tasks)
        marked = task.answers if self._revealed and open_task and task.asks == "move" else ()
        title = "Lesson, step" if self.kind == LESSON else "Puzzle"
        shown["headline"] = f"{title} {self.number + 1} of {len(self.tasks)}"
        for seat, player in enumerate(shown["players"]):
            player["name"] = "You" if seat == self.seat else "Opponent"
        if not open_task or task.asks != "move":
            shown["legal"] = []
        exercise = {
            "kind": self.kind,
            "number": self.number,
            "count": len(self.tasks),
            "solved": len(self.solved),
            "task": task.text,
            "asks": task.asks,
            "state": self._state,
            "said": self._said,
            "answers": [move_message(game, game.string_to_action(move)) for move in marked],
            "last": last,
            "puzzles": has_puzzles(self.game.name),
            "can play on": not self.session.done and self.kind == PUZZLES and not open_task,
        }
        return shown | {"exercise": exercise}


def begin_exercise(message: Message, before: Exercise | None) -> Exercise:
    """Return the exercise that a message asks for, by game, kind and number; it may be the one `before`, further on."""
    kind, name = text_of(message, "kind"), text_of(message, "game")
    if kind not in (LESSON, PUZZLES):
        raise ValueError(f"kind is {kind!r}: expected {LESSON} or {PUZZLES}")
    if before is None or (before.kind, before.game.name) != (kind, name) or not message.get("number"):
        game = make_registered_game(name, {})  # a page names no module
        tasks = (
            [_of_step(game, k) for k in game.lesson] if kind == LESSON else [_of_puzzle(k) for k in load_puzzles(name)]
        )
        if not tasks:
            raise ValueError(f"{game.wording.title} has no {kind}")
        before = Exercise(kind, game, tasks)
    number = number_of({"number": message.get("number", 0)}, "number", len(before.tasks) - 1)
    before.set(number)
    return before


class ExerciseOrders(ABC):
    """The commands of a person with a lesson or puzzles on the board, which cover the game meanwhile."""

    _exercise: Exercise | None = None
    """None if the game is on the board."""

    @abstractmethod
    def _show(self) -> None:
        """Send the position on the board to the person."""

    def exercise(self, message: Message) -> None:
        self._exercise = begin_exercise(message, self._exercise)
        self._show()

    def answer(self, message: Message) -> None:
        self._current_exercise().answer(text_of(message, "text"))
        self._show()

    def reveal(self, _: Message) -> None:
        self._current_exercise().reveal()
        self._show()

    def leave(self, _: Message) -> None:
        self._exercise = None
        self._show()

    def _current_exercise(self) -> Exercise:
        if self._exercise is None:
            raise ValueError("there is no lesson or puzzle on the board: expected 'exercise' first")
        return self._exercise


def _session(start: Start) -> Session:
    return Session(start.game, start.players, Opening(0, start.board, start.moves), agents=False)


def _start(game: Game, player: int, board: str | None, moves: tuple[str, ...]) -> Start:
    players = tuple(PERSON if seat == player else LEVELS["Strong"] for seat in range(game.num_players))
    return Start(game, players, board=board, moves=moves)


def _of_step(game: Game, step: Step) -> Task:
    example = step.example
    start = _start(type(game)(**example.options), example.player, example.board, example.moves)
    return Task(step.task, start, example.player, step.moves, "move", step.right, step.wrong)


def _of_puzzle(puzzle: Puzzle) -> Task:
    start = _start(make_game(puzzle.game, **puzzle.options), puzzle.player, puzzle.board, puzzle.moves)
    asks = "move" if puzzle.kind in MOVE_KINDS else "yes or no" if puzzle.kind == "contract" else "number"
    many = len(puzzle.answers) > 1
    right = f"Right. The solver finds {len(puzzle.answers)} such moves." if many else "Right, says the solver."
    wrong = "No, says the solver. Try again, or let it show the answer."
    text = puzzle.task.replace("`", '"')
    return Task(text, start, puzzle.player, puzzle.answers, asks, right, wrong, puzzle)
