"""Scenes as text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from ..core.scene import Glyph, Scene

STYLES = {"mark": "7", "red": "31", "green": "32", "orange": "33", "blue": "34", "muted": "2"}
"""ANSI escape codes: colours that every terminal has, and "mark", the last move, in reverse."""


def text(scene: Scene, *, colour: bool = False, width: int | None = None) -> str:
    """Draw a scene as text: the board, then the notes, then the caption.

    Args:
        scene: The scene to draw.
        colour: Whether to write escape codes for a terminal.
        width: Columns of the terminal; a wider board is drawn in its narrow form, if it has one.
    """
    glyphs = scene.glyphs
    if width is not None and scene.narrow and _width(glyphs) > width:
        glyphs = scene.narrow
    notes = "\n".join(scene.notes)
    return "\n\n".join(part for part in (_board(glyphs, colour), notes, scene.caption) if part)


def _width(glyphs: Sequence[Glyph]) -> int:
    return max(glyph.col + len(glyph.text) for glyph in glyphs) - min(glyph.col for glyph in glyphs)


def _board(glyphs: Sequence[Glyph], colour: bool) -> str:
    """Return the lines of a board. Later glyphs replace earlier ones; rows and columns may be negative.

    >>> print(_board([Glyph(0, 0, "+--+"), Glyph(1, -2, "/")], colour=False))
      +--+
    /
    """
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    for glyph in glyphs:
        code = STYLES.get(glyph.style, "") if colour else ""
        cells |= {(glyph.row, glyph.col + k): (character, code) for k, character in enumerate(glyph.text)}
    rows, cols = zip(*cells, strict=True)
    return "\n".join(
        _line([cells.get((row, col), (" ", "")) for col in range(min(cols), max(cols) + 1)])
        for row in range(min(rows), max(rows) + 1)
    )


def _line(cells: list[tuple[str, str]]) -> str:
    """Join characters, each given with its escape code."""
    while cells and cells[-1][0] == " ":
        cells.pop()
    parts = [(code, "".join(character for character, _ in some)) for code, some in groupby(cells, lambda cell: cell[1])]
    return "".join(f"\033[{code}m{part}\033[0m" if code else part for code, part in parts)
