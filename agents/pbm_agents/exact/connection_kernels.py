"""Kernels that solve endings of the two connection games: Chameleon (H3) and Unlur (U4, U5).

The stones of each mark are a bit set, with a bit for each place of the grid that contains the board. Each row is
followed by a place without a cell, so that steps to the six neighbours are shifts that never wrap to another cell.
Stones are never removed, so a threat to win on one cell can be stopped only on that cell: a player who has to stop the
opponent on two cells has lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pbm_envs.authoring import Ints
from pbm_envs.toolbox import stack_kernel

WON, LOST, UNKNOWN = 1, -1, 0
"""Results for the player to move."""
CHAMELEON, UNLUR = 0, 1
FIRST_ROLE = 0
"""The role of Vert, or of Black."""
TABLE_BITS = 20
"""The table has 2 ** TABLE_BITS places; each keeps the newest of the positions that share it."""
TRIED = 1 << 60
HISTORY_BITS = 20
NODES, SPENT = 0, 1
"""Entries of the counters: positions that may be examined, and positions that were."""


class Problem(NamedTuple):
    """The constants and the memory of a solver: the board, the table and the history of moves."""

    rules: int
    """CHAMELEON or UNLUR."""
    board: int
    """The bit set of all cells."""
    cells: Ints
    """The bit of each cell, in the order in which cells are tried if all else is equal."""
    sides: Ints
    """The bit sets of the sides: top, bottom, left and right in Chameleon; all six in Unlur."""
    shifts: Ints
    """The shifts to three of the neighbours."""
    table: Ints
    """(1 << TABLE_BITS, 3) overwritten: two bit sets, and 4 + 2 * role + (1 if won); 0 in an empty place."""
    history: Ints
    """(2, 2, cells) overwritten: the number of times that a mark on a cell has won for a role."""
    counters: Ints
    """(2,) overwritten: see NODES and SPENT."""


@stack_kernel
def spread(cells: int, shifts: Ints) -> int:
    """Return the neighbours of `cells`, including places beside the board."""
    found = 0
    for k in range(len(shifts)):
        found |= cells << shifts[k] | cells >> shifts[k]
    return found


@stack_kernel
def flood(seed: int, stones: int, shifts: Ints) -> int:
    """Return all stones that are connected to those in `seed`."""
    chain, grown = 0, seed & stones
    while grown != chain:
        chain = grown
        grown |= spread(chain, shifts) & stones
    return chain


@stack_kernel
def near(stones: int, empty: int, side: int, shifts: Ints) -> int:
    """Return the empty cells on which a further stone would be connected to this side of the board."""
    return (side | spread(flood(side, stones, shifts), shifts)) & empty


@stack_kernel
def joining(stones: int, empty: int, side: int, opposite: int, shifts: Ints) -> int:
    """Return the empty cells on which a further stone connects two sides of the board."""
    cells = near(stones, empty, side, shifts)
    return cells & near(stones, empty, opposite, shifts) if cells else 0


@stack_kernel
def lines_and_ys(stones: int, empty: int, sides: Ints, shifts: Ints) -> tuple[int, int]:
    """Return the empty cells on which a further stone makes a line, and those on which it makes a Y (U5)."""
    near_1, near_2 = near(stones, empty, sides[0], shifts), near(stones, empty, sides[1], shifts)
    near_3, near_4 = near(stones, empty, sides[2], shifts), near(stones, empty, sides[3], shifts)
    near_5, near_6 = near(stones, empty, sides[4], shifts), near(stones, empty, sides[5], shifts)
    return near_1 & near_4 | near_2 & near_5 | near_3 & near_6, near_1 & near_3 & near_5 | near_2 & near_4 & near_6


@stack_kernel
def placements(problem: Problem, first: int, second: int, role: int, allowed: Ints) -> int:
    """Compute the placements that do not lose at once; return the result if it is known.

    Args:
        problem: The problem.
        first: Stones of mark 1.
        second: Stones of mark 2.
        role: The role of the player to move, 0 or 1: Vert or Horz, Black or White.
        allowed: (2,) overwritten with the cells on which a stone of each mark loses neither at once nor, as far as
            this test can tell, to the next move.

    Returns:
        WON if a move wins, LOST if all lose, else UNKNOWN.
    """
    sides, shifts, empty = problem.sides, problem.shifts, problem.board & ~(first | second)
    allowed[0] = allowed[1] = 0
    if problem.rules == CHAMELEON:
        own, other = 2 * role, 2 - 2 * role
        if joining(first, empty, sides[own], sides[own + 1], shifts):
            return WON
        if joining(second, empty, sides[own], sides[own + 1], shifts):
            return WON
        by_first = joining(first, empty, sides[other], sides[other + 1], shifts)
        by_second = joining(second, empty, sides[other], sides[other + 1], shifts)
        threats = by_first | by_second
        if threats & (threats - 1):
            return LOST
        free = threats if threats else empty
        allowed[0], allowed[1] = free & ~by_first, free & ~by_second
        return UNKNOWN if allowed[0] | allowed[1] else LOST
    own_stones, other_stones = (first, second) if role == FIRST_ROLE else (second, first)
    own_line, own_y = lines_and_ys(own_stones, empty, sides, shifts)
    other_line, other_y = lines_and_ys(other_stones, empty, sides, shifts)
    if own_y if role == FIRST_ROLE else own_line:
        return WON
    losing, threats = (own_line, other_line) if role == FIRST_ROLE else (own_y, other_y)
    if threats & (threats - 1):
        return LOST
    allowed[role] = (threats if threats else empty) & ~losing
    return UNKNOWN if allowed[role] else LOST


@stack_kernel
def place_in_table(first: int, second: int, role: int) -> int:
    """Return the place of a position in the table."""
    mixed = first * 0x9E3779B97F4A7C1 + second * 0x2545F4914F6CDD1D + role * 0x5851F42D4C957F2D
    mixed ^= mixed >> 29
    mixed *= 0x3F58476D1CE4E5B9
    return int((mixed ^ (mixed >> 32)) & ((1 << TABLE_BITS) - 1))


@stack_kernel
def count_bits(word: int) -> int:
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@stack_kernel
def look_up(first: int, second: int, role: int, table: Ints) -> int:
    """Return the result that the table has for the player to move in a position, or UNKNOWN."""
    at = place_in_table(first, second, role)
    known = table[at, 2]
    if known >> 1 != 2 + role or table[at, 0] != first or table[at, 1] != second:
        return UNKNOWN
    return WON if known & 1 else LOST


@stack_kernel
def remember(first: int, second: int, role: int, value: int, table: Ints) -> None:
    at = place_in_table(first, second, role)
    table[at, 0], table[at, 1], table[at, 2] = first, second, 4 + 2 * role + (value == WON)


@stack_kernel
def look_at(problem: Problem, first: int, second: int, role: int, allowed: Ints, scores: Ints) -> int:
    """Return the value of a position from its children alone; if that is UNKNOWN, score its moves.

    Args:
        problem: The problem.
        first: Stones of mark 1.
        second: Stones of mark 2.
        role: The role of the player to move.
        allowed: (2,) working memory.
        scores: (2 * cells,) overwritten if the value is UNKNOWN: for each mark on each cell the number of replies it
            leaves (the fewest are tried first), or TRIED if it need not be tried.
    """
    cells, history, counters = problem.cells, problem.history, problem.counters
    counters[SPENT] += 1
    value = placements(problem, first, second, role, allowed)
    if value != UNKNOWN:
        return value
    own_first, own_second = allowed[0], allowed[1]
    promising = False
    for m in range(2):
        mine = own_first if m == 0 else own_second
        for k in range(len(cells)):
            at = m * len(cells) + k
            scores[at] = TRIED
            if not mine & cells[k]:
                continue
            one, two = (first | cells[k], second) if m == 0 else (first, second | cells[k])
            least, most = (min(one, two), max(one, two)) if problem.rules == CHAMELEON else (one, two)
            reply = look_up(least, most, 1 - role, problem.table)
            if reply == UNKNOWN:
                counters[SPENT] += 1
                reply = placements(problem, one, two, 1 - role, allowed)
            if reply == LOST:
                history[role, m, k] += 1
                return WON
            if reply == UNKNOWN:
                replies = count_bits(allowed[0]) + count_bits(allowed[1])
                scores[at] = (replies << HISTORY_BITS) - min(history[role, m, k] >> 4, (1 << HISTORY_BITS) - 1)
                promising = True
    return UNKNOWN if promising else LOST


@stack_kernel
def solve(first: int, second: int, role: int, *given: Any) -> int:
    """Return WON or LOST for the player to move, or UNKNOWN if it takes more positions than the counters allow.

    The search is depth first. Moves that leave the fewest replies are tried first, then those that have won most often.

    Args:
        first: Stones of mark 1.
        second: Stones of mark 2.
        role: The role of the player to move.
        given: The fields of a Problem: passing it as one value would cost half a microsecond more.
    """
    problem = Problem(*given)
    rules, cells, table = problem.rules, problem.cells, problem.table
    history, counters = problem.history, problem.counters
    levels, count = len(cells) + 2, len(cells)
    words, scores = np.zeros((levels, 2), np.int64), np.zeros((levels, 2 * count), np.int64)
    tried, allowed = np.zeros(levels, np.int64), np.zeros(2, np.int64)
    words[0, 0], words[0, 1] = first, second
    depth, entering, value = 0, True, UNKNOWN
    while True:
        own = role ^ (depth & 1)
        one, two = words[depth, 0], words[depth, 1]
        least, most = (min(one, two), max(one, two)) if rules == CHAMELEON else (one, two)
        if entering:
            if counters[SPENT] >= counters[NODES]:
                return UNKNOWN
            value = look_up(least, most, own, table)
            if value == UNKNOWN:
                value = look_at(problem, one, two, own, allowed, scores[depth])
                if value != UNKNOWN:
                    remember(least, most, own, value, table)
        elif value == LOST:  # for the opponent, after the move that was tried here
            value = WON
            history[own, tried[depth] // count, tried[depth] % count] += 1
            remember(least, most, own, value, table)
        else:
            value = UNKNOWN
        if value == UNKNOWN:
            best = int(scores[depth].argmin())
            if scores[depth, best] == TRIED:
                value = LOST
                remember(least, most, own, value, table)
            else:
                scores[depth, best] = TRIED
                tried[depth] = best
                words[depth + 1, 0], words[depth + 1, 1] = one, two
                words[depth + 1, best // count] |= cells[best % count]
                depth, entering = depth + 1, True
                continue
        if depth == 0:
            return value
        depth -= 1
        entering = False
