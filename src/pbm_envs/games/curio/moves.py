"""The legal moves of Curio, for masks and playouts (C6, C7, C12).

On boards of at most 64 cells, sets of cells are words of bits, and eight moves are tested at once: the path must be
empty and the goal open to the piece. On larger boards `mask_large_batch` and `playout_large_batch` follow each line
from cell to cell (`list_moves`). Both give the same moves in the same order: by slot, direction and distance.
"""

from __future__ import annotations

import numpy as np

from ...core.kernels import stack_kernel
from ...core.randomness import draw
from ...core.state import NOBODY, Ints, Mask, Record, Seeds, States, shows_mask
from ...core.words import BITS, NO_BITS, ONE, WORD, Words, clear_of, count_bits, flat, load_word, lowest_bit, store_word
from .pieces import CAPTURED, NO_PIECE, action_of, beats, compared_value, list_moves, reach
from .rules import play

MOST_CELLS = 64
MOST_MOVES, FEW_MOVES = 32, 16
"""Capacities for the moves from one cell of a board of `MOST_CELLS`, and from a cell with few moves. Loops of these
lengths are unrolled, which makes playouts a tenth faster than loops over the actual number of moves.
"""
MOST_REACH = 26  # the longest side of a board (C1)
SIGNS, GATHER = np.uint64(0x8000800080008000), np.uint64(1 << 48 | 1 << 33 | 1 << 18 | 1 << 3)
SHIFT_15, SHIFT_48, FOUR_BITS = np.uint64(15), np.uint64(48), np.uint64(15)  # of `cells_with_pieces`


def move_tables(moves: Ints, cells: int) -> States:
    """Return the lookup tables of the kernels: (n,) records of the moves from each of the n `cells`.

    `moves` (M, 4) are the origin, direction, distance and end of each action, by origin.
    """
    counts = np.bincount(moves[:, 0], minlength=cells)
    dtype = np.dtype(
        [
            ("first", "i8"),  # the first action
            ("count", "i8"),  # the number of moves
            ("near", "u8", (MOST_REACH + 1,)),  # the cells within this reach on an empty board
            ("goal", "u8", (MOST_MOVES,)),  # the end of each move, by action; then no cell
            ("way", "u8", (MOST_MOVES,)),  # the cells between origin and end of each move, by action; then all cells
        ]
    )
    tables = np.zeros(cells, dtype)
    tables["first"] = np.cumsum([0, *counts[:-1]])
    tables["count"] = counts
    tables["way"] = ~NO_BITS
    for action, (origin, _, distance, end) in enumerate(moves.tolist()):
        row = tables[origin]
        k = action - row["first"]
        row["goal"][k] = BITS[end]
        row["way"][k] = NO_BITS if distance == 1 else row["way"][k - 1] | row["goal"][k - 1]
        row["near"][distance:] |= BITS[end]
    return tables


@stack_kernel
def values_compared(rules: Record) -> int:
    """Return the greatest value that C7 compares, plus one."""
    return (2 if rules["total"] else 1) * rules["base"] + 1


@stack_kernel
def cells_with_pieces(board: Ints, first: int) -> int:
    """Return bits k such that a piece is on cell `first + k`, for at most 64 cells.

    Four cells are read at once: a product shifts their sign bits, each by its own distance, so that they are adjacent.
    """
    found, last = NO_BITS, min(len(board), first + 64)
    for cell in range(first, last - 3, 4):
        signs = (~load_word(board, 2 * cell) & SIGNS) >> SHIFT_15
        found |= (signs * GATHER >> SHIFT_48 & FOUR_BITS) << np.uint64(cell - first)
    for cell in range(last - (last - first) % 4, last):
        found |= np.uint64(board[cell] >= 0) << np.uint64(cell - first)
    return found


@stack_kernel
def find_pieces(state: Record, viewer: int, rules: Record, pieces: Words) -> None:
    """Set `pieces[army, v]` to the cells of the pieces with value v in the comparison of `viewer` (C7)."""
    board, owner, faces, total = state["board"], state["owner"], state["faces"], rules["total"]
    seen, left = np.uint64(viewer), cells_with_pieces(state["board"], 0)
    for army in range(2):
        for value in range(pieces.shape[1]):
            pieces[army, value] = NO_BITS
    while left != NO_BITS:
        slot = np.uint64(board[np.uint64(lowest_bit(left))])
        rest = left & left - ONE
        other = int(faces[slot, seen ^ ONE]) if total else 0  # C7: `compared_value`
        pieces[np.uint64(owner[slot]), np.uint8(faces[slot, seen] + other)] |= left ^ rest
        left = rest


@stack_kernel
def close_cells(own: Words, enemies: Words, compare: int, closed: Words) -> int:
    """Set `closed[v]` to the cells on which no piece of value v may end (C7); return all occupied cells.

    These are the cells of own pieces, and of enemies that it may not capture. `own` and `enemies` are rows of `pieces`.
    """
    no_lower = NO_BITS if beats(1, 0, compare) else ~NO_BITS
    no_equal = NO_BITS if beats(1, 1, compare) else ~NO_BITS
    no_higher = NO_BITS if beats(0, 1, compare) else ~NO_BITS
    friends, lower, higher = NO_BITS, NO_BITS, NO_BITS
    for value in range(len(enemies)):
        friends |= own[value]
    for value in range(len(enemies)):
        closed[value] = friends | lower & no_lower | enemies[value] & no_equal
        lower |= enemies[value]
    for value in range(len(enemies) - 1, -1, -1):
        closed[value] |= higher & no_higher
        higher |= enemies[value]
    return friends | lower


@stack_kernel
def forbidden_cells(state: Record, slot: int, table: Record, closed: Words, rules: Record) -> int:
    """Return the cells on which a piece may not end its move, regardless of pieces on its path."""
    near, value = table["near"], compared_value(state, slot, state["to_move"], rules)
    return closed[value] | ~near[min(reach(state, slot, rules), len(near) - 1)]


@stack_kernel
def mask_batch(states: States, out: Mask, tables: States, settings: States) -> None:
    """Write the masks of states, and of the views of players to move.

    The last mask is written to `legal` first, which has room for the surplus entries of the last run.
    """
    rules, row, width, last = settings[0], flat(out), out.shape[1], len(states) - 1
    moves, values = rules["moves"], values_compared(rules)
    pieces, closed = np.empty((2, values), np.uint64), np.empty(values, np.uint64)
    legal = np.empty(moves + MOST_MOVES, np.bool_)
    for i in range(len(states)):
        state, first = states[i], i * width
        if state["done"] or (state["viewer"] != NOBODY and state["viewer"] != state["to_move"]):
            for action in range(first, first + width):
                row[np.uint64(action)] = False
            continue
        marked, begin = (legal, 0) if i == last else (row, first)
        some = mark_legal(state, tables, rules, pieces, closed, marked, begin)
        for action in range(moves if i == last else 0):
            row[np.uint64(first + action)] = legal[action]
        row[first + moves] = some == NO_BITS  # C12
        if rules["resign"] >= 0:
            row[first + rules["resign"]] = True


@stack_kernel
def mark_legal(
    state: Record, tables: States, rules: Record, pieces: Words, closed: Words, legal: Mask, first: int
) -> int:
    """Set `legal[first + action]` for the player to move, one run per piece; return 0 if no move is legal.

    Cells ascend: surplus entries of a run belong to later cells, and those of the last run to the next row.
    """
    mover, left, some = state["to_move"], NO_BITS, NO_BITS
    find_pieces(state, mover, rules, pieces)
    occupied = close_cells(pieces[mover], pieces[1 - mover], rules["compare"], closed)
    for action in range(first, first + rules["moves"]):
        legal[np.uint64(action)] = False
    for value in range(len(closed)):
        left |= pieces[mover, value]
    while left != NO_BITS:
        cell = lowest_bit(left)
        left &= left - ONE
        table = tables[cell]
        forbidden = forbidden_cells(state, state["board"][cell], table, closed, rules)
        for k in range(0, FEW_MOVES, WORD):
            word = clear_of(table["way"], occupied, table["goal"], forbidden, k)
            store_word(legal, first + table["first"] + k, word)
            some |= word
        if table["count"] > FEW_MOVES:
            for k in range(FEW_MOVES, MOST_MOVES, WORD):
                word = clear_of(table["way"], occupied, table["goal"], forbidden, k)
                store_word(legal, first + table["first"] + k, word)
                some |= word
    return some


@stack_kernel
def list_pieces(state: Record, rules: Record, slots: Ints, counts: Ints, pieces: Words) -> None:
    """Set `slots[army]` to the slots of an army, `counts[army]` to their number, and `pieces` by `find_pieces`."""
    counts[0], counts[1] = 0, 0
    for slot in range(len(state["cell"])):
        if state["cell"][slot] != CAPTURED:
            army = state["owner"][slot]
            slots[army, counts[army]] = slot
            counts[army] += 1
    for player in range(2):
        find_pieces(state, player, rules, pieces[player])


@stack_kernel
def drop_slot(slots: Ints, counts: Ints, army: int, dropped: int) -> None:
    """Remove a slot from the list of its army."""
    left = 0
    for j in range(counts[army]):
        slot = slots[army, j]
        slots[army, left] = slot
        left += slot != dropped
    counts[army] = left


@stack_kernel
def flip_piece(state: Record, slot: int, cell: int, rules: Record, pieces: Words) -> None:
    """Add the piece of a slot on a cell to `pieces[player]` of both players, or remove it."""
    army = state["owner"][slot]
    for player in range(2):
        pieces[player, army, compared_value(state, slot, player, rules)] ^= BITS[cell]


@stack_kernel
def playout_batch(
    states: States, seeds: Seeds, moves: Ints, tables: States, settings: States, last_player_by_action: Ints
) -> None:
    """Play random moves to the end: count the moves of each piece, draw one of all moves, find and play it.

    The lists and sets of pieces are updated incrementally.
    """
    rules, cells, values = settings[0], len(tables), values_compared(settings[0])
    pieces, closed = np.empty((2, 2, values), np.uint64), np.empty(values, np.uint64)
    slots, counts, before = np.empty((2, cells), np.int64), np.empty(2, np.int64), np.empty(cells, np.int64)
    for i in range(len(states)):
        state = states[i]
        if state["done"]:
            continue
        where = state["cell"]
        list_pieces(state, rules, slots, counts, pieces)
        while not state["done"]:
            mover, count = int(state["to_move"]), 0
            occupied = close_cells(pieces[mover, mover], pieces[mover, 1 - mover], rules["compare"], closed)
            for j in range(counts[mover]):
                before[j] = count
                slot = slots[mover, j]
                table = tables[where[slot]]
                count += count_moves(table, occupied, forbidden_cells(state, slot, table, closed, rules))
            choice = draw(seeds, i, max(count, 1))
            action = int(rules["moves"])  # pass, if there are no moves (C12)
            slot = NO_PIECE
            if count > 0:
                j = counts[mover] - 1
                while before[j] > choice:
                    j -= 1
                slot = slots[mover, j]
                table = tables[where[slot]]
                forbidden = forbidden_cells(state, slot, table, closed, rules)
                action = table["first"] + find_move(table, occupied, forbidden, choice - before[j])
                flip_piece(state, slot, where[slot], rules, pieces)
            if last_player_by_action.size:
                last_player_by_action[i, action] = mover
            play(state, action, moves, rules)
            if count > 0:
                cell = where[slot]
                flip_piece(state, slot, cell, rules, pieces)
                if state["quiet"] == 0:
                    taken = state["last_captured"]
                    flip_piece(state, taken, cell, rules, pieces)
                    drop_slot(slots, counts, 1 - mover, taken)


@stack_kernel
def count_moves(table: Record, occupied: int, forbidden: int) -> int:
    """Return the number of legal moves of a piece."""
    count = 0
    for k in range(0, FEW_MOVES, WORD):
        count += count_bits(clear_of(table["way"], occupied, table["goal"], forbidden, k))
    if table["count"] > FEW_MOVES:
        for k in range(FEW_MOVES, MOST_MOVES, WORD):
            count += count_bits(clear_of(table["way"], occupied, table["goal"], forbidden, k))
    return count


@stack_kernel
def find_move(table: Record, occupied: int, forbidden: int, left: int) -> int:
    """Return the index of the legal move of a piece that is preceded by `left` legal ones."""
    way, goal, k = table["way"], table["goal"], -1
    while left >= 0:
        k += 1
        left -= (way[k] & occupied | goal[k] & forbidden) == NO_BITS
    return k


@stack_kernel
def mask_large_batch(states: States, out: Mask, steps: Ints, settings: States) -> None:
    rules = settings[0]
    found = np.empty(rules["moves"] + 1, np.int64)
    for i in range(len(states)):
        state = states[i]
        out[i] = False
        if not shows_mask(state):
            continue
        for k in range(list_moves(state, state["to_move"], steps, rules, False, found)):
            out[i, action_of(found[k])] = True
        if rules["resign"] >= 0:
            out[i, rules["resign"]] = True


@stack_kernel
def playout_large_batch(
    states: States, seeds: Seeds, moves: Ints, steps: Ints, settings: States, last_player_by_action: Ints
) -> None:
    rules = settings[0]
    found = np.empty(rules["moves"] + 1, np.int64)
    for i in range(len(states)):
        state = states[i]
        while not state["done"]:
            count = list_moves(state, state["to_move"], steps, rules, False, found)
            action = action_of(found[draw(seeds, i, count)])
            if last_player_by_action.size:
                last_player_by_action[i, action] = state["to_move"]
            play(state, action, moves, rules)
