"""What a game says to beginners, as data: rules with pictures, a lesson on the board, sentences about cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Example:
    """A position, given by the moves that lead to it, as a player sees it."""

    moves: tuple[str, ...] = ()
    board: str | None = None
    """The board text from which the moves are played; None for the usual start."""
    player: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the position, usually those of a small board."""


@dataclass(frozen=True)
class Rule:
    """A rule in one or two sentences for players, with a picture beside it."""

    text: str
    example: Example


@dataclass(frozen=True)
class Step:
    """A step of a lesson: a position, what to do there, and what is said about it."""

    task: str
    example: Example
    """The position, in which `example.player` is to move."""
    moves: tuple[str, ...]
    """The moves that are accepted."""
    right: str
    """The sentence after an accepted move."""
    wrong: str
    """The sentence after any other legal move; the position stays."""


@dataclass(frozen=True)
class Explanation:
    """What a player is told about a cell: a sentence, and the cells that it is about."""

    text: str = ""
    cells: tuple[int, ...] = ()
