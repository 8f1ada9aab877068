"""Texts of a game for players: language models, people at a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from .printable import summary

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
