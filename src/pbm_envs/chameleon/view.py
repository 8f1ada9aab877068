"""What a player of Chameleon sees: everything. Observation planes and the board as text."""

from __future__ import annotations

from ..kernels import kernel
from ..state import NOBODY, Planes, States
from .rules import O, X

PLANES = {
    "x": "an x stands here",
    "o": "an o stands here",
    "I join top and bottom": "the viewer is Vert",
    "I join left and right": "the viewer is Horz",
    "swap is open": "the next ply may be `swap` (H4)",
}


@kernel
def observe_batch(views: States, out: Planes, swap_rule: bool) -> None:
    for i in range(len(views)):
        view = views[i]
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        vert = 1 if view["vert"] == viewer else 0
        open_swap = 1 if swap_rule and view["ply"] == 1 and not view["done"] else 0
        stones = view["stones"]
        row, col = 0, 0
        for cell in range(len(stones)):
            here = out[i, row, col]
            here[0] = stones[cell] == X
            here[1] = stones[cell] == O
            here[2] = vert
            here[3] = 1 - vert
            here[4] = open_swap
            col += 1
            if col == out.shape[2]:
                row, col = row + 1, 0
