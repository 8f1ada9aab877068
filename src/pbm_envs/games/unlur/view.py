"""What a player of Unlur sees: everything. Observation planes."""

from __future__ import annotations

import numpy as np

from ...core.kernels import stack_kernel
from ...core.state import NOBODY
from ...core.types import Ints, Planes, States
from ...core.words import WORD, Words, flat, store_word

PLANES = {
    "cell": "a cell of the hexagon",
    "black": "a black stone stands here",
    "white": "a white stone stands here",
    "edge": "a cell on a side",
    "contract": "nobody is Black yet (U3)",
    "I am Black": "the viewer needs a Y",
    "I am White": "the viewer needs a line",
}
WIDTH = len(PLANES)
CELL_PLANE, BLACK_PLANE, WHITE_PLANE, EDGE_PLANE, *PHASE_PLANES = map(list(PLANES).index, PLANES)
CONTRACT, AM_BLACK, AM_WHITE = range(len(PHASE_PLANES))
"""The phases, which are also the templates."""


def empty_cells() -> Planes:
    """(3, planes) an inner cell without a stone: in the contract phase, for Black, for White."""
    cells = np.zeros((len(PHASE_PLANES), len(PLANES)), np.int8)
    cells[:, CELL_PLANE] = 1
    for phase, plane in enumerate(PHASE_PLANES):
        cells[phase, plane] = 1
    return cells


@stack_kernel
def observe_batch(views: States, out: Planes, words: Words, places: Ints, edges: Ints) -> None:
    """Write the observations of `views`: copy the empty board of the phase, and set one byte for each cell.

    Args:
        views: (B,)
        out: (B, rows, cols, planes)
        words: The templates of `stone_words`, by phase.
        places: (n,) where the planes of each cell begin.
        edges: Where the plane "edge" is set.
    """
    size, row = out.shape[1] * out.shape[2] * out.shape[3], flat(out)
    boards, made = np.empty((len(words), size), np.int8), np.zeros(len(words), np.int8)  # empty, by phase
    for i in range(len(views)):
        view, first = views[i], i * size
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        phase = AM_BLACK if view["black"] == viewer else AM_WHITE
        if view["black"] == NOBODY:
            phase = CONTRACT
        board = boards[phase]
        if made[phase] == 0:
            write_empty_board(board, words[phase, 0], places, edges)
            made[phase] = 1
        for k in range(size):
            row[first + k] = board[k]
        stones = view["stones"]
        for cell in range(len(stones)):  # an empty one sets the plane "cell" again: the planes of stones follow it
            row[np.uint64(first + int(places[np.uint64(cell)]) + int(stones[np.uint64(cell)]))] = 1


@stack_kernel
def write_empty_board(board: Planes, word: int, places: Ints, edges: Ints) -> None:
    """The observation of a board without stones, whose cells have the planes that are the bytes of `word`."""
    buffer = np.empty(WORD, np.int8)
    store_word(buffer, 0, word)
    for k in range(len(board)):
        board[k] = 0
    for place in places:
        for k in range(WIDTH):
            board[place + k] = buffer[k]
    for place in edges:
        board[place] = 1
