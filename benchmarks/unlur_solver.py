"""Who wins a small Unlur once somebody is Black (U4, U5)? Every line of play, on words of bits; for radius 3.

A position is two words, the cells of Black's and of White's stones, and whose turn it is. A player who can win at once
does; one who has to stop the opponent from doing so at two cells has lost; at one cell, plays there.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.typed import Dict
from numpy.typing import NDArray

from pbm_envs import Unlur
from pbm_envs.core.boards import NO_CELL

Words = NDArray[np.int64]


def black_wins(game: Unlur, black: list[int], white: list[int], black_to_move: bool) -> bool:
    """Whether Black wins with best play by both.

    Args:
        game: The rules; at most 20 cells.
        black: Cells of Black's stones, those of the contract included.
        white: Cells of White's.
        black_to_move: Whose turn it is.
    """
    board = game.board
    if board.size > 20:
        raise ValueError(f"{game!r} has {board.size} cells: expected at most 20")
    around = np.array([sum(1 << k for k in row if k != NO_CELL) for row in board.neighbours.tolist()], np.int64)
    known = Dict.empty(types.int64, types.boolean)
    stones = [sum(1 << cell for cell in cells) for cells in (black, white)]
    order = np.argsort(-np.array([bin(word).count("1") for word in around.tolist()]), kind="stable")  # the middle first
    own, other = stones if black_to_move else stones[::-1]
    won = mover_wins(own, other, black_to_move, around, board.edges.astype(np.int64), order.astype(np.int64), known)
    return bool(won) == black_to_move


@njit
def outcome(own: int, cell: int, black: bool, around: Words, edges: Words) -> int:
    """1 if a stone of this colour on `cell` wins, -1 if it loses at once, else 0 (U5)."""
    chain, grown = 0, 1 << cell
    while grown != chain:
        chain = grown
        for k in range(len(around)):
            if chain >> k & 1:
                grown |= around[k] & own
    touched = 0
    for k in range(len(around)):
        if chain >> k & 1:
            touched |= edges[k]
    has_y = touched & 0b010101 == 0b010101 or touched & 0b101010 == 0b101010
    has_line = touched & 0b001001 == 0b001001 or touched & 0b010010 == 0b010010 or touched & 0b100100 == 0b100100
    if black:
        return 1 if has_y else -1 if has_line else 0
    return 1 if has_line else -1 if has_y else 0


@njit
def mover_wins(
    own: int, other: int, black: bool, around: Words, edges: Words, order: Words, known: dict[int, bool]
) -> bool:
    """Whether the player to move, whose stones are `own`, wins."""
    key = own | other << 20 | (1 << 40 if black else 0)
    if key in known:
        return known[key]
    taken, threats, threat = own | other, 0, -1
    for k in order:
        if not taken >> k & 1:
            if outcome(own, k, black, around, edges) == 1:
                known[key] = True
                return True
            if outcome(other, k, not black, around, edges) == 1:
                threats, threat = threats + 1, k
    won = False
    if threats < 2:
        for k in order:
            if taken >> k & 1 or (threats and k != threat) or outcome(own, k, black, around, edges) == -1:
                continue
            if not mover_wins(other, own | 1 << k, not black, around, edges, order, known):
                won = True
                break
    known[key] = won
    return won
