"""Kernels for Curio's pieces: moves, captures, and the end of the game by captures (C6 to C12).

They are used by the game and by programs that search lines of play on a copy of a state, of which they read and change
only `board`, `cell`, `owner` and `faces`. `rules` adds everything else that a complete game needs, such as the players'
knowledge.

A move is one integer, which contains its action, the slot that moves and the cell where it ends.
"""

from __future__ import annotations

import numpy as np

from ...core.boards import NO_CELL
from ...core.kernels import stack_kernel
from ...core.state import Ints, Record

WORST = 127  # greater than any number that C7 compares
NO_PIECE = -1
CAPTURED = -1
DIRECTIONS = 8
LARGE, SMALL, RANDOM = 0, 1, 2
LESS, EQUAL, GREATER = 1, 2, 4
ANY = LESS | EQUAL | GREATER  # bits: the allowed relations of the enemy's number to the mover's (C7)
GOES_ON, WON, DRAWN = 0, 1, 2  # results of a capture; WON by the capturing player
NUMBER_BITS = 10  # bits for a slot and for a cell in a move: boards have at most 26 x 26 cells
NUMBER_MASK = (1 << NUMBER_BITS) - 1
NEXT_ACTION = 1 << 2 * NUMBER_BITS  # increment of a move to the next action

SETTINGS = np.dtype(
    [
        ("base", "i8"),
        ("turn", "?"),
        ("limit", "?"),
        ("face", "i8"),  # LARGE, SMALL or RANDOM
        ("compare", "i8"),  # bits LESS, EQUAL, GREATER: the allowed relations of the enemy's number
        ("total", "?"),  # compare the sums of both faces
        ("reveal", "?"),
        ("quiet_limit", "i8"),  # 0: no limit
        ("moves", "i8"),  # number of (from, to) actions; the next is `pass`
        ("resign", "i8"),  # that action, or -1
    ],
    align=True,
)
"""The options (C1) for kernels: batch kernels take an array of one such record, others the record, as `rules`."""


@stack_kernel
def move_to(slot: int, end: int) -> int:
    """Return the move of a slot to a cell, for callers that do not need its action."""
    return slot << NUMBER_BITS | end


@stack_kernel
def action_of(move: int) -> int:
    """Return the action of a move."""
    return move >> 2 * NUMBER_BITS


@stack_kernel
def slot_of(move: int) -> int:
    """Return the slot that moves."""
    return move >> NUMBER_BITS & NUMBER_MASK


@stack_kernel
def end_of(move: int) -> int:
    """Return the cell where a move ends."""
    return move & NUMBER_MASK


@stack_kernel
def compared_value(state: Record, slot: int, mover: int, rules: Record) -> int:
    """Return the number that C7 compares."""
    faces = state["faces"]
    return int(faces[slot, 0]) + int(faces[slot, 1]) if rules["total"] else int(faces[slot, mover])


@stack_kernel
def beats(mine: int, theirs: int, compare: int) -> bool:
    """Return whether a piece with number `mine` can capture one with number `theirs` (C7)."""
    return compare >> (int(theirs >= mine) + int(theirs > mine)) & 1 == 1


@stack_kernel
def may_capture(state: Record, slot: int, target: int, mover: int, rules: Record) -> bool:
    return beats(
        compared_value(state, slot, mover, rules), compared_value(state, target, mover, rules), rules["compare"]
    )


@stack_kernel
def reach(state: Record, slot: int, rules: Record) -> int:
    """Return the maximum distance of a piece's move (C6)."""
    return int(state["faces"][slot, state["owner"][slot]]) if rules["limit"] else len(state["board"])


@stack_kernel
def is_royal(state: Record, slot: int, base: int) -> bool:
    """Return whether a piece is royal (C10)."""
    return bool(state["faces"][slot, 0] == base or state["faces"][slot, 1] == base)


@stack_kernel
def has_royal(state: Record, player: int, base: int, captured: bool) -> bool:
    """Return whether the player has a royal piece on the board, or if `captured`, has had one (C10).

    The search for Dark's pieces begins at the last slot, where they stood at the start.
    """
    last = len(state["cell"]) - 1
    for k in range(last + 1):
        slot = last - k if player else k
        if state["owner"][slot] == player and (captured or state["cell"][slot] != CAPTURED):
            if is_royal(state, slot, base):
                return True
    return False


@stack_kernel
def is_dead(state: Record, rules: Record) -> bool:
    """Return whether no capture can ever happen again, or each player has one piece left (C11).

    A capture is possible if C7 allows it for some pair of pieces, wherever they are. It suffices to compare the
    player's piece that beats most with the enemy piece that is beaten most easily. The search begins at both ends of
    the slots, where the armies stand at the start: three or four pieces usually show that the game is not over.
    """
    where, owner, faces, total, compare = (
        state["cell"],
        state["owner"],
        state["faces"],
        rules["total"],
        rules["compare"],
    )
    sign, margin, pieces = 1 if beats(1, 0, compare) else -1, 0 if beats(0, 0, compare) else 1, 0
    if beats(1, 0, compare) and beats(0, 1, compare):
        margin = -WORST
    light_best, dark_best, light_worst, dark_worst = -2 * WORST, -2 * WORST, 2 * WORST, 2 * WORST
    for k in range(len(where)):
        slot = len(where) - 1 - (k >> 1) if k & 1 else k >> 1
        if where[slot] != CAPTURED:
            to_light, to_dark = int(faces[slot, 0]), int(faces[slot, 1])
            by_light = sign * (to_light + to_dark if total else to_light)
            by_dark = sign * (to_light + to_dark if total else to_dark)
            if owner[slot] == 0:
                light_best, light_worst = max(light_best, by_light), min(light_worst, by_dark)
            else:
                dark_best, dark_worst = max(dark_best, by_dark), min(dark_worst, by_light)
            pieces += 1
            if pieces > 2 and (light_best - dark_worst >= margin or dark_best - light_worst >= margin):
                return False
    return True


@stack_kernel
def list_moves(state: Record, mover: int, steps: Ints, rules: Record, captures_only: bool, out: Ints) -> int:
    """Write the legal moves of a player to `out` by slot, direction and distance; return their number (C6, C7, C12).

    Args:
        state: A full state. Its `to_move` is not read.
        mover: The player who moves.
        steps: (2, cells * DIRECTIONS) For each cell and direction, the action of a single step (each further step is
            the next action), and the next cell, or NO_CELL.
        rules: A record of SETTINGS.
        captures_only: Leave out moves to empty cells, and `pass`.
        out: (moves + 1,) The moves; overwritten.
    """
    board, cell, owner, actions, ends = state["board"], state["cell"], state["owner"], steps[0], steps[1]
    count, compare = 0, rules["compare"]
    for slot in range(len(cell)):
        if owner[slot] != mover or cell[slot] == CAPTURED:
            continue
        origin, farthest = int(cell[slot]), reach(state, slot, rules)
        mine = compared_value(state, slot, mover, rules)
        for d in range(DIRECTIONS):
            way = np.uint64(origin * DIRECTIONS + d)
            end, move = int(ends[way]), (int(actions[way]) << NUMBER_BITS | slot) << NUMBER_BITS
            for _ in range(farthest):
                if end == NO_CELL:
                    break
                target = board[np.uint64(end)]
                if target == NO_PIECE:
                    if not captures_only:
                        out[count] = move | end
                        count += 1
                    end = int(ends[np.uint64(end * DIRECTIONS + d)])
                    move += NEXT_ACTION
                    continue
                if owner[target] != mover and beats(mine, compared_value(state, target, mover, rules), compare):
                    out[count] = move | end
                    count += 1
                break
    if count == 0 and not captures_only:
        out[0] = rules["moves"] * NEXT_ACTION
        count = 1
    return count


@stack_kernel
def move_piece(state: Record, slot: int, origin: int, end: int) -> int:
    """Move a piece (C6); return the slot at its end, which `capture_piece` removes from the board, or NO_PIECE."""
    target = state["board"][end]
    state["board"][origin] = NO_PIECE
    state["board"][end] = slot
    state["cell"][slot] = end
    return target


@stack_kernel
def capture_piece(state: Record, taker: int, taken: int, rules: Record) -> None:
    """Remove a captured piece from the board, and turn the piece that captured it (C8)."""
    state["cell"][taken] = CAPTURED
    if rules["turn"]:
        turn_piece(state, taker)


@stack_kernel
def turn_piece(state: Record, slot: int) -> None:
    """Turn a piece around (C8)."""
    faces = state["faces"][slot]
    faces[0], faces[1] = faces[1], faces[0]


@stack_kernel
def put_back(state: Record, slot: int, origin: int, taken: int, rules: Record) -> None:
    """Undo a move of a piece that came from `origin` and captured `taken`, or NO_PIECE."""
    board, cell = state["board"], state["cell"]
    end = cell[slot]
    board[end] = taken
    board[origin] = slot
    cell[slot] = origin
    if taken != NO_PIECE:
        cell[taken] = end
        if rules["turn"]:
            turn_piece(state, slot)


@stack_kernel
def result_of_capture(state: Record, taken: int, rules: Record) -> int:
    """Return GOES_ON, WON or DRAWN after a piece has been captured (C10, C11)."""
    base = rules["base"]
    if is_royal(state, taken, base) and not has_royal(state, int(state["owner"][taken]), base, False):
        return WON
    return DRAWN if is_dead(state, rules) else GOES_ON
