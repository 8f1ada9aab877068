"""The default picture of a game: its cells as squares with the characters of its board text."""

from __future__ import annotations

from ..core.hooks import GameHooks
from ..core.scene import Cell, Glyph, Heat, Label, Polygon, Scene, Shape
from ..core.state import NO_ACTION, Record
from ..core.validation import seat, status
from .parts import player, rectangle, warm_cells, warm_lines, words

EMPTY_TEXTS = (".", "-", "_")
"""The characters for an empty cell in board texts."""


def plain_scene(game: GameHooks, view: Record, heat: Heat) -> Scene:
    """Draw a square for each cell, the first row at the top, with its character or, if empty, its name."""
    board = game.board
    rows, cols = board.shape
    middles = [(float(col), float(row)) for row, col in board.places]
    outlines = [rectangle(x - 0.5, y - 0.5, 1, 1) for x, y in middles]
    text = game._board_to_string(view)
    contents = cell_texts(text, board.size)
    columns = 1 + max(1, *map(len, contents))
    last = int(view["last_action"])
    touched = game._cells(last) if last != NO_ACTION else ()
    where = {action: game._cells(action) for action in heat}
    cell_free = {action: game.notation.write(action) for action in range(game.num_actions) if not game._cells(action)}
    unit = max(cols / 5.8, 0.5)
    shapes: list[Shape] = [Polygon(outline, "cell", "rim", 0.04) for outline in outlines]
    shapes += warm_cells(heat, where, outlines)
    for x, y in (middles[cell] for cell in touched):
        shapes.append(Polygon(rectangle(x - 0.45, y - 0.45, 0.9, 0.9), None, "mark", 0.07))
    for (x, y), content in zip(middles, contents, strict=True):
        if content:
            shapes.append(Label(x, y, content, 0.55 if len(content) < 3 else 1.4 / len(content), "ink", bold=True))
    shapes += warm_lines(heat, where, middles, pointed=True)
    legend: list[Shape] = []
    bottom = rows - 0.5 + 0.15 * unit
    width = max(cols + 0.4, 5.8 * unit)
    left = (cols - 1 - width) / 2
    for k in range(game.num_players):
        y = bottom + (k // 2 + 0.55) * unit
        legend += player(left + (0.1 + 2.8 * (k % 2)) * unit, y, unit, seat(game, view, k))
    lines = (game.num_players + 1) // 2
    legend += words((cols - 1) / 2, bottom + (lines + 0.5) * unit, unit, cell_free, heat, last)
    return Scene(
        box=(left, -0.7, width, bottom + 0.7 + (lines + bool(cell_free)) * unit + 0.1),
        shapes=tuple(shapes),
        cells=tuple(Cell(k, name, outlines[k]) for k, name in enumerate(board.names)),
        glyphs=tuple(
            Glyph(row, columns * col, content or ".", "mark" if cell in touched else "")
            for cell, (content, (row, col)) in enumerate(zip(contents, board.places, strict=True))
        ),
        notes=() if any(contents) else (text,),
        caption=status(game, view),
        coordinates=tuple(
            Label(x - 0.46, y - 0.36, name, 0.2, "muted", "start")
            for (x, y), name in zip(middles, board.names, strict=True)
        ),
        legend=tuple(legend),
    )


def cell_texts(text: str, cells: int) -> list[str]:
    """Return the part of a board text for each cell, "" for empty cells; all "" if the parts do not match the cells.

    Rows are separated by "/", cells by blanks or nothing.

    >>> cell_texts("x./.o", 4), cell_texts("Q ?/K", 3)
    (['x', '', '', 'o'], ['Q', '?', 'K'])
    """
    rows = text.split("/")
    parts = [part for row in rows for part in (row.split() if " " in text else row)]
    if len(parts) != cells:
        return [""] * cells
    return ["" if part in EMPTY_TEXTS else part for part in parts]
