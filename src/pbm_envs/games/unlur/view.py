"""What a player of Unlur sees: everything. Observation planes."""

from __future__ import annotations

import numpy as np

from ...core.kernels import kernel
from ...core.state import NOBODY
from ...core.types import Ints, Planes, States
from ...core.words import WORD, Words, store_word
from ..chains import store_cell

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
"""The phases, which are also the templates."""


def empty_cells() -> Planes:
    """(3, planes) an inner cell without a stone: in the contract phase, for Black, for White."""
    cells = np.zeros((len(PHASE_PLANES), len(PLANES)), np.int8)
    cells[:, CELL_PLANE] = 1
    for phase, plane in enumerate(PHASE_PLANES):
        cells[phase, plane] = 1
    return cells


@kernel
def observe_batch(views: States, out: Planes, words: Words, places: Ints, edges: Ints) -> None:
    """Write the observations of `views`, each cell with one store. What a word has too many belongs to the place after
    it: to a cell that is written next, or to a place off the board, where it is zeros.

    Args:
        views: (B,)
        out: (B, rows, cols, planes)
        words: As `stone_words` has them, by phase.
        places: (n,) where the planes of each cell begin.
        edges: Where the plane "edge" is set.
    """
    planes, size, buffer = out.shape[3], out.shape[1] * out.shape[2] * out.shape[3], np.empty(WORD, np.int8)
    flat = out.reshape(-1)
    for i in range(len(views)):
        view, first = views[i], i * size
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        phase = AM_BLACK if view["black"] == viewer else AM_WHITE
        if view["black"] == NOBODY:
            phase = CONTRACT
        for k in range(size):
            flat[first + k] = 0
        stones, looks = view["stones"], words[phase]
        for cell in range(len(stones) - 1):
            store_word(flat, first + places[cell], looks[np.uint8(stones[cell])])
        store_cell(flat, first + places[len(stones) - 1], looks[stones[-1]], planes, buffer)
        for k in range(len(edges)):
            flat[first + edges[k]] = 1
