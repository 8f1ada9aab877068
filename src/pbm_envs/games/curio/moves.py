"""The legal moves of Curio on boards of at most 64 cells (C6, C7, C12), for masks and playouts.

Sets of cells are words of bits, and the goals of a piece are found a line at a time. On larger boards each line is
followed from cell to cell: see `rules`. Both ways give the same moves in the same order: by slot, direction and
distance.
"""

from __future__ import annotations

import numpy as np

from ...core.boards import NO_CELL
from ...core.kernels import kernel
from ...core.layouts import register_records
from ...core.randomness import draw
from ...core.state import NOBODY
from ...core.types import Ints, Mask, Record, Seeds, States
from ...core.words import BITS, NO_BITS, Words, count_bits, highest, lowest_bit
from .rules import CAPTURED, beats, compared_value, play, reach

MOST_CELLS = 64
LINES = 4
"""Direction d and its opposite, 7 - d, are line d."""
ONE = BITS[0]
MOVES_AT_ONCE = 8
"""A loop over so many moves is unrolled."""


def move_tables(moves: Ints, neighbours: Ints, farthest: int) -> States:
    """What the kernels look up, cell by cell.

    Args:
        moves: (M, 4) origin, direction, distance and end of each action, by origin.
        neighbours: (n, 8) as the board has them.
        farthest: The greatest distance of a move.

    Returns:
        (n,) records of the lines and moves from each cell.
    """
    counts = np.bincount(moves[:, 0], minlength=len(neighbours))
    goals = -(-int(counts.max()) // MOVES_AT_ONCE) * MOVES_AT_ONCE
    dtype = np.dtype(
        [
            ("first", "i8"),  # the first action
            ("before", "u8", (LINES,)),  # the cells of each line with smaller numbers
            ("after", "u8", (LINES,)),  # those with larger numbers
            ("near", "u8", (max(farthest, LINES) + 1,)),  # the cells within this reach on an empty board
            ("goal", "u8", (goals,)),  # the end of each move, by action; then no cell
        ]
    )
    tables = np.zeros(len(neighbours), register_records(dtype))
    tables["first"] = np.cumsum([0, *counts[:-1]])
    for action, (origin, _, distance, end) in enumerate(moves.tolist()):
        row = tables[origin]
        row["goal"][action - row["first"]] = BITS[end]
        row["near"][distance:] |= BITS[end]
    for origin in range(len(neighbours)):
        for d in range(2 * LINES):
            cell = neighbours[origin, d]
            while cell != NO_CELL:
                tables[origin]["after" if cell > origin else "before"][min(d, 7 - d)] |= BITS[cell]
                cell = neighbours[cell, d]
    return tables


@kernel
def values_compared(rules: Record) -> int:
    """One more than the greatest value that C7 compares."""
    return (2 if rules["total"] else 1) * rules["base"] + 1


@kernel
def find_pieces(state: Record, viewer: int, rules: Record, pieces: Words) -> None:
    """`pieces[army, v]` becomes the cells of the pieces whose value is v when `viewer` compares them (C7).

    What has no piece adds BITS[CAPTURED], which is none: there are no branches, since they could not be foreseen.
    """
    owner, where = state["owner"], state["cell"]
    pieces[:] = NO_BITS
    for slot in range(len(where)):
        pieces[owner[slot] & 1, compared_value(state, slot, viewer, rules)] |= BITS[where[slot]]


@kernel
def close_cells(own: Words, enemies: Words, compare: int, closed: Words) -> int:
    """`closed[v]` becomes the cells on which no piece of value v may end: those of own pieces, and of enemies that it
    may not capture (C7). Returns all occupied cells; `own` and `enemies` are the rows of `pieces`.
    """
    values = len(enemies)
    lower_open, equal_open, higher_open = beats(1, 0, compare), beats(1, 1, compare), beats(0, 1, compare)
    friends, lower, higher = NO_BITS, NO_BITS, NO_BITS
    for value in range(values):
        friends |= own[value]
    for value in range(values):
        closed[value] = friends
        if not lower_open:
            closed[value] |= lower
        if not equal_open:
            closed[value] |= enemies[value]
        lower |= enemies[value]
    if not higher_open:
        for value in range(values - 1, -1, -1):
            closed[value] |= higher
            higher |= enemies[value]
    return friends | lower


@kernel
def find_goals(state: Record, slot: int, table: Record, occupied: int, closed: Words, rules: Record) -> int:
    """The cells on which a piece may end its move.

    On each line, the nearest occupied cells before and after it are found at once: the subtraction turns over every bit
    from the one to the other ("obstruction difference", https://www.chessprogramming.org/Obstruction_Difference).
    """
    before, after, seen = table["before"], table["after"], NO_BITS
    for line in range(LINES):
        beyond = after[line] & occupied
        between = beyond ^ (beyond - highest((before[line] & occupied) | ONE))
        seen |= between & (before[line] | after[line])
    near, value = table["near"], compared_value(state, slot, state["to_move"], rules)
    return seen & near[min(reach(state, slot, rules), len(near) - 1)] & ~closed[value]


@kernel
def mask_batch(states: States, out: Mask, tables: States, settings: States) -> None:
    """Write the masks of states, and of the views of players to move."""
    rules = settings[0]
    moves, values = rules["moves"], values_compared(rules)
    pieces, closed = np.empty((2, values), np.uint64), np.empty(values, np.uint64)
    legal = np.zeros(moves + len(tables[0]["goal"]), np.bool_)
    for i in range(len(states)):
        state, row = states[i], out[i]
        if state["done"] or (state["viewer"] != NOBODY and state["viewer"] != state["to_move"]):
            row[:] = False
            continue
        for action in range(len(legal)):
            legal[action] = False
        mover = state["to_move"]
        find_pieces(state, mover, rules, pieces)
        occupied = close_cells(pieces[mover], pieces[1 - mover], rules["compare"], closed)
        left, some = NO_BITS, NO_BITS
        for value in range(values):
            left |= pieces[mover, value]
        while left != NO_BITS:  # lowest first: what a row of the tables has too many belongs to the cells after it
            cell = lowest_bit(left)
            left &= ~BITS[cell]
            table = tables[cell]
            goals = find_goals(state, state["board"][cell], table, occupied, closed, rules)
            some |= goals
            goal, here = table["goal"], legal[table["first"] :]
            for start in range(0, len(goal), MOVES_AT_ONCE):
                for k in range(start, start + MOVES_AT_ONCE):
                    here[k] = (goal[k] & goals) != NO_BITS
        for action in range(moves):
            row[action] = legal[action]
        row[moves] = some == NO_BITS  # C12
        if rules["resign"] >= 0:
            row[rules["resign"]] = True


@kernel
def list_pieces(state: Record, rules: Record, slots: Ints, pieces: Words) -> tuple[int, int]:
    """`slots[army]` becomes the slots of an army in order, `pieces[player]` what `find_pieces` finds for a player. The
    numbers of pieces of both armies.
    """
    light, dark = 0, 0
    for slot in range(len(state["cell"])):
        if state["cell"][slot] != CAPTURED:
            if state["owner"][slot] == 0:
                slots[0, light] = slot
                light += 1
            else:
                slots[1, dark] = slot
                dark += 1
    for player in range(2):
        find_pieces(state, player, rules, pieces[player])
    return light, dark


@kernel
def playout_batch(
    states: States,
    seeds: Seeds,
    moves: Ints,
    tables: States,
    settings: States,
    last_player_by_action: Ints,
) -> None:
    """Play at random to the end: count the legal moves of each piece, draw one of all, find it."""
    rules = settings[0]
    cells, values = len(tables), values_compared(rules)
    pieces, closed = np.empty((2, 2, values), np.uint64), np.empty(values, np.uint64)
    slots, before = np.empty((2, cells), np.int64), np.empty(cells, np.int64)
    goals = np.empty(cells, np.uint64)
    for i in range(len(states)):
        state = states[i]
        if state["done"]:
            continue
        light, dark = list_pieces(state, rules, slots, pieces)
        while not state["done"]:
            mover = int(state["to_move"])
            known = pieces[mover]
            occupied = close_cells(known[mover], known[1 - mover], rules["compare"], closed)
            count, number = 0, dark if mover else light
            for j in range(number):
                before[j] = count
                slot = slots[mover, j]
                goals[j] = find_goals(state, slot, tables[state["cell"][slot]], occupied, closed, rules)
                count += count_bits(goals[j])
            action = int(rules["moves"])  # pass, if there are no moves (C12)
            choice, slot = draw(seeds, i, max(count, 1)), 0
            if count > 0:
                j = number - 1
                while before[j] > choice:
                    j -= 1
                slot = slots[mover, j]
                table = tables[state["cell"][slot]]
                k, left = -1, choice - before[j]
                while left >= 0:
                    k += 1
                    left -= (table["goal"][k] & goals[j]) != NO_BITS
                action = table["first"] + k
            if last_player_by_action.size:
                last_player_by_action[i, action] = mover
            origin = state["cell"][slot]
            play(state, action, moves, rules)
            if state["quiet"] == 0:
                light, dark = list_pieces(state, rules, slots, pieces)
            elif count > 0:
                moved = BITS[origin] ^ BITS[state["cell"][slot]]
                for player in range(2):
                    pieces[player, mover, compared_value(state, slot, player, rules)] ^= moved
