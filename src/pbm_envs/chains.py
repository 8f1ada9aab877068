"""Chains of stones of one mark: union-find over a board's neighbours, shared by Chameleon and Unlur.

The state fields `chain` and `touches` belong together: from any stone, `chain` leads to its chain's root, and there
`touches` holds the edges that the chain has reached.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .boards import Board, edge_permutation
from .kernels import kernel
from .state import Ints, States


def chain_fields(cells: int) -> list[Any]:
    return [
        ("chain", "i2", (cells,)),
        ("stones", "i1", (cells,)),
        ("touches", "u1", (cells,)),
    ]


@kernel
def join(
    stones: Ints,
    chain: Ints,
    touches: Ints,
    cell: int,
    neighbours: Ints,
    edges: Ints,
) -> int:
    """Make the stone just placed on `cell` part of its chain; the edges that the chain touches now."""
    mark = stones[cell]
    chain[cell] = cell
    reached = edges[cell]
    for k in range(neighbours.shape[1]):
        other = neighbours[cell, k]
        if other >= 0 and stones[other] == mark:
            while chain[other] != other:
                chain[other] = chain[chain[other]]
                other = chain[other]
            if other != cell:
                chain[other] = cell
                reached |= touches[other]
    touches[cell] = reached
    return reached


@kernel
def would_touch(
    stones: Ints,
    chain: Ints,
    touches: Ints,
    cell: int,
    mark: int,
    neighbours: Ints,
    edges: Ints,
) -> int:
    """The edges that its chain would touch, were `mark` placed on `cell`."""
    reached = edges[cell]
    for k in range(neighbours.shape[1]):
        other = neighbours[cell, k]
        if other >= 0 and stones[other] == mark:
            while chain[other] != other:
                other = chain[other]
            reached |= touches[other]
    return reached


def transform_chains(states: States, board: Board, cells: Ints, marks: tuple[int, ...]) -> None:
    """Rename cells and marks of the stones and of their chains, in place."""
    becomes = edge_permutation(board, cells)
    touching = np.array([sum((t >> k & 1) << new for k, new in enumerate(becomes)) for t in range(1 << len(becomes))])
    stones, chain, touches = (states[name].copy() for name in ("stones", "chain", "touches"))
    states["stones"][:, cells] = np.asarray(marks)[stones]
    states["chain"][:, cells] = np.where(stones != 0, cells[chain], 0)
    states["touches"][:, cells] = touching[touches]
