"""What a player of Chameleon sees: everything. Observation planes."""

from __future__ import annotations

import numpy as np

from ...core.kernels import kernel
from ...core.state import NOBODY
from ...core.types import Planes, States
from ...core.words import WORD, Words, store_word
from ..chains import store_cell

PLANES = {
    "x": "an x stands here",
    "o": "an o stands here",
    "I join top and bottom": "the viewer is Vert",
    "I join left and right": "the viewer is Horz",
    "swap is open": "the next ply may be `swap` (H4)",
}


X_PLANE, O_PLANE, VERT_PLANE, HORZ_PLANE, SWAP_PLANE = map(list(PLANES).index, PLANES)


def empty_cells() -> Planes:
    """(4, planes) a cell without a letter: for Horz and for Vert, and the same while swap is open."""
    cells = np.zeros((4, len(PLANES)), np.int8)
    cells[1::2, VERT_PLANE] = 1
    cells[0::2, HORZ_PLANE] = 1
    cells[2:, SWAP_PLANE] = 1
    return cells


@kernel
def observe_batch(views: States, out: Planes, words: Words, swap_rule: bool) -> None:
    """Write the observations of `views`, each cell with one store; `words` are `stone_words`. What a word has too many
    belongs to the cell after it, which is written next.
    """
    flat, planes, buffer, at = out.reshape(-1), out.shape[3], np.empty(WORD, np.int8), 0
    for i in range(len(views)):
        view = views[i]
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        template = 1 if view["vert"] == viewer else 0
        if swap_rule and view["ply"] == 1 and not view["done"]:
            template += 2
        stones, looks = view["stones"], words[template]
        for cell in range(len(stones) - 1):
            store_word(flat, at, looks[np.uint8(stones[cell])])
            at += planes
        store_cell(flat, at, looks[stones[-1]], planes, buffer)
        at += planes
