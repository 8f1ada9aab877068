"""What a player of Unlur sees: everything. Observation planes."""

from __future__ import annotations

from ..kernels import kernel
from ..state import NOBODY, Ints, Planes, States
from .rules import BLACK, WHITE

PLANES = {
    "cell": "a cell of the hexagon",
    "black": "a black stone stands here",
    "white": "a white stone stands here",
    "edge": "a cell on a side",
    "contract": "nobody is Black yet (U3)",
    "I am Black": "the viewer needs a Y",
    "I am White": "the viewer needs a line",
}


@kernel
def observe_batch(views: States, out: Planes, rows: Ints, cols: Ints, edges: Ints) -> None:
    for i in range(len(views)):
        view = views[i]
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        stones, black = view["stones"], view["black"]
        contract = 1 if black == NOBODY else 0
        am_black = 1 if black == viewer else 0
        for cell in range(len(stones)):
            here = out[i, rows[cell], cols[cell]]
            here[0] = 1
            here[1] = stones[cell] == BLACK
            here[2] = stones[cell] == WHITE
            here[3] = edges[cell] != 0
            here[4] = contract
            here[5] = am_black
            here[6] = 1 - contract - am_black
