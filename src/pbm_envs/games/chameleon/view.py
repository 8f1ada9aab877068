"""The observation planes of Chameleon, in which players see everything."""

from __future__ import annotations

import numpy as np

from ...core.kernels import stack_kernel
from ...core.state import NOBODY, Planes, States
from ...core.words import WORD, Words, flat, store_word
from .rules import O, X

PLANES = {
    "x": "an x stands here",
    "o": "an o stands here",
    "I join top and bottom": "the viewer is Vert",
    "I join left and right": "the viewer is Horz",
    "swap is open": "the next ply may be `swap` (H4)",
}


X_PLANE, O_PLANE, VERT_PLANE, HORZ_PLANE, SWAP_PLANE = map(list(PLANES).index, PLANES)


def cells() -> Planes:
    """Return (4, 3, WORD) the planes of a cell: for Horz and Vert, then with swap open; empty, with x, with o."""
    cells = np.zeros((4, 3, WORD), np.int8)
    cells[1::2, :, VERT_PLANE] = 1
    cells[0::2, :, HORZ_PLANE] = 1
    cells[2:, :, SWAP_PLANE] = 1
    cells[:, X, X_PLANE] = cells[:, O, O_PLANE] = 1
    return cells


def triples() -> Words:
    """Return (4, 64, 2) the planes of three adjacent cells in two words, by template and stones (two bits each)."""
    looks, stones = np.zeros((4, 64, 2 * WORD), np.int8), np.arange(64)
    for k in range(3):
        stone = np.minimum(stones >> 2 * k & 3, O)  # the value 3 does not occur
        looks[:, :, k * len(PLANES) : (k + 1) * len(PLANES)] = cells()[:, stone, : len(PLANES)]
    return looks.view(np.uint64)


WIDTH = len(PLANES)
CELLS, TRIPLES = cells().view(np.uint64)[..., 0], triples()


@stack_kernel
def observe_batch(views: States, out: Planes, swap_rule: bool) -> None:
    """Write the observations of `views`, three cells by two stores.

    A word is longer than the planes of a cell; its rest belongs to the next cell, which is written later.
    """
    at, row, buffer = 0, flat(out), np.empty(WORD, np.int8)
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
            store_word(row, at, CELLS[template, np.uint8(stones[cell])])
            at += WIDTH
            cell += 1
        store_word(buffer, 0, CELLS[template, np.uint8(stones[last])])
        for k in range(WIDTH):  # the rest of a word would lie beyond the last row
            row[at + k] = buffer[k]
        at += WIDTH
