"""Wins of Curio that can be forced within few own moves, as kernels: all pieces are known, every line of play is tried.

The attacker is the player who is to win, in a number of own moves; the defender tries every reply.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pbm_envs.authoring import Ints, Record, States, kernel
from pbm_envs.games.curio import CAPTURED, GOES_ON, NO_PIECE, action_of, end_of, is_royal, list_moves
from pbm_envs.toolbox import stack_kernel

from .curio_lines import COUNT, PASSED, PLY_FIELDS, QUIET, TRIED, play_move, take_back

WON, FAILED, UNKNOWN = 1, -1, 0
"""For the attacker: a win is forced, is not forced in so many own moves, or is not found out."""
NODES, SPENT = 0, 1
"""Of the counters: how many positions may be looked at, and how many were."""
TABLE_BITS = 16
"""Of the number of positions that the table remembers: the newest of those that share a place."""
FACES = 10


class Duel(NamedTuple):
    """What stays the same while a position is searched."""

    steps: Ints
    """As `list_moves` has them."""
    keys: Ints
    """(2, FACES, FACES, cells) a random number for each piece on each cell; no piece has a face 0."""
    table: Ints
    """(1 << TABLE_BITS, 2): a key, and 1 + the fewest own moves known to win | the most known to fail << 8."""
    counters: Ints


@stack_kernel
def count_royals(state: Record, player: int, base: int) -> int:
    """The royals that a player has left (C10)."""
    count = 0
    for slot in range(len(state["cell"])):
        count += state["owner"][slot] == player and state["cell"][slot] != CAPTURED and is_royal(state, slot, base)
    return count


@stack_kernel
def put_captures_first(state: Record, moves: Ints, count: int, base: int) -> int:
    """Reorder moves: captures of royals, other captures, the rest; return how many capture royals."""
    captures, royals = 0, 0
    for k in range(count):
        move = moves[k]
        target = state["board"][end_of(move)]
        if target == NO_PIECE:
            continue
        moves[k] = moves[captures]
        moves[captures] = move
        if is_royal(state, target, base):
            moves[captures] = moves[royals]
            moves[royals] = move
            royals += 1
        captures += 1
    return royals


@stack_kernel
def key_of(state: Record, duel: Duel, attacker: int, to_move: int, passed: int) -> int:
    """A number for the position, the player to move and the attacker, never 0."""
    key = duel.keys[attacker, 0, 1, 0] ^ duel.keys[to_move, 0, 2, 0] ^ duel.keys[passed, 0, 3, 0]
    owner, cell, faces = state["owner"], state["cell"], state["faces"]
    for slot in range(len(cell)):
        if cell[slot] != CAPTURED:
            key ^= duel.keys[owner[slot], faces[slot, 0], faces[slot, 1], cell[slot]]
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
def force_win(
    states: States, duel: Duel, settings: States, attacker: int, own_moves: int, passed: int, quiet: int
) -> tuple[int, int]:
    """Whether the attacker, to move, can force a win within so many own moves.

    Args:
        states: (1,) a full state, changed in place. It is as before afterwards, unless the value is UNKNOWN.
        duel: The tables.
        settings: As of the game.
        attacker: The player to move.
        own_moves: Of the attacker.
        passed: 1 if the last ply was a pass (C12).
        quiet: Plies since the last capture (C13).

    Returns:
        WON, FAILED, or UNKNOWN if it takes more than the counters allow; and the action that wins.
    """
    state, rules, levels = states[0], settings[0], 2 * own_moves
    moves, keys = np.empty((levels, rules["moves"] + 1), np.int64), np.zeros(levels, np.int64)
    plies = np.zeros((levels + 1, PLY_FIELDS), np.int64)
    plies[0, QUIET], plies[0, PASSED] = quiet, passed
    depth, entering, value = 0, True, UNKNOWN
    while True:
        attacks, left, ply = depth % 2 == 0, own_moves - (depth + 1) // 2, plies[depth]
        player = attacker if attacks else 1 - attacker
        if entering:
            royals_left = count_royals(state, 1 - attacker, rules["base"])
            value, keys[depth] = known_value(state, duel, rules, attacker, player, left, ply, royals_left)
            if depth == 0 and value == WON:
                value = UNKNOWN  # its move is wanted
            if value == UNKNOWN:
                if duel.counters[SPENT] >= duel.counters[NODES]:
                    return UNKNOWN, 0
                duel.counters[SPENT] += 1
                ply[COUNT], ply[TRIED] = list_moves(state, player, duel.steps, rules, False, moves[depth]), 0
                royals = put_captures_first(state, moves[depth], ply[COUNT], rules["base"])
                if attacks and royals and royals_left == 1:
                    value = WON
                elif attacks and left == 1:
                    value = FAILED
        else:
            take_back(state, int(moves[depth, ply[TRIED]]), ply, rules)
            if value != (WON if attacks else FAILED):
                value = UNKNOWN
                ply[TRIED] += 1
        if value == UNKNOWN:
            value = play_next(state, rules, attacks, moves[depth], ply, plies[depth + 1])
        if value == UNKNOWN:
            depth, entering = depth + 1, True
            continue
        if keys[depth]:
            remember(duel.table, keys[depth], left, value)
        if depth == 0:
            return value, action_of(moves[0, plies[0, TRIED]])
        depth, entering = depth - 1, False


@stack_kernel
def play_next(state: Record, rules: Record, attacks: bool, moves: Ints, ply: Ints, after: Ints) -> int:
    """Play the next move after which the game goes on, and begin the ply `after` it.

    Returns:
        UNKNOWN if a move was played, else the value of the position: no move is left, or the defender ends the game.
    """
    while ply[TRIED] < ply[COUNT]:
        move = int(moves[ply[TRIED]])
        if play_move(state, move, ply, after, rules) == GOES_ON:
            return UNKNOWN
        take_back(state, move, ply, rules)
        if not attacks:
            return FAILED
        ply[TRIED] += 1
    return FAILED if attacks else WON


@stack_kernel
def known_value(
    state: Record, duel: Duel, rules: Record, attacker: int, player: int, left: int, ply: Ints, royals: int
) -> tuple[int, int]:
    """What is known of a position before its moves are looked at, and its key; 0: it is not looked up in the table.

    The table is left alone where the limit of plies without a capture may end the game.
    """
    if royals > left or royals == 0:  # a move captures one
        return FAILED, 0
    if 0 < rules["quiet_limit"] <= ply[QUIET] + 2 * left:
        return UNKNOWN, 0
    key = key_of(state, duel, attacker, player, int(ply[PASSED]))
    return look_up(duel.table, key, left), key
