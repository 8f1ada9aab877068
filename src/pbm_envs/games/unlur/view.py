"""The observation planes of Unlur, in which players see everything."""

from __future__ import annotations

import numpy as np

from ...core.boards import Board
from ...core.kernels import stack_kernel
from ...core.state import NOBODY, Ints, Planes, States
from ...core.words import flat

PLANES = {
    "cell": "a cell of the hexagon",
    "black": "a black stone stands here",
    "white": "a white stone stands here",
    "edge": "a cell on a side",
    "contract": "nobody is Black yet (U3)",
    "I am Black": "the viewer needs a Y",
    "I am White": "the viewer needs a line",
}
CELL_PLANE, BLACK_PLANE, WHITE_PLANE, EDGE_PLANE, *PHASE_PLANES = map(list(PLANES).index, PLANES)
CONTRACT, AM_BLACK, AM_WHITE = range(len(PHASE_PLANES))
"""The phases; each has its own observation of the empty board."""


def cell_places(board: Board) -> Ints:
    """Return (n,) the offset of the planes of each cell in an observation."""
    return ((board.rows * board.shape[1] + board.cols) * len(PLANES)).astype(np.uint16)


def empty_boards(board: Board) -> Planes:
    """Return (3, rows * cols * planes) the observations of a board without stones, by phase."""
    places = cell_places(board)
    boards = np.zeros((len(PHASE_PLANES), board.shape[0] * board.shape[1] * len(PLANES)), np.int8)
    boards[:, places + CELL_PLANE] = 1
    boards[:, places[board.edges != 0] + EDGE_PLANE] = 1
    for phase, plane in enumerate(PHASE_PLANES):
        boards[phase, places + plane] = 1
    return boards


@stack_kernel
def observe_batch(views: States, out: Planes, empty: Planes, places: Ints) -> None:
    """Write the observations of `views`: the empty board of the phase, and one byte for each cell.

    `empty` and `places` are from `empty_boards` and `cell_places`.
    """
    size, row = out.shape[1] * out.shape[2] * out.shape[3], flat(out)
    for i in range(len(views)):
        view, first = views[i], i * size
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        phase = AM_BLACK if view["black"] == viewer else AM_WHITE
        if view["black"] == NOBODY:
            phase = CONTRACT
        board = empty[phase]
        for k in range(size):
            row[first + k] = board[k]
        stones = view["stones"]
        for cell in range(len(stones)):  # an empty cell sets the plane "cell" again; the planes of stones follow it
            row[np.uint64(first + int(places[np.uint64(cell)]) + int(stones[np.uint64(cell)]))] = 1
