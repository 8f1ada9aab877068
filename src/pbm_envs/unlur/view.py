"""What a player of Unlur sees: everything. Observation planes."""

from __future__ import annotations

import numpy as np

from ..boards import Board
from ..chains import observe_stones
from ..kernels import kernel
from ..state import NOBODY, Ints, Planes, States

PLANES = {
    "cell": "a cell of the hexagon",
    "black": "a black stone stands here",
    "white": "a white stone stands here",
    "edge": "a cell on a side",
    "contract": "nobody is Black yet (U3)",
    "I am Black": "the viewer needs a Y",
    "I am White": "the viewer needs a line",
}
CONTRACT, AM_BLACK, AM_WHITE = 0, 1, 2


def templates(board: Board) -> Planes:
    """(3, rows * cols * planes), of an empty board: in the contract phase, for Black, for White."""
    boards = np.zeros((3, *board.shape, len(PLANES)), np.int8)
    boards[:, board.rows, board.cols, 0] = 1
    boards[:, board.rows, board.cols, 3] = board.edges != 0
    for phase in range(3):
        boards[phase, board.rows, board.cols, 4 + phase] = 1
    return boards.reshape(3, -1)


@kernel
def observe_batch(views: States, out: Planes, templates: Planes, places: Ints) -> None:
    boards = out.reshape(len(out), templates.shape[1])
    for i in range(len(views)):
        view = views[i]
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        template = AM_BLACK if view["black"] == viewer else AM_WHITE
        if view["black"] == NOBODY:
            template = CONTRACT
        observe_stones(view["stones"], templates[template], places, boards[i])
