"""Curio's set-up as chance events (C2, C3, C5)."""

from __future__ import annotations

from ...core.boards import Board
from ...core.deals import Deal, Piece
from ...core.types import Ints
from .text import OWNERS


def deal(board: Board, deck: Ints, face: str) -> Deal:
    """The deal of both armies, Light's first.

    Args:
        board: The board.
        deck: (army cells, 2) smaller and larger number of each piece, then (0, 0) for empty cells.
        face: "large", "small" or "random".
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
    """How a piece can lie at the start (C5), as board texts have it: owner, face towards Light, face towards Dark."""
    own_low = f"{owner}{low}{high}" if owner == OWNERS[0] else f"{owner}{high}{low}"
    own_high = f"{owner}{high}{low}" if owner == OWNERS[0] else f"{owner}{low}{high}"
    if face == "random" and low != high:
        return own_low, own_high
    return (own_high,) if face == "large" else (own_low,)
