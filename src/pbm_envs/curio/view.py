"""What a player of Curio knows (C5, C8, C9, C15): hiding, what a hidden face can still be, observation planes.

Seen by player w, face w of every piece is open and face 1 - w hidden, unless the piece is known to both. The hidden
pieces of an army are, in some order, its pieces at the start less its known ones: its *pool*. A hidden piece that shows
v and has h on the other side uses up one piece {v, h} of the pool; h obeys the piece's bounds and the opening
orientation.
"""

from __future__ import annotations

import numpy as np

from ..kernels import kernel
from ..state import NOBODY, Ints, Planes, Record, States
from .rules import BASE, FACE, LARGE, NO_PIECE, RANDOM, kind

MOST = 127
"""Counts in int8 planes stop here."""


def planes(base: int) -> dict[str, str]:
    kinds = [f"{a}{b}" for a in range(1, base + 1) for b in range(a, base + 1)]
    table = {"mine": "my piece", "enemy": "an enemy piece"}
    table |= {f"shows {v}": f"the face towards me is {v}" for v in range(1, base + 1)}
    table |= {f"may hide {v}": f"the face away from me is {v}, or can still be" for v in range(1, base + 1)}
    table |= {
        "known": "both players know both faces (C8)",
        "I am Light": "the viewer sits below row 1",
        "I am Dark": "the viewer sits above the last row",
        "my turn": "the viewer is to move",
        "quiet": f"plies since the last capture, at most {MOST} (C13)",
        "passed": "the last ply was a pass (C12)",
    }
    table |= {f"my {ab} unseen": f"how many of my pieces {ab} are not known to both" for ab in kinds}
    table |= {f"enemy {ab} unseen": f"how many enemy pieces {ab} are not known to both" for ab in kinds}
    return table


@kernel
def hide_batch(states: States, views: States, base: int) -> None:
    for i in range(len(views)):
        seen = views[i]["viewer"]
        views[i] = states[i]
        view = views[i]
        view["viewer"] = seen
        for slot in range(len(view["owner"])):
            if view["owner"][slot] == NOBODY:
                continue
            view["bounds"][slot, seen, 0] = 1
            view["bounds"][slot, seen, 1] = base
            if view["known"][slot]:
                view["bounds"][slot, 1 - seen, 0] = 1
                view["bounds"][slot, 1 - seen, 1] = base
            else:
                view["faces"][slot, 1 - seen] = 0


@kernel
def count_pool(view: Record, army: int, base: int, pool: Ints) -> None:
    """The pieces of an army that are not known, by kind."""
    pool[:] = view["sets"][army]
    for slot in range(len(view["owner"])):
        if view["owner"][slot] == army and view["known"][slot]:
            pool[kind(view["faces"][slot, 0], view["faces"][slot, 1], base)] -= 1


@kernel
def shows_larger(army: int, seen: int, options: Ints) -> bool:
    """C5: does player `seen` see the larger numbers of this army's pieces that have not turned?"""
    return (army == seen) == (options[FACE] == LARGE)


@kernel
def assign(count: int, fits: Ints, pool: Ints, given: Ints, room: Ints) -> None:
    """Give each of `count` slots a kind that it fits (bit k of `fits[slot]`), each kind k at most `pool[k]` times, by
    augmenting paths. `given` is -1 for slots that fit nothing.
    """
    kinds = len(pool)
    left, through, queue = room[0], room[1], room[2]  # through[k]: the slot that would change to kind k
    left[:kinds] = pool
    for slot in range(count):
        given[slot] = -1
        through[:kinds] = -1
        head, tail, free = 0, 0, -1
        if fits[slot] == 0:
            continue
        for k in range(kinds):
            if fits[slot] >> k & 1:
                through[k] = slot
                queue[tail] = k
                tail += 1
                if left[k] > 0:
                    free = k
                    break
        while free < 0 and head < tail:
            full = queue[head]
            head += 1
            for other in range(slot):
                if free < 0 and given[other] == full:
                    for k in range(kinds):
                        if fits[other] >> k & 1 and through[k] < 0:
                            through[k] = other
                            queue[tail] = k
                            tail += 1
                            if left[k] > 0:
                                free = k
                                break
        if free < 0:
            continue  # not in the view of any game
        left[free] -= 1
        mover = through[free]
        while mover != slot:
            free, given[mover] = given[mover], free
            mover = through[free]
        given[slot] = free


@kernel
def can_hide(view: Record, army: int, seen: int, options: Ints, pool: Ints, out: Ints, room: Ints) -> None:
    """Bit h of `out[slot]`: the face hidden from `seen` can be h; exact as far as pool, orientation and bounds go.

    Among the pieces that show the same number, if all have the same possibilities, each can be each. Else one
    assignment is made; from it all others arise by cycles of exchanges, so a slot can become kind k just if its present
    kind can be reached from k (Regin 1994). `room` is (7, slots or kinds) or more to work in.
    """
    base, kinds = options[BASE], len(pool)
    owner, faces, bounds = view["owner"], view["faces"], view["bounds"]
    left, same = room[0], room[1]  # values left in the pool and the first slot's possibilities, for each number shown
    for shown in range(1, base + 1):
        left[shown], same[shown] = 0, 0
        for h in range(1, base + 1):
            fitting = options[FACE] == RANDOM or h == shown or (h < shown) == shows_larger(army, seen, options)
            if fitting and pool[kind(shown, h, base)] > 0:
                left[shown] |= 1 << h
    mixed = options[FACE] == RANDOM
    for slot in range(len(out)):
        if owner[slot] == army and faces[slot, 1 - seen] == 0:
            shown = faces[slot, seen]
            limits = bounds[slot, 1 - seen]
            bits = left[shown] & ((2 << int(limits[1])) - (1 << int(limits[0])))
            out[slot] = bits
            mixed = mixed or (same[shown] != 0 and same[shown] != bits)
            same[shown] = bits
    if not mixed:
        return
    hidden, fits, given, reached = room[3], room[4], room[5], room[6]
    count = 0  # hidden[:count] are the army's slots that hide a face
    for slot in range(len(out)):
        if owner[slot] == army and faces[slot, 1 - seen] == 0:
            hidden[count], fits[count] = slot, 0
            for h in range(1, base + 1):
                if out[slot] >> h & 1:
                    fits[count] |= 1 << kind(faces[slot, seen], h, base)
            count += 1
    assign(count, fits, pool, given, room)
    reached[:kinds] = 0  # bit k of reached[j]: a slot of kind j can become k
    for j in range(count):
        if given[j] >= 0:
            reached[given[j]] |= fits[j]
    for middle in range(kinds):
        for k in range(kinds):
            if reached[k] >> middle & 1:
                reached[k] |= reached[middle]
    for j in range(count):
        for h in range(1, base + 1):
            k = kind(faces[hidden[j], seen], h, base)
            if fits[j] >> k & 1 and not (k == given[j] or reached[k] >> given[j] & 1):
                out[hidden[j]] ^= 1 << h


@kernel
def observe_batch(views: States, out: Planes, options: Ints) -> None:
    base = options[BASE]
    kinds = base * (base + 1) // 2
    status = 2 + 2 * base
    cells = out.shape[1] * out.shape[2]
    room = np.empty((10, max(kinds, cells)), np.int64)
    hides, pool = room[7, :cells], room[8:]
    same = np.zeros(out.shape[3], np.int8)  # the planes that are the same on every cell
    places = out.reshape(len(out) * cells, len(same))
    for i in range(len(views)):
        view = views[i]
        seen = 0 if view["viewer"] == NOBODY else int(view["viewer"])
        for army in range(2):
            count_pool(view, army, base, pool[army, :kinds])
            can_hide(view, army, seen, options, pool[army, :kinds], hides, room)
        same[status + 1 + seen] = 1
        same[status + 2 - seen] = 0
        same[status + 3] = view["to_move"] == seen and not view["done"]
        same[status + 4] = min(view["quiet"], MOST)
        same[status + 5] = view["passed"]
        for k in range(kinds):
            same[status + 6 + k] = min(pool[seen, k], MOST)
            same[status + 6 + kinds + k] = min(pool[1 - seen, k], MOST)
        board, owner, faces, known = view["board"], view["owner"], view["faces"], view["known"]
        for cell in range(cells):
            for k in range(len(same)):
                places[i * cells + cell, k] = same[k]
        for cell in range(cells):
            slot = board[cell]
            if slot != NO_PIECE:
                here = places[i * cells + cell]
                here[0 if owner[slot] == seen else 1] = 1
                here[1 + faces[slot, seen]] = 1
                far = int(faces[slot, 1 - seen])
                bits = hides[slot] if far == 0 else 1 << far
                for h in range(1, base + 1):
                    here[1 + base + h] = bits >> h & 1
                here[status] = known[slot]
