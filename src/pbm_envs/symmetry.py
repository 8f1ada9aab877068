"""Symmetries of the rules: what each cell, action, plane, letter and player becomes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .boards import Board
from .state import Ints


class Symmetry(NamedTuple):
    """A change of names under which the rules stay the same. Entry k of each field says what k becomes."""

    name: str
    cells: Ints
    """(n,)"""
    actions: Ints
    """(A,)"""
    planes: Ints
    """(number of planes,): the same holds for an observation, cell by cell and plane by plane."""
    marks: tuple[int, ...]
    """Letters or colours, EMPTY first."""
    players: tuple[int, ...]
    """Who plays whose part: the seats of to_move, returns and roles."""


def permutation(move: Mapping[Any, Any], order: list[Any]) -> Ints:
    """Where each thing of `order` goes, as positions in `order`."""
    place = {thing: k for k, thing in enumerate(order)}
    return np.array([place[move[thing]] for thing in order], np.int64)


def edge_permutation(board: Board, cells: NDArray[np.integer[Any]]) -> list[int]:
    """Which edge each edge becomes when cell c becomes `cells[c]`."""
    bits = range(int(board.edges.max()).bit_length())
    sets = [set(np.flatnonzero(board.edges >> k & 1).tolist()) for k in bits]
    return [sets.index(set(cells[sorted(on_edge)].tolist())) for on_edge in sets]
