"""What a game says to players: its wording for those who read, and rules, lessons and sentences for beginners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from .checks import summary

JSON: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"
NOT_FOR_PLAYERS = ("## What we decided", "## Credits")
"""Sections of a rules page about the origin of the rules."""


@dataclass(frozen=True)
class Wording:
    """The rules of a game in a few sentences, for one set of options."""

    title: str
    summary: str
    """A description of play and goal without names of cells, so that it stays correct under renaming."""
    geometry: str
    """The names of the cells and their arrangement."""
    edges: tuple[str, ...] = ()
    """The names of the bits of `board.edges`, as used in `summary`."""
    terms: tuple[str, ...] = ()
    """Words that identify the game; they are replaced where words are renamed."""
    goal: str = ""
    """The players' goal, in one line."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """The button labels of actions that name no cell, such as `swap`, by the text of the action."""


def default_wording(kind: type, options: Mapping[str, Any]) -> Wording:
    """Return a wording made from the first paragraph of a class's docstring, and its options."""
    settings = ", ".join(f"{name}={value!r}" for name, value in options.items())
    text = (summary(kind) or kind.__name__) + (f" Options: {settings}." if settings else "")
    return Wording(title=kind.__name__, summary=text, geometry="", terms=(kind.__name__,))


@cache
def rules_page(package: str) -> str | None:
    """Return `rules.md` of a package, up to the sections that are not for players; None if it does not exist."""
    try:
        page = resources.files(package).joinpath("rules.md").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError, TypeError):
        return None
    for heading in NOT_FOR_PLAYERS:
        page = page.partition(heading)[0]
    return page.strip()


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
