"""What a game says about itself to players who read: language models, people at a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from .printable import summary

JSON: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"
NOT_FOR_PLAYERS = ("## What we decided", "## Credits")
"""Sections of a rules page that tell where the rules come from."""


@dataclass(frozen=True)
class Wording:
    """The rules of a game in a few sentences, for one set of options."""

    title: str
    summary: str
    """How the game is played and won, without the names of cells: also right when cells and words are renamed."""
    geometry: str
    """How cells are named and how they lie."""
    edges: tuple[str, ...] = ()
    """Names of the bits of `board.edges`, as `summary` calls them."""
    terms: tuple[str, ...] = ()
    """Words by which somebody could recognise the game; they are replaced where words are renamed."""
    goal: str = ""
    """What the players try to do, in one line."""
    calls: Mapping[str, str] = field(default_factory=dict)
    """What a button says for an action that names no cell, such as `swap`, by its text."""


def default_wording(kind: type, options: Mapping[str, Any]) -> Wording:
    """Return the first paragraph of a class's docstring, and its options."""
    settings = ", ".join(f"{name}={value!r}" for name, value in options.items())
    text = (summary(kind) or kind.__name__) + (f" Options: {settings}." if settings else "")
    return Wording(title=kind.__name__, summary=text, geometry="", terms=(kind.__name__,))


@cache
def rules_page(package: str) -> str | None:
    """Return `rules.md` of a package, up to the sections that are not for players; None if it has none."""
    try:
        page = resources.files(package).joinpath("rules.md").read_text(encoding="utf-8")
    except (FileNotFoundError, ModuleNotFoundError, TypeError):
        return None
    for heading in NOT_FOR_PLAYERS:
        page = page.partition(heading)[0]
    return page.strip()
