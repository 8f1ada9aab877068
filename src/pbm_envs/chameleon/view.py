"""What a player of Chameleon sees: everything. Observation planes."""

from __future__ import annotations

import numpy as np

from ..chains import observe_stones
from ..kernels import kernel
from ..state import NOBODY, Ints, Planes, States

PLANES = {
    "x": "an x stands here",
    "o": "an o stands here",
    "I join top and bottom": "the viewer is Vert",
    "I join left and right": "the viewer is Horz",
    "swap is open": "the next ply may be `swap` (H4)",
}


def templates(cells: int) -> Planes:
    """(4, cells * planes), of an empty board: for Horz and for Vert, and the same while swap is open."""
    boards = np.zeros((4, cells, len(PLANES)), np.int8)
    boards[1::2, :, 2] = 1
    boards[0::2, :, 3] = 1
    boards[2:, :, 4] = 1
    return boards.reshape(4, -1)


@kernel
def observe_batch(views: States, out: Planes, templates: Planes, places: Ints, swap_rule: bool) -> None:
    boards = out.reshape(len(out), templates.shape[1])
    for i in range(len(views)):
        view = views[i]
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        template = 1 if view["vert"] == viewer else 0
        if swap_rule and view["ply"] == 1 and not view["done"]:
            template += 2
        observe_stones(view["stones"], templates[template], places, boards[i])
