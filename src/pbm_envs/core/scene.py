"""Scenes: pictures as plain shapes, in units of one cell, y downwards. A scene knows no game, and colours only by name
(`themes`). Equal pictures are equal scenes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from numpy.typing import ArrayLike

from .types import Record

Point: TypeAlias = tuple[float, float]
Points: TypeAlias = tuple[Point, ...]
Heat: TypeAlias = Mapping[int, float]
"""A number from -1 to 1 for some actions; 1 or -1 is the greatest."""


@dataclass(frozen=True)
class Polygon:
    """A polygon, filled, outlined, or both, with round corners as wide as the outline."""

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
    """From the bottom of the line to its top: a capital is 0.7 of it."""
    fill: str
    anchor: str = "middle"
    """Which part of the text is at x: "start", "middle" or "end"."""
    bold: bool = False
    opacity: float = 1.0


Shape: TypeAlias = Polygon | Circle | Line | Label


class Seat(NamedTuple):
    """What a picture says of a player."""

    title: str
    """The role that the player has, or ""."""
    name: str
    active: bool
    """Whether it is this player's turn."""
    won: bool


@dataclass(frozen=True)
class Cell:
    """Where cell `index` of the board lies, for a user who points at it."""

    index: int
    name: str
    points: Points


@dataclass(frozen=True)
class Sample:
    """A small picture beside words: a player's piece, what a player holds, a symbol of the board and what it means."""

    shapes: tuple[Shape, ...]
    """Around (0, 0), 1 high and `width` wide."""
    text: str
    width: float = 1.0

    def scene(self) -> Scene:
        """Return the picture alone."""
        return Scene((-self.width / 2, -0.5, self.width, 1.0), self.shapes, (), (), caption=self.text)


@dataclass(frozen=True)
class Glyph:
    """Characters of the picture in text; later ones cover earlier ones."""

    row: int
    col: int
    text: str
    style: str = ""
    """A name of a colour, for terminals that have colours; "mark" is the last move."""


@dataclass(frozen=True)
class Scene:
    box: tuple[float, float, float, float]
    """Left, top, width, height: the same for every position of a game."""
    shapes: tuple[Shape, ...]
    """The board and what stands on it, in the order of painting."""
    cells: tuple[Cell, ...]
    glyphs: tuple[Glyph, ...]
    notes: tuple[str, ...] = ()
    """Lines below the picture in text."""
    caption: str = ""
    """Last line of the picture in text, and what a screen reader says."""
    coordinates: tuple[Shape, ...] = ()
    """Names of rows, columns and sides, painted over `shapes`; a picture can do without."""
    legend: tuple[Shape, ...] = ()
    """Players, scores, captures and actions without a cell, painted last; a picture can do without."""
    narrow: tuple[Glyph, ...] = ()
    """The board in fewer columns, for terminals in which `glyphs` do not fit; empty if there is no such form."""

    @property
    def painted(self) -> tuple[Shape, ...]:
        """All shapes, in the order of painting."""
        return (*self.shapes, *self.coordinates, *self.legend)


def with_names(scene: Scene, names: Sequence[str]) -> Scene:
    """Return a scene whose notes and caption call the players by their names.

    In a table, whose lines begin with a player or nine blanks, the first column becomes as wide as the names need.
    """
    width = max(5, *map(len, names)) + 1

    def call(text: str) -> str:
        return re.sub(r"player_(\d+)", lambda player: names[int(player[1])], text)

    notes = (
        f"{call(note[:9].rstrip()):{width}}{note[9:]}" if re.match(r"player_\d | {9}", note) else call(note)
        for note in scene.notes
    )
    return replace(scene, notes=tuple(notes), caption=call(scene.caption))


class Drawn(Protocol):
    """A scene to look at, as `Game.show` returns it: `pbm_envs.render.Picture`."""

    @property
    def scene(self) -> Scene: ...
    def _repr_svg_(self) -> str: ...
    def _repr_png_(self) -> bytes | None: ...
    def in_html(self) -> str: ...
    def save(self, path: str | Path) -> None: ...


class Drawing(Protocol):
    """The functions that draw scenes, which `pbm_envs.render`, above this module, sets as `GameHooks.drawing`."""

    def picture(self, scene: Scene, size: int, theme: str, *, transparent: bool) -> Drawn: ...
    def cropped(self, scene: Scene, *, legend: bool, coordinates: bool) -> Scene: ...
    def plain_scene(self, game: Any, view: Record, heat: Heat) -> Scene: ...
    def text(self, scene: Scene, *, colour: bool, width: int | None) -> str: ...
    def warmth(self, heat: ArrayLike, actions: int) -> Heat: ...
