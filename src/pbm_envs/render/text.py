"""Scenes as text."""

from __future__ import annotations

from ..core.scene import Scene


def text(scene: Scene) -> str:
    """Draw a scene as text: the board, then the notes, then the caption."""
    canvas = Canvas()
    for glyph in scene.glyphs:
        canvas.put(glyph.row, glyph.col, glyph.text)
    notes = "\n".join(scene.notes)
    return "\n\n".join(part for part in (str(canvas), notes, scene.caption) if part)


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
        self._cells: dict[tuple[int, int], str] = {}

    def put(self, row: int, col: int, text: str) -> None:
        for k, character in enumerate(text):
            self._cells[row, col + k] = character

    def __str__(self) -> str:
        rows = [row for row, _ in self._cells]
        left = min(col for _, col in self._cells)
        right = max(col for _, col in self._cells)
        lines = (
            "".join(self._cells.get((row, col), " ") for col in range(left, right + 1)).rstrip()
            for row in range(min(rows), max(rows) + 1)
        )
        return "\n".join(lines)
