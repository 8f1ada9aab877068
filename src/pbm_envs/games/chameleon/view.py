"""What a player of Chameleon sees: everything. Observation planes."""

from __future__ import annotations

import numpy as np

from ...core.kernels import stack_kernel
from ...core.state import NOBODY
from ...core.types import Planes, States
from ...core.words import WORD, Words, flat, store_word
from ..chains import stone_words, store_cell
from .rules import O

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


def triples() -> Words:
    """(4, 64, 2) three cells in a row: their planes, in two words, by template and by their stones, two bits each."""
    cells = stone_words(empty_cells(), (X_PLANE, O_PLANE)).view(np.int8).reshape(4, -1, WORD)[..., : len(PLANES)]
    looks, stones = np.zeros((4, 64, 2 * WORD), np.int8), np.arange(64)
    for k in range(3):
        stone = np.minimum(stones >> 2 * k & 3, O)  # 3 is no stone
        looks[:, :, k * len(PLANES) : (k + 1) * len(PLANES)] = cells[:, stone]
    return looks.view(np.uint64)


WIDTH = len(PLANES)
TRIPLES = triples()


@stack_kernel
def observe_batch(views: States, out: Planes, words: Words, swap_rule: bool) -> None:
    """Write the observations of `views`, three cells with two stores; `words` are `stone_words`. What the words have
    too many belongs to the cell after them, which is written next.
    """
    at, row = 0, flat(out)
    for i in range(len(views)):
        view = views[i]
        viewer = 0 if view["viewer"] == NOBODY else view["viewer"]
        template = 1 if view["vert"] == viewer else 0
        if swap_rule and view["ply"] == 1 and not view["done"]:
            template += 2
        stones = view["stones"]
        last, cell = len(stones) - 1, 0
        while cell + 2 < last:
            here = stones[np.uint64(cell)] | stones[np.uint64(cell + 1)] << 2 | stones[np.uint64(cell + 2)] << 4
            store_word(row, at, TRIPLES[template, np.uint64(here), 0])
            store_word(row, at + WORD, TRIPLES[template, np.uint64(here), 1])
            at += 3 * WIDTH
            cell += 3
        while cell < last:
            store_word(row, at, words[template, np.uint8(stones[cell])])
            at += WIDTH
            cell += 1
        store_cell(row, at, words[template, np.uint8(stones[last])], WIDTH)
        at += WIDTH
