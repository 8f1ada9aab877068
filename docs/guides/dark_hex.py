"""Dark Hex 3 as a game of pbm_envs: Hex on three by three cells in which players do not see the opponent's stones.

It is phantom tic-tac-toe with other winning figures: player_0 connects the top and bottom edges, player_1 the left and
right ones. The rules are OpenSpiel's (`dark_hex(num_rows=3,num_cols=3)`, classical version) with one difference: both
players see that a ply was played, and by whom, so a player knows how often the opponent has found a stone.
"""

from itertools import combinations

import numpy as np
from phantom import Phantom

from pbm_envs.authoring import register_game, rhombus

BOARD = rhombus(3)


def winning_figures(first: int, last: int) -> list[int]:
    """Return the smallest connected sets of cells that touch two edges, given as bits of `Board.edges`."""
    figures: list[int] = []
    for cells in (set(some) for size in range(3, 7) for some in combinations(range(9), size)):
        bits = sum(1 << cell for cell in cells)
        if any(figure & bits == figure for figure in figures):
            continue
        reached = [cell for cell in cells if BOARD.edges[cell] & first]
        for cell in reached:
            reached += [k for k in BOARD.neighbours[cell].tolist() if k in cells and k not in reached]
        if any(BOARD.edges[cell] & last for cell in reached):
            figures.append(bits)
    return figures


TOP, BOTTOM, LEFT, RIGHT = 1, 2, 4, 8


@register_game
class DarkHex(Phantom):
    """Hex in which players do not see each other's moves. Actions: the cells, row by row from a1."""

    name = "dark_hex"
    board = BOARD
    figures = np.array([winning_figures(TOP, BOTTOM), winning_figures(LEFT, RIGHT)])
