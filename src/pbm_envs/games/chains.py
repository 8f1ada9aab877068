"""Chains of stones of one mark: union-find over a board's neighbours, shared by Chameleon and Unlur.

The state fields `chain` and `touches` form the union-find structure: from any stone, `chain` leads to the root of its
chain, and at the root `touches` contains the edges that the chain has reached.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.boards import NO_CELL, Board
from ..core.kernels import stack_kernel
from ..core.randomness import draw
from ..core.state import EMPTY
from ..core.types import Ints, Seeds


def chain_fields(cells: int) -> list[Any]:
    return [
        ("chain", "u2", (cells,)),
        ("stones", "i1", (cells,)),
        ("touches", "u1", (cells,)),
    ]


def around(board: Board) -> NDArray[np.uint16]:
    """Return (n, 6) the neighbours of each cell on a board of hexagons, in order around it.

    The cell itself represents a neighbour off the board: it is empty when kernels read its neighbours.
    """
    cells = np.arange(board.size)[:, None]
    return np.where(board.neighbours == NO_CELL, cells, board.neighbours).astype(np.uint16)


def _runs(bits: int) -> int:
    """Return the first bit of each run of bits that represent the places of a ring; one bit if all are set."""
    return bits & ~(bits << 1 | bits >> 5) or bits & 1


RUNS = np.array([_runs(bits) for bits in range(64)])
LOWEST = np.array([max(0, (bits & -bits).bit_length() - 1) for bits in range(64)])


@stack_kernel
def chains_beside(stones: Ints, cell: int, mark: int, around: Ints) -> int:
    """Return bits k such that `around[cell, k]` has a stone of `mark`; one bit for adjacent stones (one chain)."""
    same = 0
    for k in range(6):
        same |= int(stones[around[cell, k]] == mark) << k
    return RUNS[same]


class Chains(NamedTuple):
    """The stones of a position, their chains and the board, for kernels that would need too many arguments.

    Made inside kernels. The hottest kernels take the arrays one by one, which makes playouts 6% faster.
    """

    stones: Ints
    chain: Ints
    touches: Ints
    around: Ints
    edges: Ints


@stack_kernel
def join(stones: Ints, chain: Ints, touches: Ints, cell: int, mark: int, around: Ints, edges: Ints) -> int:
    """Put a stone of `mark` on `cell` and join it to its chain; return the edges that the chain touches."""
    beside = chains_beside(stones, cell, mark, around)
    stones[cell] = mark
    chain[cell] = cell
    root, reached = cell, edges[cell]
    while beside:
        other = around[cell, LOWEST[beside]]
        beside &= beside - 1
        above = chain[other]
        while above != other:
            chain[other] = chain[above]
            other = above
            above = chain[other]
        if other != root:
            chain[root] = other
            root = other
            reached |= touches[other]
    touches[root] = reached
    return reached


@stack_kernel
def would_touch(board: Chains, cell: int, mark: int) -> int:
    """Return the edges that the chain of a stone of `mark` on `cell` would touch."""
    chain, touches, around = board.chain, board.touches, board.around
    beside, reached = chains_beside(board.stones, cell, mark, around), board.edges[cell]
    while beside:
        other = around[cell, LOWEST[beside]]
        beside &= beside - 1
        while chain[other] != other:
            other = chain[other]
        reached |= touches[other]
    return reached


@stack_kernel
def broken_bridges(stones: Ints, cell: int, mark: int, around: Ints, edges: Ints) -> int:
    """Return bits k such that a stone of `mark` on the empty cell `around[cell, k]` saves a bridge that `cell` breaks.

    A bridge is two stones of one mark, or a stone and an edge, with two empty cells between them: either cell connects
    them, so neither needs to be filled while both are empty.
    """
    same, empty = 0, 0
    for k in range(6):
        stone = stones[around[cell, k]]
        same |= int(stone == mark) << k
        empty |= int(stone == EMPTY) << k
    before, after = (same << 1 | same >> 5) & 63, (same >> 1 | same << 5) & 63
    found = before & after & empty
    if edges[cell]:
        beside = (before | after) & empty & ~found
        while beside:
            k = LOWEST[beside]
            beside &= beside - 1
            if edges[cell] & edges[around[cell, k]]:
                found |= 1 << k
    return found


@stack_kernel
def saving_cell(bridges: int, cell: int, around: Ints, seeds: Seeds, row: int) -> int:
    """Return one of the cells found by `broken_bridges`, each with the same probability."""
    count, left = 0, bridges
    while left:
        left &= left - 1
        count += 1
    for _ in range(draw(seeds, row, count)):
        bridges &= bridges - 1
    return around[cell, LOWEST[bridges]]


@stack_kernel
def copy_board(stones: Ints, chain: Ints, touches: Ints, new_stones: Ints, new_chain: Ints, new_touches: Ints) -> None:
    """Copy stones and chains. Playouts on plain arrays are a third faster than on the fields of a record, and element
    loops copy faster than slices (measured).
    """
    for cell in range(len(stones)):
        new_stones[cell] = stones[cell]
        new_chain[cell] = chain[cell]
        new_touches[cell] = touches[cell]
