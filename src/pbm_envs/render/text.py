"""Scenes as text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ..core.scene import Glyph, Scene

STYLES = {
    "mark": "7",
    "red": "31",
    "green": "32",
    "orange": "33",
    "blue": "34",
    "muted": "2",
}
"""ANSI escape codes of styles: colours that every terminal has, and "mark", the last move, in reverse."""


def text(scene: Scene, *, colour: bool = False, width: int | None = None) -> str:
    """Draw a scene as text: the board, then the notes, then the caption.

    Args:
        scene: What to draw.
        colour: With escape codes, for a terminal.
        width: Columns of the terminal: a board that is wider is drawn in its narrow form, if it has one.
    """
    glyphs = scene.glyphs
    if width is not None and scene.narrow and _width(glyphs) > width:
        glyphs = scene.narrow
    canvas = Canvas()
    for glyph in glyphs:
        canvas.put(glyph.row, glyph.col, glyph.text, glyph.style if colour else "")
    notes = "\n".join(scene.notes)
    return "\n\n".join(part for part in (str(canvas), notes, scene.caption) if part)


def _width(glyphs: Sequence[Glyph]) -> int:
    return max(glyph.col + len(glyph.text) for glyph in glyphs) - min(glyph.col for glyph in glyphs)


class Canvas:
    """Characters by row and column, which may be negative; later ones replace earlier ones.

    >>> canvas = Canvas()
    >>> canvas.put(0, 0, "+--+")
    >>> canvas.put(1, -2, "/")
    >>> print(canvas)
      +--+
    /
    """

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], tuple[str, str]] = {}

    def put(self, row: int, col: int, text: str, style: str = "") -> None:
        """Write a text from a cell to the right; `style` is one of `STYLES`, and others count as none."""
        for k, character in enumerate(text):
            self._cells[row, col + k] = character, STYLES.get(style, "")

    def __str__(self) -> str:
        rows = [row for row, _ in self._cells]
        left = min(col for _, col in self._cells)
        right = max(col for _, col in self._cells)
        return "\n".join(
            _line([self._cells.get((row, col), (" ", "")) for col in range(left, right + 1)])
            for row in range(min(rows), max(rows) + 1)
        )


def _line(cells: list[tuple[str, str]]) -> str:
    """Return characters, each with its escape code, as one text."""
    while cells and cells[-1][0] == " ":
        cells.pop()
    parts = [(code, "".join(character for character, _ in some)) for code, some in groupby(cells, lambda cell: cell[1])]
    return "".join(f"\033[{code}m{part}\033[0m" if code else part for code, part in parts)
