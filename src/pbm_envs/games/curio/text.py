"""Boards of Curio as text, and the set-up as chance events whose outcomes are such texts (C2, C3, C5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...core.boards import Board, Deal, Piece
from ...core.checks import quoted
from ...core.state import NOBODY, Ints, Record
from .pieces import NO_PIECE

OWNERS = "LD"


def read_board(text: str, board: Board, base: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Return owner (cells,) and faces (cells, 2) of a board text; raise ValueError if it is invalid."""
    rows, cols = board.shape
    lines = [line.split() for line in text.strip().split("/")]
    if [len(line) for line in lines] != [cols] * rows:
        raise ValueError(
            f"board is {quoted(text)}: expected {rows} rows from the top, separated by '/', of {cols} cells, separated "
            "by blanks"
        )
    owner, faces = np.full(board.size, NOBODY, np.int8), np.zeros((board.size, 2), np.int8)
    numbers = "123456789"[:base]
    for cell, piece in enumerate(piece for line in reversed(lines) for piece in line):
        if piece == ".":
            continue
        if len(piece) != 3 or piece[0].upper() not in OWNERS or piece[1] not in numbers or piece[2] not in numbers:
            raise ValueError(
                f"board has {quoted(piece)} on {board.names[cell]}: expected '.' or owner, face towards Light, face "
                f"towards Dark, such as 'L{base}1' or 'D1{base}', with numbers from 1 to {base}"
            )
        owner[cell] = OWNERS.index(piece[0].upper())
        faces[cell] = int(piece[1]), int(piece[2])
    if not all((owner == army).any() for army in range(2)):
        raise ValueError(f"board is {quoted(text)}: expected at least one piece per side")
    return owner, faces


def board_text(state: Record, board: Board) -> str:
    """Return the text that `read_board` reads, with "?" for a face that a view hides."""
    rows, cols = board.shape
    cells = ["." if slot == NO_PIECE else _piece(state, slot) for slot in state["board"]]
    return "/".join(" ".join(cells[row * cols : (row + 1) * cols]) for row in reversed(range(rows)))


def _piece(state: Record, slot: int) -> str:
    return OWNERS[state["owner"][slot]] + "".join(str(face or "?") for face in state["faces"][slot])


def deal(board: Board, deck: Ints, face: str) -> Deal:
    """Return the deal of both armies, Light's first, under the option `face`.

    `deck` (army cells, 2) has the smaller and larger number of each piece, then (0, 0) for empty cells.
    """
    (rows, cols), count = board.shape, len(deck)
    cells = (*range(count), *range(rows * cols - count, rows * cols))
    return Deal(
        cells=cells,
        names=tuple(board.names[cell] for cell in cells),
        decks=tuple(
            tuple(orientations(owner, low, high, face) if high else (".",) for low, high in deck.tolist())
            for owner in OWNERS
        ),
        rows=tuple(tuple(range(row * cols, (row + 1) * cols)) for row in reversed(range(rows))),
        blank=" ",
    )


def orientations(owner: str, low: int, high: int, face: str) -> Piece:
    """Return the possible initial orientations of a piece (C5), as texts: owner, face towards Light, towards Dark."""
    ways = {"small": [(low, high)], "large": [(high, low)], "random": sorted({(low, high), (high, low)})}
    return tuple(f"L{own}{far}" if owner == "L" else f"D{far}{own}" for own, far in ways[face])
