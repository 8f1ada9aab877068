"""The record of a game of Curio, and its rules as kernels (C1 to C15); `pieces` has those of moves and captures.

A piece is identified by its *slot*: the number of the cell on which it stood at the start. Its two faces are numbered
by the player whom they face: Light 0, Dark 1. Information that players gain from public moves is stored with the piece:
see `learn` and `move`.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ...core.boards import NO_CELL
from ...core.kernels import stack_kernel
from ...core.randomness import draw, shuffle
from ...core.state import NOBODY, Ints, Record, Seeds, States, state_dtype, win
from ...core.validation import expect, expect_flag, expect_range
from .pieces import (
    ANY,
    CAPTURED,
    DIRECTIONS,
    DRAWN,
    EQUAL,
    GREATER,
    LARGE,
    NO_PIECE,
    RANDOM,
    SMALL,
    WON,
    capture_piece,
    compared_value,
    is_dead,
    may_capture,
    move_piece,
    reach,
    result_of_capture,
)

MOST_BASE = 9


def curio_dtype(cells: int, base: int, moves: int, total: bool) -> np.dtype[np.void]:
    """Return the dtype of a record with `cells` cells. Under `*_total`, a view contains its legal actions (C7)."""
    fields: list[Any] = [
        ("quiet", "i4"),  # plies since the last capture (C13)
        ("last_captured", "i2"),  # the slot that was captured last, or NO_PIECE
        ("passed", "?"),  # the last ply was a pass (C12)
        ("unseen", "i2", (2, base * (base + 1) // 2)),  # pieces of each kind in each army that are not known to both
        ("board", "i2", (cells,)),  # the slot that stands on a cell, or NO_PIECE
        ("cell", "i2", (cells,)),  # the cell of each slot, or CAPTURED
        ("taker", "i2", (cells,)),  # the slot that captured it, or NO_PIECE
        ("owner", "i1", (cells,)),  # of each slot, or NOBODY
        ("known", "i1", (cells,)),  # 1: both players know both faces (C8, C9)
        ("faces", "i1", (cells, 2)),  # towards Light, towards Dark; 0 if hidden in a view
        ("bounds", "i1", (cells, 2, 2)),  # of each face, for a player who cannot see it: least, greatest (C15)
    ]
    if total:
        fields.append(("legal", "i1", (moves + 2,)))
    return state_dtype(2, fields)


def _kinds(base: int) -> Ints:
    """Return (10, 10) the numbers of the unordered pairs of 1..base: 11, 12, ..., 1base, 22, ... (C2); else 0."""
    numbers = np.zeros((MOST_BASE + 1, MOST_BASE + 1), np.int8)
    for k, (a, b) in enumerate(combinations_with_replacement(range(1, base + 1), 2)):
        numbers[a, b] = numbers[b, a] = k
    return numbers


KINDS = np.stack([_kinds(base) for base in range(MOST_BASE + 1)])


@stack_kernel
def kind(a: int, b: int, base: int) -> int:
    """Return the number of the kind of piece with these faces."""
    return int(KINDS[base, a, b])  # plain Python would compute in eight bits


@stack_kernel
def has_move(state: Record, neighbours: Ints, rules: Record) -> bool:
    """Return whether any piece can move (C12): a piece that can move at all can move a single step."""
    mover = state["to_move"]
    for slot in range(len(state["cell"])):
        if state["owner"][slot] == mover and state["cell"][slot] != CAPTURED:
            for d in range(DIRECTIONS):
                cell = neighbours[state["cell"][slot], d]
                if cell != NO_CELL:
                    target = state["board"][cell]
                    if target == NO_PIECE:
                        return True
                    if state["owner"][target] != mover and may_capture(state, slot, target, mover, rules):
                        return True
    return False


@stack_kernel
def is_legal(state: Record, action: int, moves: Ints, neighbours: Ints, rules: Record) -> bool:
    if action == rules["resign"]:
        return action >= 0
    if action == rules["moves"]:
        return not has_move(state, neighbours, rules)
    if not 0 <= action < rules["moves"]:
        return False
    origin, direction, distance = moves[action, 0], moves[action, 1], moves[action, 2]
    mover = state["to_move"]
    slot = state["board"][origin]
    if slot == NO_PIECE or state["owner"][slot] != mover or distance > reach(state, slot, rules):
        return False
    cell = neighbours[origin, direction]
    for _ in range(distance - 1):
        if state["board"][cell] != NO_PIECE:
            return False
        cell = neighbours[cell, direction]
    target = state["board"][cell]
    if target == NO_PIECE:
        return True
    return state["owner"][target] != mover and may_capture(state, slot, target, mover, rules)


@stack_kernel
def learn(state: Record, taker: int, taken: int, mover: int, mine: int, theirs: int, rules: Record) -> None:
    """Narrow the bounds of an unknown piece after a capture in which the other piece is known (C15).

    `mine` and `theirs` are the numbers that C7 compared. If both pieces remain unknown, only `taker` is stored, since
    their faces no longer change.
    """
    if rules["compare"] == ANY or state["known"][taker] == state["known"][taken]:
        return
    about = taken if state["known"][taker] else taker
    bound = mine if state["known"][taker] else theirs
    strict, greater = rules["compare"] & EQUAL == 0, rules["compare"] & GREATER > 0
    at_least = (about == taken) == greater
    for player in range(2):
        if player == mover and not rules["total"]:
            continue  # a player who saw the compared numbers learns nothing
        least = bound - state["faces"][about, player] if rules["total"] else bound
        limits = state["bounds"][about, 1 - player]
        if at_least:
            limits[0] = max(limits[0], least + strict)
        else:
            limits[1] = min(limits[1], least - strict)


@stack_kernel
def make_known(state: Record, slot: int, base: int) -> None:
    """Let both players know both faces of a piece from now on."""
    k = kind(state["faces"][slot, 0], state["faces"][slot, 1], base)
    state["unseen"][state["owner"][slot], k] -= 1 - state["known"][slot]
    state["known"][slot] = 1


@stack_kernel
def capture(state: Record, taker: int, taken: int, mover: int, rules: Record) -> None:
    """Carry out a capture (C7 to C11)."""
    mine, theirs = compared_value(state, taker, mover, rules), compared_value(state, taken, mover, rules)
    capture_piece(state, taker, taken, rules)
    state["taker"][taken] = taker
    state["last_captured"] = taken
    if rules["turn"]:  # C8
        make_known(state, taker, rules["base"])
    if rules["reveal"]:  # C9
        make_known(state, taken, rules["base"])
    learn(state, taker, taken, mover, mine, theirs, rules)
    state["quiet"] = 0
    result = result_of_capture(state, taken, rules)
    if result == WON:
        win(state, mover)
    elif result == DRAWN:
        state["done"] = True


@stack_kernel
def move(state: Record, origin: int, distance: int, cell: int, rules: Record) -> None:
    """Move the piece on `origin` by `distance` to `cell` (C6)."""
    mover, slot = state["to_move"], state["board"][origin]
    target = move_piece(state, slot, origin, cell)
    if rules["limit"]:  # C15: its face towards the owner is at least this
        limits = state["bounds"][slot, mover]
        limits[0] = max(limits[0], distance)
    state["quiet"] += 1
    state["passed"] = False
    if target != NO_PIECE:
        capture(state, slot, target, mover, rules)


@stack_kernel
def play(state: Record, action: int, moves: Ints, rules: Record) -> None:
    """Play a legal action (C6 to C13)."""
    mover = state["to_move"]
    if action == rules["resign"]:
        win(state, 1 - mover)  # A2
    elif action == rules["moves"]:  # C12
        state["quiet"] += 1
        state["done"] = state["passed"]
        state["passed"] = True
    else:
        move(state, moves[action, 0], moves[action, 2], moves[action, 3], rules)
    if not state["done"] and 0 < rules["quiet_limit"] <= state["quiet"]:  # C13
        state["done"] = True
        state["truncated"] = True
    state["ply"] += 1
    state["to_move"] = 1 - mover
    state["last_action"] = action


@stack_kernel
def step_batch(states: States, actions: Ints, moves: Ints, neighbours: Ints, settings: States) -> int:
    rules = settings[0]
    for i in range(len(states)):
        state = states[i]
        if not state["done"]:
            if state["viewer"] != NOBODY or not is_legal(state, actions[i], moves, neighbours, rules):
                return i
    for i in range(len(states)):
        state = states[i]
        if not state["done"]:
            play(state, actions[i], moves, rules)
    return -1


@stack_kernel
def ended_by_capture(state: Record, rules: Record) -> bool:
    """Return whether the game was ended by a capture or before the first move (C10, C11)."""
    return state["done"] and state["quiet"] == 0 and not state["last_action"] == rules["resign"] >= 0


@stack_kernel
def set_up_batch(states: States, seeds: Seeds, deck: Ints, settings: States) -> None:
    """Set up both armies (C2, C3, C5); `deck` is from `make_deck`."""
    rules = settings[0]
    order = np.empty(len(deck), np.int64)
    for i in range(len(states)):
        owner, faces = states[i]["owner"], states[i]["faces"]
        for slot in range(len(owner)):
            owner[slot] = NOBODY
        for army in range(2):
            for k in range(len(deck)):
                order[k] = k
            shuffle(seeds, i, order)
            slot = 0 if army == 0 else len(owner) - len(deck)
            for k in range(len(deck)):
                smaller, larger = deck[order[k], 0], deck[order[k], 1]
                if larger > 0:
                    turned = rules["face"] == SMALL or (rules["face"] == RANDOM and draw(seeds, i, 2) == 0)
                    owner[slot] = army
                    faces[slot, army] = smaller if turned else larger
                    faces[slot, 1 - army] = larger if turned else smaller
                slot += 1


@stack_kernel
def start_batch(states: States, settings: States) -> None:
    """Assign slots to the pieces of boards on which `owner` and `faces` are set, and set the initial knowledge.

    A piece that contradicts `face` must have captured (C8). C11 may already apply.
    """
    rules = settings[0]
    for i in range(len(states)):
        state = states[i]
        state["last_captured"] = NO_PIECE
        for slot in range(len(state["cell"])):
            state["taker"][slot] = NO_PIECE
            for player in range(2):
                state["bounds"][slot, player, 0] = 1
                state["bounds"][slot, player, 1] = rules["base"]
            owner = state["owner"][slot]
            if owner == NOBODY:
                state["board"][slot] = NO_PIECE
                state["cell"][slot] = CAPTURED
            else:
                state["board"][slot] = slot
                state["cell"][slot] = slot
                own, far = state["faces"][slot, owner], state["faces"][slot, 1 - owner]
                against = (rules["face"] == LARGE and own < far) or (rules["face"] == SMALL and own > far)
                state["known"][slot] = against
                state["unseen"][owner, kind(own, far, rules["base"])] += not against
        state["done"] = is_dead(state, rules)


def validate_records(states: States, rules: Record) -> None:
    """Raise InvalidStateError for the first row that is not a state or view; `rules` is a record of SETTINGS."""
    base, last = int(rules["base"]), states["owner"].shape[1] - 1
    expect_range(states, "owner", NOBODY, 1)
    for field in ("board", "cell", "taker", "last_captured"):
        expect_range(states, field, -1, last)
    for field in ("known", "legal")[: 1 + bool(rules["total"])]:
        expect_range(states, field, 0, 1)
    expect_range(states, "bounds", 1, base)
    expect_range(states, "faces", 0, base)
    expect_range(states, "quiet", 0, 2**31 - 2)
    expect_flag(states, "passed")
    _validate_places(states)
    _validate_faces(states, rules)
    _validate_unseen(states, base)
    done, returns, limit = states["done"], states["returns"], int(rules["quiet_limit"])
    expect(
        done | (states["quiet"] < limit) | (limit == 0), states, "quiet", f"less than {limit} while the game goes on"
    )
    fair = (np.abs(returns) <= 1).all(axis=1) & (done | (returns == 0).all(axis=1))
    expect(fair, states, "returns", "-1 to 1 at the end, else zeros")


def _validate_places(states: States) -> None:
    """Check that pieces and their cells, and captured pieces and their takers, are consistent."""
    owner, board, cell, taker = (states[name] for name in ("owner", "board", "cell", "taker"))
    rows, slots = np.arange(len(states))[:, None], np.arange(owner.shape[1])
    pieces, captured = owner != NOBODY, (owner != NOBODY) & (cell == CAPTURED)
    expect((board == NO_PIECE) | (cell[rows, board] == slots), states, "board", "pieces that stand where it says")
    stands = (cell == CAPTURED) | (pieces & (board[rows, cell] == slots))
    expect(stands, states, "cell", "pieces that are on the board where it says, else -1")
    taken = (taker >= 0) & (owner[rows, taker] == 1 - owner)
    expect(np.where(captured, taken, taker == NO_PIECE), states, "taker", "an enemy piece for captured ones, else -1")
    last = states["last_captured"].astype(np.int64)
    fits = (last == NO_PIECE) | captured[rows[:, 0], last]
    expect(fits, states, "last_captured", "a captured piece, or -1")
    expect((states["known"] == 0) | pieces, states, "known", "0 where there is no piece")


def _validate_faces(states: States, rules: Record) -> None:
    """Check that faces are present unless hidden from the viewer, and that hideable faces fit the bounds and `face`."""
    owner, faces, viewer = states["owner"], states["faces"], states["viewer"][:, None, None]
    pieces, known = (owner != NOBODY)[:, :, None], (states["known"] == 1)[:, :, None]
    seen = pieces & (known | (viewer == NOBODY) | (viewer == np.arange(2)))
    expect((faces > 0) == seen, states, "faces", "numbers where the viewer sees them, else zeros")
    low, high = states["bounds"][..., 0], states["bounds"][..., 1]
    free = known | ~pieces
    expect(free | (low <= high), states, "bounds", "the least and the greatest number that a face can be")
    expect(free | (faces == 0) | ((low <= faces) & (faces <= high)), states, "faces", "numbers within their bounds")
    if rules["face"] != RANDOM:
        mine = np.take_along_axis(faces, np.maximum(owner, 0)[:, :, None].astype(np.int64), axis=2)[..., 0]
        far = faces.sum(axis=2) - mine
        lies = mine >= far if rules["face"] == LARGE else mine <= far
        open_faces = (faces > 0).all(axis=2) & (states["known"] == 0)
        expect(~open_faces | lies, states, "faces", "the side towards its owner that `face` says")


def _validate_unseen(states: States, base: int) -> None:
    """Check that `unseen` counts the pieces not known to both players, and only existing kinds."""
    owner, faces, unseen = states["owner"], states["faces"].astype(np.int64), states["unseen"]
    kinds = KINDS[base][faces[..., 0], faces[..., 1]]
    unknown = (owner != NOBODY) & (states["known"] == 0)
    shown = unknown & (faces > 0).all(axis=2)
    for army in range(2):
        total, counts = (unknown & (owner == army)).sum(axis=1), unseen[:, army]
        expect((counts >= 0).all(axis=1) & (counts.sum(axis=1, dtype=np.int64) == total), states, "unseen",
               "the kinds of all pieces that are not known to both, of each army")  # fmt: skip
        for k in range(counts.shape[1]):
            count = (shown & (owner == army) & (kinds == k)).sum(axis=1)
            expect(count <= counts[:, k], states, "unseen", "at least the pieces whose faces are in the record")
