"""The cells of each game, their names and neighbours, built once per size and cached; set-ups cell by cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .checks import check_range

NO_CELL = -1
MOST_ROWS = 1000
"""The maximum number of rows of a square board; the numbers of its cells have 16 bits, and its columns are letters."""
sized = lru_cache(maxsize=None, typed=True)
"""Cache boards by their sizes; 3.0, which is not a size, is not taken for 3."""


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

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The cells by name."""
        return {name: cell for cell, name in enumerate(self.names)}

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


@sized
def square(rows: int, cols: int) -> Board:
    """Return Curio's board (C4), row 1 first. Directions k and 7 - k are opposite.

    >>> square(5, 5).names[:6]
    ('a1', 'b1', 'c1', 'd1', 'e1', 'a2')
    """
    check_range("rows", rows, 1, MOST_ROWS)
    check_range("cols", cols, 1, 26)
    cells = {(row, col): f"{ascii_lowercase[col]}{row + 1}" for row in range(rows) for col in range(cols)}
    return make_board(cells, [(1, -1), (1, 0), (1, 1), (0, -1), (0, 1), (-1, -1), (-1, 0), (-1, 1)], {})


@sized
def triangle(size: int) -> Board:
    """Return Trinim's board (T2), row by row from the top. Directions: right along a row, up a column, up along "/".

    >>> triangle(5).names[:4]
    ('E1', 'D2', 'E2', 'C3')
    """
    check_range("size", size, 1, 26)
    cells = {
        (row, col): f"{ascii_uppercase[col]}{row + 1}" for row in range(size) for col in range(size - 1 - row, size)
    }
    return make_board(cells, [(0, 1), (-1, 0), (-1, 1)], {})


TOP, BOTTOM, LEFT, RIGHT = 1, 2, 4, 8


@sized
def rhombus(size: int) -> Board:
    """Return Chameleon's Hex board (H1, H2), row by row from the top left, with edges TOP, BOTTOM, LEFT, RIGHT.

    >>> rhombus(3).names[:4]
    ('a1', 'b1', 'c1', 'a2')
    """
    check_range("size", size, 1, 26)
    cells = {(row, col): f"{ascii_lowercase[col]}{row + 1}" for row in range(size) for col in range(size)}
    last = size - 1
    edges = {
        (row, col): TOP * (row == 0) | BOTTOM * (row == last) | LEFT * (col == 0) | RIGHT * (col == last)
        for row, col in cells
    }
    return make_board(cells, [(0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1), (1, 0)], edges)


@sized
def hexagon(radius: int) -> Board:
    """Return Unlur's board (U2), row by row from the top; bit k - 1 of `edges` is side k.

    >>> hexagon(6).names[:7], hexagon(6).names[-1]
    (('a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1'), 'k11')
    """
    check_range("radius", radius, 1, 13)
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


Piece: TypeAlias = tuple[str, ...]
"""The texts of a piece on a board, one for each orientation, all equally likely."""


@dataclass(frozen=True)
class Deal:
    """The set-up of a game as a sequence of chance events: outcome k puts `texts[k]` on the next of `cells`.

    Dealing each cell with the probabilities of `outcomes` gives the same distribution of boards as `Game.init`.

    >>> from pbm_envs import Trinim
    >>> deal = Trinim(size=3, num_players=3).deal
    >>> deal.texts, deal.outcomes([0, 0])
    (('b', 'g', 'r'), [(1, 0.5), (2, 0.5)])
    >>> deal.board([0, 0, 1, 2, 1, 2])
    'b/bg/rgr'
    """

    cells: tuple[int, ...]
    """Cells of the board, in the order in which they are dealt."""
    names: tuple[str, ...]
    """Names of `cells`."""
    decks: tuple[tuple[Piece, ...], ...]
    """The decks, dealt one after the other, one piece to each cell; pieces of the last one may be left over."""
    rows: tuple[tuple[int, ...], ...]
    """The cells of each row of the board text."""
    blank: str
    """The separator between two cells of a row in the board text."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the outcomes of a chance event: everything that can be dealt to a cell."""
        return tuple(sorted({text for deck in self.decks for piece in deck for text in piece}))

    def outcomes(self, dealt: Sequence[int]) -> list[tuple[int, float]]:
        """Return the possible next outcomes after the outcomes `dealt`, with probabilities that sum to 1."""
        if len(dealt) >= len(self.cells):
            raise ValueError(f"{len(dealt)} outcomes: all {len(self.cells)} cells are dealt")
        first = 0
        for deck in self.decks:
            if len(dealt) < first + len(deck):
                break
            first += len(deck)
        piece_of = {text: piece for piece in deck for text in piece}
        left = Counter(deck) - Counter(piece_of[self.texts[outcome]] for outcome in dealt[first:])
        return sorted(
            (self.texts.index(text), count / left.total() / len(piece))
            for piece, count in left.items()
            for text in piece
        )

    def board(self, dealt: Sequence[int]) -> str:
        """Return the board text once all cells are dealt."""
        lies = dict(zip(self.cells, (self.texts[outcome] for outcome in dealt), strict=True))
        return "/".join(self.blank.join(lies.get(cell, ".") for cell in row) for row in self.rows)

    def read(self, board: str) -> tuple[int, ...]:
        """Return the outcomes that produce this board text: the inverse of `board`."""
        lies: dict[int, str] = {}
        for row, text in zip(self.rows, board.split("/"), strict=True):
            lies.update(zip(row, text.split(self.blank) if self.blank else text, strict=True))
        return tuple(self.texts.index(lies[cell]) for cell in self.cells)
