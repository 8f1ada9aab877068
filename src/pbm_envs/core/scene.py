"""Scenes: pictures as plain shapes, in units of one cell, with y downwards. Scenes do not depend on the game, and name
their colours (`themes`). Scenes of equal pictures are equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

Point: TypeAlias = tuple[float, float]
Points: TypeAlias = tuple[Point, ...]
Heat: TypeAlias = Mapping[int, float]
"""A number from -1 to 1 for some actions; the greatest absolute value is 1."""


@dataclass(frozen=True)
class Polygon:
    """A polygon, filled, outlined, or both; corners are as round as the outline is wide."""

    points: Points
    fill: str | None = None
    line: str | None = None
    width: float = 0.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Circle:
    x: float
    y: float
    radius: float
    fill: str | None = None
    line: str | None = None
    width: float = 0.0
    opacity: float = 1.0


@dataclass(frozen=True)
class Line:
    """A line through all points, with round ends."""

    points: Points
    line: str
    width: float
    opacity: float = 1.0


@dataclass(frozen=True)
class Label:
    """One line of text; (x, y) is its middle, or the middle of its left or right end."""

    x: float
    y: float
    text: str
    size: float
    """The height of the line; a capital letter has 0.7 of it."""
    fill: str
    anchor: str = "middle"
    """The part of the text that is at x: "start", "middle" or "end"."""
    bold: bool = False
    opacity: float = 1.0


Shape: TypeAlias = Polygon | Circle | Line | Label


class Seat(NamedTuple):
    """The description of a player in a picture."""

    title: str
    """The player's role, or ""."""
    name: str
    active: bool
    """True if it is this player's turn."""
    won: bool


@dataclass(frozen=True)
class Cell:
    """The area of cell `index` of the board, for pointing at it."""

    index: int
    name: str
    points: Points


@dataclass(frozen=True)
class Sample:
    """A small picture with words: a player's piece or holdings, or a symbol of the board with its meaning."""

    shapes: tuple[Shape, ...]
    """The shapes, centred on (0, 0), 1 high and `width` wide."""
    text: str
    width: float = 1.0

    def scene(self) -> Scene:
        """Return the picture without the words."""
        return Scene((-self.width / 2, -0.5, self.width, 1.0), self.shapes, (), (), caption=self.text)


@dataclass(frozen=True)
class Glyph:
    """Characters in the text form of a picture; later ones cover earlier ones."""

    row: int
    col: int
    text: str
    style: str = ""
    """The name of a colour, for terminals with colours; "mark" marks the last move."""


@dataclass(frozen=True)
class Scene:
    box: tuple[float, float, float, float]
    """Left, top, width and height; the same for every position of a game."""
    shapes: tuple[Shape, ...]
    """The board and its pieces, in painting order."""
    cells: tuple[Cell, ...]
    glyphs: tuple[Glyph, ...]
    notes: tuple[str, ...] = ()
    """Lines below the picture in its text form."""
    caption: str = ""
    """The last line of the text form, which is also the text for screen readers."""
    coordinates: tuple[Shape, ...] = ()
    """Names of rows, columns and sides, painted over `shapes`; optional in a picture."""
    legend: tuple[Shape, ...] = ()
    """Players, scores, captures and actions without a cell, painted last; optional in a picture."""
    narrow: tuple[Glyph, ...] = ()
    """The board in fewer columns, for terminals too narrow for `glyphs`; empty if there is no such form."""

    @property
    def painted(self) -> tuple[Shape, ...]:
        """All shapes, in painting order."""
        return (*self.shapes, *self.coordinates, *self.legend)


def with_names(scene: Scene, names: Sequence[str]) -> Scene:
    """Return a scene whose notes, also tables (lines that begin with a player or nine blanks), have these names."""
    width = max(5, *map(len, names)) + 1

    def call(text: str) -> str:
        return re.sub(r"player_(\d+)", lambda player: names[int(player[1])], text)

    notes = (
        f"{call(note[:9].rstrip()):{width}}{note[9:]}" if re.match(r"player_\d | {9}", note) else call(note)
        for note in scene.notes
    )
    return replace(scene, notes=tuple(notes), caption=call(scene.caption))


class Drawn(Protocol):
    """A drawn scene, as returned by `Game.show`: `pbm_envs.render.Picture`."""

    @property
    def scene(self) -> Scene: ...
    def _repr_svg_(self) -> str: ...
    def _repr_png_(self) -> bytes | None: ...
    def in_html(self) -> str: ...
    def save(self, path: str | Path) -> None: ...
