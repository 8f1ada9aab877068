"""A player's knowledge about hidden faces in Curio, as conditions of three kinds, for the Markov chain of `chain`.

The conditions are the values that each piece may hide, pairs of pieces of which one is known to beat the other or not,
and armies that still have a royal piece.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.kernels import kernel
from ...core.state import NOBODY, Ints, Record
from .pieces import ANY, CAPTURED, DIRECTIONS, NO_PIECE, has_royal, reach
from .rules import ended_by_capture, kind

MINE, WANTED = 1, 2
"""Bits of a pair from the side of one piece. MINE: this piece is the capturer. WANTED: the capturer beats the other."""


class Conditions(NamedTuple):
    """The known conditions on hidden faces. Made inside kernels."""

    allowed: Ints  # (cells,) from `list_allowed`
    worth: Ints  # (cells,) captures compare `worth + hides`
    offsets: Ints  # (cells + 1,) the pairs of a slot are numbers `offsets[slot]` to `offsets[slot + 1]`
    others: Ints  # (2 * pairs,) the other piece of a pair
    roles: Ints  # (2 * pairs,) bits MINE and WANTED
    royal: Ints  # (cells,) 1 for a piece on the board that is royal only if it hides `base`
    need: Ints  # (2,) 1 for an army that has a royal piece (C10)


@kernel
def list_allowed(view: Record, rules: Record, allowed: Ints) -> None:
    """Set bit h of `allowed[slot]` if the slot, considered alone, can hide h; 0 for slots that hide nothing."""
    seen, base = view["viewer"], rules["base"]
    ended = ended_by_capture(view, rules)
    for slot in range(len(allowed)):
        allowed[slot] = 0
        army, shown = view["owner"][slot], view["faces"][slot, seen]
        if army == NOBODY or view["faces"][slot, 1 - seen]:
            continue
        low, high = int(view["bounds"][slot, 1 - seen, 0]), int(view["bounds"][slot, 1 - seen, 1])
        if ended and view["returns"][army] < 0 and view["cell"][slot] != CAPTURED:
            high = min(high, base - 1)  # C10: no royal piece is left
        if ended and view["returns"][0] != 0 and view["last_captured"] == slot and shown != base:
            low = base  # C10: the last capture took one
        allowed[slot] = (2 << high) - (1 << low) if low <= high else 0


@kernel
def list_pairs(view: Record, rules: Record, steps: Ints, legal: Ints, pairs: Ints) -> int:
    """Write to `pairs` (capturer, target, whether it beats the target) if known to the viewer; return their number.

    `steps` are those of `list_moves`; `legal` (actions,) is read only under `*_total`, at the viewer's turn.
    """
    seen, total = view["viewer"], rules["total"]
    owner, where, board = view["owner"], view["cell"], view["board"]
    count = 0
    if rules["compare"] == ANY:
        return 0
    for slot in range(len(owner)) if not rules["turn"] and not rules["reveal"] else range(0):
        taker = view["taker"][slot]  # under other options, `bounds` contain everything
        if taker >= 0 and (total or owner[taker] != seen):
            pairs[count, 0], pairs[count, 1], pairs[count, 2] = taker, slot, 1
            count += 1
    if total and view["to_move"] == seen and not view["done"]:  # C7: the mover knows their legal actions
        for slot in range(len(owner)):
            if owner[slot] == seen and where[slot] != CAPTURED:
                for d in range(DIRECTIONS):
                    way = where[slot] * DIRECTIONS + d
                    action, cell = steps[0, way], steps[1, way]
                    for k in range(reach(view, slot, rules)):
                        if cell < 0:
                            break
                        target = board[cell]
                        if target != NO_PIECE:
                            if owner[target] != seen:
                                pairs[count, 0], pairs[count, 1] = slot, target
                                pairs[count, 2] = legal[action + k]
                                count += 1
                            break
                        cell = steps[1, cell * DIRECTIONS + d]
    if ended_by_capture(view, rules) and view["returns"][0] == 0:  # C11: no capture is possible
        light, dark = 0, 0
        for slot in range(len(where)):
            light += where[slot] != CAPTURED and owner[slot] == 0
            dark += where[slot] != CAPTURED and owner[slot] == 1
        for slot in range(len(where)) if light > 1 or dark > 1 else range(0):
            for target in range(len(where)):
                if where[slot] != CAPTURED and where[target] != CAPTURED and owner[slot] == 1 - owner[target]:
                    if total or owner[slot] != seen:
                        pairs[count, 0], pairs[count, 1], pairs[count, 2] = slot, target, 0
                        count += 1
    return count


@kernel
def join_pairs(pairs: Ints, count: int, offsets: Ints, others: Ints, roles: Ints) -> None:
    """List the pairs of each slot, from both sides: see `Conditions`."""
    offsets[:] = 0
    for k in range(count):
        offsets[pairs[k, 0] + 1] += 1
        offsets[pairs[k, 1] + 1] += 1
    for slot in range(1, len(offsets)):
        offsets[slot] += offsets[slot - 1]
    for k in range(count):
        for side in range(2):
            slot = pairs[k, side]
            others[offsets[slot]] = pairs[k, 1 - side]
            roles[offsets[slot]] = (1 - side) * MINE + pairs[k, 2] * WANTED
            offsets[slot] += 1
    for slot in range(len(offsets) - 1, 0, -1):
        offsets[slot] = offsets[slot - 1]
    offsets[0] = 0


@kernel
def list_conditions(view: Record, rules: Record, steps: Ints, legal: Ints, allowed: Ints) -> Conditions:
    seen, base, cells, alive = view["viewer"], rules["base"], len(allowed), 0
    worth, royal, need = np.zeros(cells, np.int64), np.zeros(cells, np.int64), np.zeros(2, np.int64)
    for slot in range(cells):
        if view["owner"][slot] != NOBODY:
            shown, far = int(view["faces"][slot, seen]), int(view["faces"][slot, 1 - seen])
            worth[slot] = far + (shown if rules["total"] else 0)
            royal[slot] = far == 0 and shown != base and view["cell"][slot] != CAPTURED
            alive += view["cell"][slot] != CAPTURED
    for army in range(2):
        need[army] = has_royal(view, army, base, True)
        for v in range(1, base + 1):
            if view["unseen"][army, kind(v, base, base)]:
                need[army] = 1
        if has_royal(view, army, base, False) or (ended_by_capture(view, rules) and view["returns"][army] < 0):
            need[army] = 0  # it is visible, or captured
    pairs = np.empty((cells * (DIRECTIONS + 1) + (alive * alive if ended_by_capture(view, rules) else 0), 3), np.int64)
    count = list_pairs(view, rules, steps, legal, pairs)
    offsets, others = np.empty(cells + 1, np.int64), np.empty(2 * count, np.int64)
    roles = np.empty(2 * count, np.int64)
    join_pairs(pairs, count, offsets, others, roles)
    return Conditions(allowed, worth, offsets, others, roles, royal, need)
