"""Wins of Curio that can be forced within few own moves, as kernels: all pieces are known, every line of play is tried.

The attacker is the player who is to win, in a number of own moves; the defender tries every reply. A move changes the
arrays of a `Duel` in place and is taken back afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pbm_envs.authoring import Ints, kernel
from pbm_envs.toolbox import stack_kernel

WON, FAILED, UNKNOWN = 1, -1, 0
"""For the attacker: a win is forced, is not forced in so many own moves, or is not found out."""
NOBODY, NO_PIECE, CAPTURED = -1, -1, -1
DIRECTIONS = 8
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, ANY = 0, 1, 2, 3, 4
BASE, TURN, LIMIT, COMPARE, TOTAL, QUIET_LIMIT, MOST_MOVES = 0, 1, 2, 3, 4, 5, 6
"""Of the settings: the options of the game as numbers, and how many moves there can be in a position."""
NODES, SPENT = 0, 1
"""Of the counters: how many positions may be looked at, and how many were."""
TABLE_BITS = 16
"""Of the number of positions that the table remembers: the newest of those that share a place."""
CELL_BITS = 10
"""Of a move: slot << CELL_BITS | cell where it ends."""
PASS = -1
QUIET, PASSED, COUNT, TRIED, ORIGIN, TAKEN, PLY_FIELDS = 0, 1, 2, 3, 4, 5, 6
"""Of a ply: plies without a capture before it, whether the one before was a pass, how many moves there are, which is
tried, from where it went, and what it captured."""
FACES = 10


class Duel(NamedTuple):
    """A position, and what stays the same while it is searched. Pieces are named by slots, as in the game's states."""

    board: Ints
    """(cells,) the slot on each cell, or NO_PIECE."""
    cell: Ints
    """(slots,) where each piece stands, or CAPTURED."""
    owner: Ints
    """(slots,) of each piece, or NOBODY."""
    faces: Ints
    """(slots, 2) of each piece, towards the players."""
    neighbours: Ints
    """(cells, DIRECTIONS)"""
    settings: Ints
    keys: Ints
    """(2, FACES, FACES, cells) a random number for each piece on each cell; no piece has a face 0."""
    table: Ints
    """(1 << TABLE_BITS, 2): a key, and 1 + the fewest own moves known to win | the most known to fail << 8."""
    counters: Ints


@stack_kernel
def beats(mine: int, theirs: int, compare: int) -> bool:
    """Whether a number may capture another (C7)."""
    if compare == LESS:
        return theirs < mine
    if compare == LESS_EQUAL:
        return theirs <= mine
    if compare == GREATER:
        return theirs > mine
    return theirs >= mine if compare == GREATER_EQUAL else True


@stack_kernel
def number_compared(duel: Duel, slot: int, mover: int) -> int:
    """What C7 compares."""
    faces = duel.faces
    return int(faces[slot, 0] + faces[slot, 1]) if duel.settings[TOTAL] else int(faces[slot, mover])


@stack_kernel
def is_royal(duel: Duel, slot: int) -> bool:
    """Whether a piece is royal (C10)."""
    base = duel.settings[BASE]
    return bool(duel.faces[slot, 0] == base or duel.faces[slot, 1] == base)


@stack_kernel
def count_royals(duel: Duel, player: int) -> int:
    """The royals that a player has left."""
    count = 0
    for slot in range(len(duel.cell)):
        count += duel.owner[slot] == player and duel.cell[slot] != CAPTURED and is_royal(duel, slot)
    return count


@stack_kernel
def is_drawn(duel: Duel) -> bool:
    """C11: each player has one piece left, or no piece could ever capture another."""
    cell, owner = duel.cell, duel.owner
    light, dark, possible = 0, 0, False
    for slot in range(len(cell)):
        if cell[slot] == CAPTURED or owner[slot] == NOBODY:
            continue
        light += owner[slot] == 0
        dark += owner[slot] == 1
        mover = int(owner[slot])
        for other in range(len(cell)):
            if cell[other] != CAPTURED and owner[other] == 1 - mover and not possible:
                mine, theirs = number_compared(duel, slot, mover), number_compared(duel, other, mover)
                possible = beats(mine, theirs, duel.settings[COMPARE])
    return light == dark == 1 or not possible


@stack_kernel
def list_moves(duel: Duel, mover: int, moves: Ints) -> int:
    """Write the moves of a player's pieces (C6, C7) to `moves`, captures of royals first, then captures; how many."""
    board, cell, owner, neighbours, settings = duel.board, duel.cell, duel.owner, duel.neighbours, duel.settings
    count, captures, royals = 0, 0, 0
    for slot in range(len(cell)):
        if owner[slot] != mover or cell[slot] == CAPTURED:
            continue
        reach = duel.faces[slot, mover] if settings[LIMIT] else len(board)
        mine = number_compared(duel, slot, mover)
        for d in range(DIRECTIONS):
            end = neighbours[cell[slot], d]
            for _ in range(reach):
                if end < 0:
                    break
                target = board[end]
                if target == NO_PIECE:
                    moves[count] = slot << CELL_BITS | end
                    count += 1
                    end = neighbours[end, d]
                    continue
                if owner[target] != mover and beats(mine, number_compared(duel, target, mover), settings[COMPARE]):
                    moves[count] = moves[captures]  # what stands in its place goes to the end
                    moves[captures] = slot << CELL_BITS | end
                    if is_royal(duel, target):
                        moves[captures] = moves[royals]
                        moves[royals] = slot << CELL_BITS | end
                        royals += 1
                    captures += 1
                    count += 1
                break
    return count


@stack_kernel
def make_move(duel: Duel, move: int) -> int:
    """Make a move and return the slot that it captures, or NO_PIECE."""
    slot, end = move >> CELL_BITS, move & ((1 << CELL_BITS) - 1)
    taken = int(duel.board[end])
    duel.board[duel.cell[slot]] = NO_PIECE
    duel.board[end] = slot
    duel.cell[slot] = end
    if taken != NO_PIECE:
        duel.cell[taken] = CAPTURED
        if duel.settings[TURN]:  # C8
            duel.faces[slot, 0], duel.faces[slot, 1] = duel.faces[slot, 1], duel.faces[slot, 0]
    return taken


@stack_kernel
def take_back(duel: Duel, move: int, origin: int, taken: int) -> None:
    """Undo a move from `origin` that has captured `taken`; nothing, for a pass."""
    if move == PASS:
        return
    slot, end = move >> CELL_BITS, move & ((1 << CELL_BITS) - 1)
    duel.board[end] = taken
    duel.board[origin] = slot
    duel.cell[slot] = origin
    if taken != NO_PIECE:
        duel.cell[taken] = end
        if duel.settings[TURN]:
            duel.faces[slot, 0], duel.faces[slot, 1] = duel.faces[slot, 1], duel.faces[slot, 0]


@stack_kernel
def key_of(duel: Duel, attacker: int, to_move: int, passed: int) -> int:
    """A number for the position, the player to move and the attacker, never 0."""
    key = duel.keys[attacker, 0, 1, 0] ^ duel.keys[to_move, 0, 2, 0] ^ duel.keys[passed, 0, 3, 0]
    for slot in range(len(duel.cell)):
        if duel.cell[slot] != CAPTURED and duel.owner[slot] != NOBODY:
            key ^= duel.keys[duel.owner[slot], duel.faces[slot, 0], duel.faces[slot, 1], duel.cell[slot]]
    return int(key | 1)


@stack_kernel
def look_up(table: Ints, key: int, left: int) -> int:
    """What is known of a position in which the attacker has so many own moves left."""
    at = (key >> 1) & ((1 << TABLE_BITS) - 1)
    if table[at, 0] != key:
        return UNKNOWN
    wins, fails = table[at, 1] & 255, table[at, 1] >> 8
    if wins and left >= wins - 1:
        return WON
    return FAILED if fails and left <= fails - 1 else UNKNOWN


@stack_kernel
def remember(table: Ints, key: int, left: int, value: int) -> None:
    at = (key >> 1) & ((1 << TABLE_BITS) - 1)
    wins, fails = 0, 0
    if table[at, 0] == key:
        wins, fails = int(table[at, 1] & 255), int(table[at, 1] >> 8)
    if value == WON:
        wins = min(wins, left + 1) if wins else left + 1
    else:
        fails = max(fails, left + 1)
    table[at, 0], table[at, 1] = key, wins | fails << 8


@kernel
def force_win(duel: Duel, attacker: int, own_moves: int, passed: int, quiet: int, first: Ints) -> int:
    """Whether the attacker, to move, can force a win within so many own moves.

    Args:
        duel: The position; it is as before afterwards, unless the value is UNKNOWN.
        attacker: The player to move.
        own_moves: Of the attacker.
        passed: 1 if the last ply was a pass (C12).
        quiet: Plies since the last capture (C13).
        first: (1,) becomes the move that wins.

    Returns:
        WON, FAILED, or UNKNOWN if it takes more than the counters allow.
    """
    levels = 2 * own_moves
    moves, keys = np.empty((levels, duel.settings[MOST_MOVES]), np.int64), np.zeros(levels, np.int64)
    plies = np.zeros((levels + 1, PLY_FIELDS), np.int64)
    plies[0, QUIET], plies[0, PASSED] = quiet, passed
    depth, entering, value = 0, True, UNKNOWN
    while True:
        attacks, left, ply = depth % 2 == 0, own_moves - (depth + 1) // 2, plies[depth]
        player = attacker if attacks else 1 - attacker
        if entering:
            value, keys[depth] = known_value(duel, attacker, player, left, ply)
            if depth == 0 and value == WON:
                value = UNKNOWN  # its move is wanted
            if value == UNKNOWN:
                if duel.counters[SPENT] >= duel.counters[NODES]:
                    return UNKNOWN
                duel.counters[SPENT] += 1
                ply[COUNT], ply[TRIED] = list_moves(duel, player, moves[depth]), 0
                if attacks:
                    value = win_at_once(duel, player, moves[depth], int(ply[COUNT]))
                    value = FAILED if value == UNKNOWN and left == 1 else value
                if ply[COUNT] == 0:  # C12
                    moves[depth, 0], ply[COUNT] = PASS, 1
        else:
            take_back(duel, int(moves[depth, ply[TRIED]]), int(ply[ORIGIN]), int(ply[TAKEN]))
            if value != (WON if attacks else FAILED):
                value = UNKNOWN
                ply[TRIED] += 1
        if value == UNKNOWN:
            value = play_next(duel, player, attacks, moves[depth], ply, plies[depth + 1])
        if value == UNKNOWN:
            depth, entering = depth + 1, True
            continue
        if keys[depth]:
            remember(duel.table, keys[depth], left, value)
        if depth == 0:
            first[0] = moves[0, plies[0, TRIED]] if value == WON else PASS
            return value
        depth, entering = depth - 1, False


@stack_kernel
def play_next(duel: Duel, player: int, attacks: bool, moves: Ints, ply: Ints, after: Ints) -> int:
    """Play the next move after which the game goes on, and begin the ply `after` it.

    Returns:
        UNKNOWN if a move was played, else the value of the position: no move is left, or the defender ends the game.
    """
    limit = duel.settings[QUIET_LIMIT]
    while ply[TRIED] < ply[COUNT]:
        move = int(moves[ply[TRIED]])
        after[PASSED], after[QUIET], ply[TAKEN] = move == PASS, ply[QUIET] + 1, NO_PIECE
        over = move == PASS and ply[PASSED] == 1
        if move != PASS:
            ply[ORIGIN] = duel.cell[move >> CELL_BITS]
            taken = make_move(duel, move)
            ply[TAKEN] = taken
            if taken != NO_PIECE:
                after[QUIET] = 0
                over = is_drawn(duel) or (is_royal(duel, taken) and count_royals(duel, 1 - player) == 0)
        if not over and not 0 < limit <= after[QUIET]:
            return UNKNOWN
        take_back(duel, move, int(ply[ORIGIN]), int(ply[TAKEN]))
        if not attacks:
            return FAILED
        ply[TRIED] += 1
    return FAILED if attacks else WON


@stack_kernel
def known_value(duel: Duel, attacker: int, player: int, left: int, ply: Ints) -> tuple[int, int]:
    """What is known of a position before its moves are looked at, and its key; 0: it is not looked up in the table.

    The table is left alone where the limit of plies without a capture may end the game.
    """
    limit, royals = duel.settings[QUIET_LIMIT], count_royals(duel, 1 - attacker)
    if royals > left or royals == 0:  # a move captures one
        return FAILED, 0
    if 0 < limit <= ply[QUIET] + 2 * left:
        return UNKNOWN, 0
    key = key_of(duel, attacker, player, int(ply[PASSED]))
    return look_up(duel.table, key, left), key


@stack_kernel
def win_at_once(duel: Duel, player: int, moves: Ints, count: int) -> int:
    """WON if the first move captures the last royal (C10), which `list_moves` puts first; else UNKNOWN."""
    if count == 0 or count_royals(duel, 1 - player) != 1:
        return UNKNOWN
    taken = duel.board[moves[0] & ((1 << CELL_BITS) - 1)]
    return WON if taken != NO_PIECE and is_royal(duel, taken) else UNKNOWN
