"""Boards: the cells of each game, their names and neighbours. Built once per size, cached, read-only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from string import ascii_lowercase, ascii_uppercase

import numpy as np
from numpy.typing import NDArray

NO_CELL = -1


@dataclass(frozen=True, eq=False)
class Board:
    """n cells in a grid of `shape` (rows, cols), in the order of the grid."""

    shape: tuple[int, int]
    names: tuple[str, ...]
    rows: NDArray[np.int64]
    """(n,) the row of each cell in the grid."""
    cols: NDArray[np.int64]
    """(n,) the column of each cell in the grid."""
    neighbours: NDArray[np.int16]
    """(n, directions) the next cell in each direction, or NO_CELL."""
    edges: NDArray[np.uint8]
    """(n,) bits; bit k is set if the cell lies on edge k."""

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def places(self) -> list[tuple[int, int]]:
        """The (row, col) of every cell."""
        return list(zip(self.rows.tolist(), self.cols.tolist(), strict=True))


def make_board(
    cells: dict[tuple[int, int], str], directions: list[tuple[int, int]], edges: dict[tuple[int, int], int]
) -> Board:
    """Return a board of any shape.

    Args:
        cells: The name of each cell by its (row, col) in the grid, in the order of the cells.
        directions: The offsets (rows, cols) from a cell to each of its neighbours.
        edges: The edges of a cell as bits, by its (row, col), for cells on edges.
    """
    number = {place: k for k, place in enumerate(cells)}
    neighbours = [[number.get((row + y, col + x), NO_CELL) for y, x in directions] for row, col in cells]
    rows, cols = (np.array(axis, np.int64) for axis in zip(*cells, strict=True))
    board = Board(
        shape=(int(rows.max()) + 1, int(cols.max()) + 1),
        names=tuple(cells.values()),
        rows=rows,
        cols=cols,
        neighbours=np.array(neighbours, np.int16),
        edges=np.array([edges.get(place, 0) for place in cells], np.uint8),
    )
    for array in (rows, cols, board.neighbours, board.edges):
        array.flags.writeable = False
    return board


@cache
def square(rows: int, cols: int) -> Board:
    """Return Curio's board (C4), row 1 first. Directions k and 7 - k are opposite.

    >>> square(5, 5).names[:6]
    ('a1', 'b1', 'c1', 'd1', 'e1', 'a2')
    """
    cells = {(row, col): f"{ascii_lowercase[col]}{row + 1}" for row in range(rows) for col in range(cols)}
    return make_board(cells, [(1, -1), (1, 0), (1, 1), (0, -1), (0, 1), (-1, -1), (-1, 0), (-1, 1)], {})


@cache
def triangle(size: int) -> Board:
    """Return Trinim's board (T2), row by row from the top. Directions: right along a row, up a column, up along "/".

    >>> triangle(5).names[:4]
    ('E1', 'D2', 'E2', 'C3')
    """
    cells = {
        (row, col): f"{ascii_uppercase[col]}{row + 1}" for row in range(size) for col in range(size - 1 - row, size)
    }
    return make_board(cells, [(0, 1), (-1, 0), (-1, 1)], {})


TOP, BOTTOM, LEFT, RIGHT = 1, 2, 4, 8


@cache
def rhombus(size: int) -> Board:
    """Return Chameleon's Hex board (H1, H2), row by row from the top left, with edges TOP, BOTTOM, LEFT, RIGHT.

    >>> rhombus(3).names[:4]
    ('a1', 'b1', 'c1', 'a2')
    """
    cells = {(row, col): f"{ascii_lowercase[col]}{row + 1}" for row in range(size) for col in range(size)}
    last = size - 1
    edges = {
        (row, col): TOP * (row == 0) | BOTTOM * (row == last) | LEFT * (col == 0) | RIGHT * (col == last)
        for row, col in cells
    }
    return make_board(cells, [(0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0)], edges)


@cache
def hexagon(radius: int) -> Board:
    """Return Unlur's board (U2), row by row from the top; bit k - 1 of `edges` is side k.

    >>> hexagon(6).names[:7], hexagon(6).names[-1]
    (('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1'), 'k11')
    """
    middle, last = radius - 1, 2 * radius - 2
    cells = {
        (row, col): f"{ascii_lowercase[row]}{col + 1}"
        for row in range(last + 1)
        for col in range(max(0, row - middle), min(last, row + middle) + 1)
    }
    edges = {}
    for row, col in cells:
        sides = (row == 0, col == row + middle, col == last, row == last, col == row - middle, col == 0)
        edges[row, col] = sum(side << k for k, side in enumerate(sides))
    return make_board(cells, [(0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0)], edges)
