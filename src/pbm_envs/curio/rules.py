"""The rules of Curio as kernels (C1 to C14).

A piece is a *slot*: the number of the cell on which it stood at the start. It keeps it wherever it goes. Its two faces
are numbered by the agent they look at: Light's 0, Dark's 1. What the players learn from public moves is kept with the
piece: see `learn` and `move`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..boards import NO_CELL
from ..kernels import kernel
from ..randomness import Seeds, draw, shuffle
from ..state import NOBODY, Ints, Mask, Record, States, common_fields, win

NO_PIECE = -1
CAPTURED = -1
DIRECTIONS = 8
LARGE, SMALL, RANDOM = 0, 1, 2
LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, ANY = 0, 1, 2, 3, 4


# C1 as the kernels need it: an array (10,), entry by entry
BASE = 0
TURN = 1
LIMIT = 2
FACE = 3  # LARGE, SMALL or RANDOM
COMPARE = 4  # LESS ... ANY: what the enemy's number must be
TOTAL = 5  # compare the sums of both faces
REVEAL = 6
QUIET_LIMIT = 7  # 0: none
MOVES = 8  # number of (from, to) actions; the next is `pass`
RESIGN = 9  # that action, or -1


def curio_dtype(cells: int, base: int, moves: int, total: bool) -> np.dtype[np.void]:
    """One game of Curio on `cells` cells. Under `*_total` a view carries its legal actions (C7)."""
    fields: list[Any] = [
        *common_fields(players=2),
        ("quiet", "i4"),  # plies since the last capture (C13)
        ("sets", "i2", (2, base * (base + 1) // 2)),  # pieces of each kind in each army at the start
        ("board", "i2", (cells,)),  # the slot that stands on a cell, or NO_PIECE
        ("cell", "i2", (cells,)),  # where each slot stands, or CAPTURED
        ("fallen", "i2"),  # the slot that was captured last, or NO_PIECE
        ("taker", "i2", (cells,)),  # the slot that captured it, or NO_PIECE
        ("owner", "i1", (cells,)),  # of each slot, or NOBODY
        ("known", "i1", (cells,)),  # 1: both players know both faces (C8, C9)
        ("faces", "i1", (cells, 2)),  # towards Light, towards Dark; 0 in a view: hidden
        ("bounds", "i1", (cells, 2, 2)),  # of each face, for the player who does not see it: least, most (C15)
    ]
    if total:
        fields.append(("legal", "i1", (moves + 2,)))
    # last, since Numba takes a record that only adds fields to another for a subtype of it
    fields.append(("passed", "?"))  # the last ply was a pass (C12)
    return np.dtype(fields, align=True)


@kernel
def kind(a: int, b: int, base: int) -> int:
    """The number of the unordered pair a, b: 11, 12, ..., 1base, 22, ... (C2)."""
    low, high = min(a, b), max(a, b)
    return int((low - 1) * base - (low - 1) * (low - 2) // 2 + high - low)


@kernel
def number(state: Record, slot: int, mover: int, options: Ints) -> int:
    """What C7 compares."""
    faces = state["faces"][slot]
    return faces[0] + faces[1] if options[TOTAL] else int(faces[mover])


@kernel
def beats(mine: int, theirs: int, compare: int) -> bool:
    """C7"""
    if compare == LESS:
        return theirs < mine
    if compare == LESS_EQUAL:
        return theirs <= mine
    if compare == GREATER:
        return theirs > mine
    if compare == GREATER_EQUAL:
        return theirs >= mine
    return True


@kernel
def may_capture(state: Record, slot: int, target: int, mover: int, options: Ints) -> bool:
    return beats(number(state, slot, mover, options), number(state, target, mover, options), options[COMPARE])


@kernel
def reach(state: Record, slot: int, options: Ints) -> int:
    """How far a piece may go (C6)."""
    return state["faces"][slot, state["owner"][slot]] if options[LIMIT] else len(state["board"])


@kernel
def has_move(state: Record, neighbours: Ints, options: Ints) -> bool:
    """C12: is there a move other than `pass`? If there is, one of a single step is among them."""
    mover = state["to_move"]
    for slot in range(len(state["cell"])):
        if state["owner"][slot] == mover and state["cell"][slot] != CAPTURED:
            for d in range(DIRECTIONS):
                cell = neighbours[state["cell"][slot], d]
                if cell != NO_CELL:
                    target = state["board"][cell]
                    if target == NO_PIECE:
                        return True
                    if state["owner"][target] != mover and may_capture(state, slot, target, mover, options):
                        return True
    return False


@kernel
def is_legal(state: Record, action: int, moves: Ints, neighbours: Ints, options: Ints) -> bool:
    if action == options[RESIGN]:
        return action >= 0
    if action == options[MOVES]:
        return not has_move(state, neighbours, options)
    if not 0 <= action < options[MOVES]:
        return False
    origin, direction, distance = moves[action, 0], moves[action, 1], moves[action, 2]
    mover = state["to_move"]
    slot = state["board"][origin]
    if slot == NO_PIECE or state["owner"][slot] != mover or distance > reach(state, slot, options):
        return False
    cell = neighbours[origin, direction]
    for _ in range(distance - 1):
        if state["board"][cell] != NO_PIECE:
            return False
        cell = neighbours[cell, direction]
    target = state["board"][cell]
    if target == NO_PIECE:
        return True
    return state["owner"][target] != mover and may_capture(state, slot, target, mover, options)


@kernel
def extremes(state: Record, mover: int, options: Ints, out: Ints) -> None:
    """The least and the greatest number of the mover's pieces, of the enemy's, and how many of each."""
    out[0], out[1], out[2], out[3], out[4], out[5] = 127, 0, 127, 0, 0, 0
    for slot in range(len(state["cell"])):
        if state["cell"][slot] != CAPTURED:
            side = 0 if state["owner"][slot] == mover else 1
            value = number(state, slot, mover, options)
            out[2 * side] = min(out[2 * side], value)
            out[2 * side + 1] = max(out[2 * side + 1], value)
            out[4 + side] += 1


@kernel
def is_dead(state: Record, options: Ints) -> bool:
    """C11: no capture can ever happen again, or each player has one piece left."""
    out = np.empty(6, np.int64)
    for mover in range(2):
        extremes(state, mover, options, out)
        if out[4] == 1 and out[5] == 1:
            return True
        if out[4] > 0 and out[5] > 0:
            least, most, least_enemy, most_enemy = out[0], out[1], out[2], out[3]
            if options[COMPARE] == LESS or options[COMPARE] == LESS_EQUAL:
                possible = beats(most, least_enemy, options[COMPARE])
            else:
                possible = beats(least, most_enemy, options[COMPARE])
            if possible:
                return False
    return True


@kernel
def has_royal(state: Record, agent: int, base: int) -> bool:
    """C10"""
    for slot in range(len(state["cell"])):
        if state["owner"][slot] == agent and state["cell"][slot] != CAPTURED:
            if state["faces"][slot, 0] == base or state["faces"][slot, 1] == base:
                return True
    return False


@kernel
def learn(state: Record, taker: int, taken: int, mover: int, mine: int, theirs: int, options: Ints) -> None:
    """C15: what a capture tells about a piece that is still not known, when the other one is.

    `mine` and `theirs` are the numbers that C7 compared. If both pieces stay unknown, `taker` is all that is kept: the
    faces of neither change any more.
    """
    if options[COMPARE] == ANY or state["known"][taker] == state["known"][taken]:
        return
    about = taken if state["known"][taker] else taker
    bound = mine if state["known"][taker] else theirs
    strict = options[COMPARE] == LESS or options[COMPARE] == GREATER
    greater = options[COMPARE] == GREATER or options[COMPARE] == GREATER_EQUAL
    at_least = (about == taken) == greater
    for player in range(2):
        if player == mover and not options[TOTAL]:
            continue  # who has seen the numbers compared learns nothing
        least = bound - state["faces"][about, player] if options[TOTAL] else bound
        limits = state["bounds"][about, 1 - player]
        if at_least:
            limits[0] = max(limits[0], least + strict)
        else:
            limits[1] = min(limits[1], least - strict)


@kernel
def capture(state: Record, taker: int, taken: int, mover: int, options: Ints) -> None:
    """C7 to C11."""
    mine, theirs = number(state, taker, mover, options), number(state, taken, mover, options)
    state["cell"][taken] = CAPTURED
    state["taker"][taken] = taker
    state["fallen"] = taken
    if options[TURN]:  # C8
        faces = state["faces"][taker]
        faces[0], faces[1] = faces[1], faces[0]
        state["known"][taker] = 1
    if options[REVEAL]:  # C9
        state["known"][taken] = 1
    learn(state, taker, taken, mover, mine, theirs, options)
    state["quiet"] = 0
    royal = state["faces"][taken, 0] == options[BASE] or state["faces"][taken, 1] == options[BASE]
    if royal and not has_royal(state, 1 - mover, options[BASE]):
        win(state, mover)
    elif is_dead(state, options):
        state["done"] = True


@kernel
def move(state: Record, origin: int, direction: int, distance: int, neighbours: Ints, options: Ints) -> None:
    mover = state["to_move"]
    slot = state["board"][origin]
    cell = origin
    for _ in range(distance):
        cell = neighbours[cell, direction]
    target = state["board"][cell]
    state["board"][origin] = NO_PIECE
    state["board"][cell] = slot
    state["cell"][slot] = cell
    if options[LIMIT]:  # C15: it has a face of at least this towards its owner
        limits = state["bounds"][slot, mover]
        limits[0] = max(limits[0], distance)
    state["quiet"] += 1
    state["passed"] = False
    if target != NO_PIECE:
        capture(state, slot, target, mover, options)


@kernel
def play(state: Record, action: int, moves: Ints, neighbours: Ints, options: Ints) -> None:
    """A legal action (C6 to C13)."""
    mover = state["to_move"]
    if action == options[RESIGN]:
        win(state, 1 - mover)  # A2
    elif action == options[MOVES]:  # C12
        state["quiet"] += 1
        state["done"] = state["passed"]
        state["passed"] = True
    else:
        move(state, moves[action, 0], moves[action, 1], moves[action, 2], neighbours, options)
    if not state["done"] and 0 < options[QUIET_LIMIT] <= state["quiet"]:  # C13
        state["done"] = True
        state["truncated"] = True
    state["ply"] += 1
    state["to_move"] = 1 - mover
    state["last_action"] = action


@kernel
def step_batch(states: States, actions: Ints, moves: Ints, neighbours: Ints, options: Ints) -> int:
    for i in range(len(states)):
        state = states[i]
        if not state["done"]:
            if state["viewer"] != NOBODY or not is_legal(state, actions[i], moves, neighbours, options):
                return i
    for i in range(len(states)):
        state = states[i]
        if not state["done"]:
            play(state, actions[i], moves, neighbours, options)
    return -1


@kernel
def list_legal(state: Record, steps: Ints, options: Ints, out: Ints) -> int:
    """Write the legal actions but `resign` to `out`; how many. From `cell` in direction d, `steps[cell, d]` are the
    action that goes one step (each further step is the next action) and the next cell.
    """
    mover = state["to_move"]
    board, owner, where = state["board"], state["owner"], state["cell"]
    compare = options[COMPARE]
    count = 0
    for slot in range(len(board)):
        if owner[slot] != mover or where[slot] == CAPTURED:
            continue
        origin, farthest = where[slot], reach(state, slot, options)
        mine = number(state, slot, mover, options)
        for d in range(DIRECTIONS):
            action, cell = steps[origin, d, 0], steps[origin, d, 1]
            for k in range(farthest):
                if cell == NO_CELL:
                    break
                target = board[cell]
                if target != NO_PIECE:
                    if owner[target] != mover:
                        if beats(mine, number(state, target, mover, options), compare):
                            out[count] = action + k
                            count += 1
                    break
                out[count] = action + k
                count += 1
                cell = steps[cell, d, 1]
    if count == 0:
        out[0] = options[MOVES]
        count = 1
    return count


@kernel
def mask_batch(states: States, out: Mask, steps: Ints, options: Ints) -> None:
    actions = np.empty(options[MOVES] + 1, np.int32)
    for i in range(len(states)):
        state = states[i]
        out[i] = False
        if state["done"] or (state["viewer"] != NOBODY and state["viewer"] != state["to_move"]):
            continue
        for k in range(list_legal(state, steps, options, actions)):
            out[i, actions[k]] = True
        if options[RESIGN] >= 0:
            out[i, options[RESIGN]] = True


@kernel
def playout_batch(
    states: States, seeds: Seeds, moves: Ints, steps: Ints, neighbours: Ints, options: Ints, trace: Ints
) -> None:
    actions = np.empty(options[MOVES] + 1, np.int32)
    for i in range(len(states)):
        state = states[i]
        while not state["done"]:
            count = list_legal(state, steps, options, actions)
            action = actions[draw(seeds, i, count)]
            if trace.size:
                trace[i, action] = state["to_move"]
            play(state, action, moves, neighbours, options)


@kernel
def set_up_batch(states: States, seeds: Seeds, deck: Ints, options: Ints) -> None:
    """C2, C3, C5. `deck` (army cells, 2): smaller and larger number of its pieces, then (0, 0) for empty cells."""
    order = np.empty(len(deck), np.int64)
    for i in range(len(states)):
        owner, faces = states[i]["owner"], states[i]["faces"]
        owner[:] = NOBODY
        for army in range(2):
            for k in range(len(deck)):
                order[k] = k
            shuffle(seeds, i, order)
            slot = 0 if army == 0 else len(owner) - len(deck)
            for k in range(len(deck)):
                smaller, larger = deck[order[k], 0], deck[order[k], 1]
                if larger > 0:
                    turned = options[FACE] == SMALL or (options[FACE] == RANDOM and draw(seeds, i, 2) == 0)
                    owner[slot] = army
                    faces[slot, army] = smaller if turned else larger
                    faces[slot, 1 - army] = larger if turned else smaller
                slot += 1


@kernel
def start_batch(states: States, options: Ints) -> None:
    """Number the pieces of boards on which `owner` and `faces` are set, cell by cell; note what is known from the
    start: a piece that stands against `face` can only have captured (C8). C11 may hold already.
    """
    for i in range(len(states)):
        state = states[i]
        state["fallen"] = NO_PIECE
        for slot in range(len(state["cell"])):
            state["taker"][slot] = NO_PIECE
            state["bounds"][slot, :, 0] = 1
            state["bounds"][slot, :, 1] = options[BASE]
            owner = state["owner"][slot]
            if owner == NOBODY:
                state["board"][slot] = NO_PIECE
                state["cell"][slot] = CAPTURED
            else:
                state["board"][slot] = slot
                state["cell"][slot] = slot
                own, far = state["faces"][slot, owner], state["faces"][slot, 1 - owner]
                state["sets"][owner, kind(own, far, options[BASE])] += 1
                against = (options[FACE] == LARGE and own < far) or (options[FACE] == SMALL and own > far)
                state["known"][slot] = 1 if against else 0
        state["done"] = is_dead(state, options)
