"""Boards of Curio as text: to be read by `init`, and as a picture of standing tiles."""

from __future__ import annotations

from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from ..boards import Board
from ..render.text import Canvas
from ..state import NOBODY, Record
from .rules import CAPTURED, NO_PIECE

OWNERS = "LD"


def read_board(text: str, board: Board, base: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Owner (cells,) and faces (cells, 2) of a board text, or ValueError."""
    rows, cols = board.shape
    lines = [line.split() for line in text.strip().split("/")]
    if [len(line) for line in lines] != [cols] * rows:
        raise ValueError(
            f"board is {text!r}: expected {rows} rows from the top, separated by '/', of {cols} cells, separated by "
            "blanks"
        )
    owner, faces = np.full(board.size, NOBODY, np.int8), np.zeros((board.size, 2), np.int8)
    numbers = "123456789"[:base]
    for cell, piece in enumerate(piece for line in reversed(lines) for piece in line):
        if piece == ".":
            continue
        if len(piece) != 3 or piece[0].upper() not in OWNERS or piece[1] not in numbers or piece[2] not in numbers:
            raise ValueError(
                f"board has {piece!r} on {board.names[cell]}: expected '.' or owner, face towards Light, face towards "
                f"Dark, such as 'L{base}1' or 'D1{base}', with numbers from 1 to {base}"
            )
        owner[cell] = OWNERS.index(piece[0].upper())
        faces[cell] = int(piece[1]), int(piece[2])
    if not all((owner == army).any() for army in range(2)):
        raise ValueError(f"board is {text!r}: expected at least one piece a side")
    return owner, faces


def board_text(state: Record, board: Board) -> str:
    """As `read_board` reads it, but "?" for a face that a view hides."""
    rows, cols = board.shape
    cells = ["." if slot == NO_PIECE else _piece(state, slot) for slot in state["board"]]
    return "/".join(" ".join(cells[row * cols : (row + 1) * cols]) for row in reversed(range(rows)))


def _piece(state: Record, slot: int) -> str:
    return OWNERS[state["owner"][slot]] + "".join(str(face or "?") for face in state["faces"][slot])


def draw(view: Record, board: Board) -> str:
    """Tiles standing on the board, as their viewer sees them; a full state as Light does.

    On the front of a tile is the face towards the viewer, on its top the other one, if the viewer knows it; the
    opponent's tiles are dotted. Below: the captured pieces, with the viewer's side of each first.
    """
    rows, cols = board.shape
    seen = max(0, int(view["viewer"]))
    canvas = Canvas()
    for depth in reversed(range(rows)):  # from the far side, so that nearer tiles cover farther ones
        row = depth if seen == 0 else rows - 1 - depth
        line, left = 3 * (rows - 1 - depth), 3 * depth
        for k in range(cols + 1):
            canvas.put(line + 2, left + 8 * k, "+-------"[: 8 if k < cols else 1])
            canvas.put(line + 3, left - 1 + 8 * k, "/")
            canvas.put(line + 4, left - 2 + 8 * k, "/")
            canvas.put(line + 5, left - 3 + 8 * k, "+-------"[: 8 if k < cols else 1])
        canvas.put(line + 4, left - 6, f"{row + 1:>2}")
        canvas.put(line + 4, left + 8 * cols, str(row + 1))
        for k in range(cols):
            col = k if seen == 0 else cols - 1 - k
            slot = view["board"][row * cols + col]
            if slot != NO_PIECE:
                near, far = view["faces"][slot, seen], view["faces"][slot, 1 - seen]
                fill = " " if view["owner"][slot] == seen else ":"
                x = left + 8 * k
                canvas.put(line, x + 1, f",-{far or '-'}-,")
                canvas.put(line + 1, x, "+---+|")
                canvas.put(line + 2, x, f"|{fill}{near}{fill}||")
                canvas.put(line + 3, x, f"|{fill * 3}|/")
                canvas.put(line + 4, x, "+---+")
    for k in range(cols):
        col = k if seen == 0 else cols - 1 - k
        canvas.put(3 * rows + 3, 8 * k + 1, ascii_lowercase[col])
    captured = [
        f"{('Light', 'Dark')[army]} has lost: {' '.join(pieces) or '-'}"
        for army in range(2)
        for pieces in [
            [
                f"{view['faces'][slot, seen]}{view['faces'][slot, 1 - seen] or '?'}"
                for slot in np.flatnonzero((view["owner"] == army) & (view["cell"] == CAPTURED))
            ]
        ]
    ]
    return "\n".join([str(canvas), "", *captured])
