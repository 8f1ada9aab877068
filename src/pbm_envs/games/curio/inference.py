"""The possible values of faces hidden from a player of Curio (C5, C8, C9, C15).

Player w sees face w of every piece, and face 1 - w is hidden, unless the piece is known to both. The hidden pieces of
an army are, in some order, its initial pieces without its known ones: its *pool*. A hidden piece that shows v and hides
h uses one piece {v, h} of the pool; h obeys the piece's bounds and the initial orientation.
"""

from __future__ import annotations

import numpy as np

from ...core.kernels import stack_kernel
from ...core.state import NOBODY, Ints, Record, States
from .pieces import LARGE
from .rules import kind


@stack_kernel
def shows_larger(army: int, seen: int, rules: Record) -> bool:
    """Return whether player `seen` sees the larger numbers of this army's pieces that have not turned (C5)."""
    return (army == seen) == (rules["face"] == LARGE)


@stack_kernel
def assign(count: int, fits: Ints, pool: Ints, given: Ints, scratch: Ints) -> None:
    """Give each of `count` slots a kind k of `fits[slot]`, each at most `pool[k]` times, by augmenting paths.

    `given` becomes -1 for slots to which no kind can be given.
    """
    kinds = len(pool)
    left, through, queue = scratch[0], scratch[1], scratch[2]  # through[k]: slot that would change to kind k
    for k in range(kinds):
        left[k] = pool[k]
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
            continue  # impossible in the view of a game
        left[free] -= 1
        mover = through[free]
        while mover != slot:
            free, given[mover] = given[mover], free
            mover = through[free]
        given[slot] = free


@stack_kernel
def find_hidden_turned(view: Record, army: int, seen: int, base: int, pool: Ints, out: Ints, scratch: Ints) -> None:
    """Under `face` "random", set bit h of `out[slot]` if the face hidden from `seen` can be h.

    Each slot gets a kind. All other assignments result from this one by cycles of exchanges, so a slot can have kind k
    if and only if its present kind can be reached from k (Regin 1994). `scratch` is (7, slots or kinds) or more.
    """
    kinds = len(pool)
    owner, faces, bounds = view["owner"], view["faces"], view["bounds"]
    hidden, fits, given, reached = scratch[3], scratch[4], scratch[5], scratch[6]
    count = 0  # hidden[:count] are the army's slots that hide a face
    for slot in range(len(owner)):
        if owner[slot] == army and faces[slot, 1 - seen] == 0:
            hidden[count], fits[count], out[slot] = slot, 0, 0
            for h in range(bounds[slot, 1 - seen, 0], bounds[slot, 1 - seen, 1] + 1):
                k = kind(faces[slot, seen], h, base)
                if pool[k] > 0:
                    out[slot] |= 1 << h
                    fits[count] |= 1 << k
            count += 1
        elif owner[slot] == army:
            out[slot] = 1 << faces[slot, 1 - seen]
    assign(count, fits, pool, given, scratch)
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


@stack_kernel
def split_pool(pool: Ints, base: int, larger: bool, hidden: Ints) -> None:
    """Under `face` "large" and "small", set `hidden[v, h]` to the number of pieces of a pool that show v and hide h.

    They show the larger of their numbers if `larger`, else the smaller.
    """
    k = 0
    for a in range(1, base + 1):
        for b in range(a, base + 1):
            hidden[a, b], hidden[b, a] = 0, 0
            if larger:
                hidden[b, a] = pool[k]
            else:
                hidden[a, b] = pool[k]
            k += 1


@stack_kernel
def narrow_group(
    view: Record, army: int, shown: int, seen: int, rules: Record, open_values: int, out: Ints, bound: Ints
) -> None:
    """Remove from `out` values that the other pieces of a group need (Hall), although a piece's own bounds allow them.

    The pieces of a group show the same number and hide given values, in some order. If the number of slots bound to a
    range equals the number of values in it, those slots use all of them. It suffices to check ranges from the least
    value of one slot to the greatest of another, among slots whose bounds exclude a value of the pool. `open_values`
    are the values that the group hides, as bits, and so is `out[slot]`; `bound` (slots,) is scratch.
    """
    owner, faces, limits, far, count = view["owner"], view["faces"], view["bounds"], seen ^ 1, 0
    leasts, greatests, every_value = 0, 0, (2 << rules["base"]) - 1
    for slot in range(len(owner)):
        if owner[slot] == army and faces[slot, seen] == shown and faces[slot, far] == 0 and out[slot] != open_values:
            bound[count] = slot
            count += 1
            leasts |= 1 << limits[slot, far, 0]
            greatests |= 1 << limits[slot, far, 1]
    for low in range(1, rules["base"] + 1):
        if leasts >> low & 1:
            free = 0
            for high in range(low, rules["base"] + 1):
                if open_values >> high & 1:
                    free += view["unseen"][army, kind(shown, high, rules["base"])]
                if greatests >> high & 1:
                    inside = 0
                    for k in range(count):
                        inside += limits[bound[k], far, 0] >= low and limits[bound[k], far, 1] <= high
                    if inside == free:
                        for slot in range(len(owner)):
                            if owner[slot] == army and faces[slot, seen] == shown and faces[slot, far] == 0:
                                if limits[slot, far, 0] < low or limits[slot, far, 1] > high:
                                    out[slot] &= every_value ^ ((2 << high) - (1 << low))


@stack_kernel
def narrow_groups(view: Record, seen: int, rules: Record, out: Ints, values: Ints, bound: Ints) -> None:
    """Call `narrow_group` for each group in which a slot cannot hide all values of the pool."""
    owner, faces, numbers, narrowed = view["owner"], view["faces"], rules["base"] + 1, 0
    for slot in range(len(owner)):
        army, shown = int(owner[slot] & 1), int(faces[slot, seen])
        narrowed |= int(faces[slot, seen ^ 1] == 0 and out[slot] != values[army, shown]) << (army * numbers + shown)
    for group in range(2 * numbers):
        if narrowed >> group & 1:
            army, shown = group // numbers, group % numbers
            narrow_group(view, army, shown, seen, rules, values[army, shown], out, bound)


@stack_kernel
def list_pairs(rules: Record, pairs: Ints) -> None:
    """Under `face` "large" and "small", set `pairs[k]` to the numbers of kind k, that facing the owner first."""
    base, k = rules["base"], 0
    for a in range(1, base + 1):
        for b in range(a, base + 1):
            pairs[k, 0], pairs[k, 1] = (b, a) if rules["face"] == LARGE else (a, b)
            k += 1


@stack_kernel
def hidden_by_number(unseen: Ints, seen: int, pairs: Ints, values: Ints) -> None:
    """Under `face` "large" and "small", set bit h of `values[army, v]` if the pool has pieces that show v and hide h.

    The pool is `unseen`, and `pairs` are from `list_pairs`.
    """
    mine, enemy = np.uint64(seen), np.uint64(seen ^ 1)
    for army in range(2):
        for v in range(values.shape[1]):  # 0: shown by captured and missing pieces
            values[army, v] = 0
    for k in range(len(pairs)):
        own, far = np.uint64(pairs[k, 0]), np.uint64(pairs[k, 1])
        values[mine, own] |= int(unseen[mine, k] > 0) << pairs[k, 1]
        values[enemy, far] |= int(unseen[enemy, k] > 0) << pairs[k, 0]


@stack_kernel
def find_hidden(view: Record, seen: int, rules: Record, pairs: Ints, out: Ints, values: Ints, bound: Ints) -> None:
    """Under `face` "large" and "small", set bit h of `out[slot]` if the face hidden from `seen` can be h.

    The hidden pieces of an army that show the same number are a group: a piece can hide every value that the pool and
    its own bounds allow, unless bounds restrict a piece of the group further than the pool does. The loop over slots
    is branch-free, since branches would be unpredictable. `values` (2, base + 1) and `bound` (slots,) are scratch.
    """
    owner, faces, bounds, narrowed = view["owner"], view["faces"], view["bounds"], 0
    near, far = np.uint64(seen), np.uint64(seen ^ 1)
    hidden_by_number(view["unseen"], seen, pairs, values)
    for k in range(len(owner)):
        slot = np.uint64(k)
        known, open_values = int(faces[slot, far]), values[np.uint64(owner[slot] & 1), np.uint64(faces[slot, near])]
        bits = open_values & ((2 << int(bounds[slot, far, 1])) - (1 << int(bounds[slot, far, 0])))
        out[slot] = 1 << known if known else bits
        narrowed |= 0 if known else bits ^ open_values
    if narrowed:
        narrow_groups(view, seen, rules, out, values, bound)


@stack_kernel
def find_hidden_batch(views: States, out: Ints, settings: States) -> None:
    """Call `find_hidden_turned` for `out[i]` (B, slots). Games with other options do not compile this kernel."""
    base, cells = settings[0]["base"], out.shape[1]
    scratch = np.empty((7, max(base * (base + 1) // 2, cells)), np.int64)
    for i in range(len(views)):
        seen = 0 if views[i]["viewer"] == NOBODY else int(views[i]["viewer"])
        for army in range(2):
            find_hidden_turned(views[i], army, seen, base, views[i]["unseen"][army], out[i], scratch)
