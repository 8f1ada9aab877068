"""What a player of Curio knows (C5, C8, C9, C15): hiding, what a hidden face can still be, observation planes.

Seen by player w, face w of every piece is open and face 1 - w hidden, unless the piece is known to both. The hidden
pieces of an army are, in some order, its pieces at the start less its known ones: its *pool*. A hidden piece that shows
v and has h on the other side uses up one piece {v, h} of the pool; h obeys the piece's bounds and the opening
orientation.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ...core.kernels import stack_kernel
from ...core.state import NOBODY
from ...core.types import Ints, Planes, Record, States
from ...core.words import WORD, flat, load_half, load_word, records_of_words, store_half, store_word
from .rules import LARGE, MOST_BASE, kind

MOST = 127
"""Counts in int8 planes stop here."""
EXCHANGED_SEATS = {"I am Light": "I am Dark", "I am Dark": "I am Light"}
"""Planes that change places when Light and Dark do."""
NUMBERS = np.dtype(
    [(name, "i8") for name in ("mine", "enemy", "shows", "hides", "known", "light", "turn", "quiet", "passed")]
    + [("my_unseen", "i8"), ("enemy_unseen", "i8")]
)
"""The planes by number, for kernels; of several in a row the first."""
NO_BOUNDS = np.array([[1, base] * 2 for base in range(MOST_BASE + 1)], np.int8).view(np.uint32)[:, 0].astype(np.uint64)
"""(bases,) the bounds of a piece of which nothing is known, as half a word."""
FACE_BOUNDS, FACE_BITS = np.uint64(0xFFFF), np.uint64(16)
"""Of half a word, the bounds of the first face; how many bits these are."""


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


def plane_numbers(base: int) -> States:
    """One record of NUMBERS: where the planes are."""
    numbers, index = np.zeros(1, NUMBERS), list(planes(base)).index
    for name, first in (
        ("mine", "mine"),
        ("enemy", "enemy"),
        ("shows", "shows 1"),
        ("hides", "may hide 1"),
        ("known", "known"),
        ("light", "I am Light"),
        ("turn", "my turn"),
        ("quiet", "quiet"),
        ("passed", "passed"),
        ("my_unseen", "my 11 unseen"),
        ("enemy_unseen", "enemy 11 unseen"),
    ):
        numbers[name] = index(first)
    return numbers


@stack_kernel
def hide_batch(states: States, views: States, base: int) -> None:
    """Copy to `views`, whose `viewer` is set, what the viewers know: no faces that they have not seen, and no bounds of
    faces that they have.

    The bounds of a piece are read and written at once, and read from the state, since the processor would wait for a
    copy that has just been written. (There are no branches, since they could not be foreseen.)
    """
    no_bounds = NO_BOUNDS[base]
    for i in range(len(views)):
        seen = np.uint64(views[i]["viewer"])
        views[i] = states[i]
        state, view = states[i], views[i]
        view["viewer"] = seen
        known, faces, bounds = state["known"], state["faces"], state["bounds"]
        shown, limits, far = view["faces"], view["bounds"], seen ^ np.uint64(1)
        seen_bounds = FACE_BOUNDS << seen * FACE_BITS
        for k in range(len(known)):
            slot = np.uint64(k)
            shown[slot, far] = faces[slot, far] * known[slot]
            told = load_half(bounds, 4 * k)
            reset = seen_bounds | (FACE_BOUNDS * np.uint64(known[slot])) << far * FACE_BITS
            store_half(limits, 4 * k, told ^ (told ^ no_bounds) & reset)


@stack_kernel
def shows_larger(army: int, seen: int, rules: Record) -> bool:
    """C5: does player `seen` see the larger numbers of this army's pieces that have not turned?"""
    return (army == seen) == (rules["face"] == LARGE)


@stack_kernel
def assign(count: int, fits: Ints, pool: Ints, given: Ints, scratch: Ints) -> None:
    """Give each of `count` slots a kind that it fits (bit k of `fits[slot]`), each kind k at most `pool[k]` times, by
    augmenting paths. `given` is -1 for slots that fit nothing.
    """
    kinds = len(pool)
    left, through, queue = scratch[0], scratch[1], scratch[2]  # through[k]: the slot that would change to kind k
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
            continue  # not in the view of any game
        left[free] -= 1
        mover = through[free]
        while mover != slot:
            free, given[mover] = given[mover], free
            mover = through[free]
        given[slot] = free


@stack_kernel
def find_hidden_turned(view: Record, army: int, seen: int, base: int, pool: Ints, out: Ints, scratch: Ints) -> None:
    """For `face` "random": bit h of `out[slot]`: the face hidden from `seen` can be h.

    Each slot gets a kind; from this assignment all others arise by cycles of exchanges, so a slot can become kind k
    just if its present kind can be reached from k (Regin 1994). `scratch` is (7, slots or kinds) or more to work in.
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
    """For `face` "large" and "small": `hidden[v, h]` becomes the number of pieces of a pool that show v and hide h, to
    a player who sees their larger (else their smaller) numbers.
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
    """Take from `out` the values that hidden pieces of a group have not, although their own bounds allow them.

    The pieces of a group show the same number and hide, in some order, given values. If as many slots are bound to a
    range as there are values in it, then these are theirs and no other slot's (Hall). It is enough to look at ranges
    from the least value of one slot to the greatest of one, of slots whose bounds exclude a value of the pool.

    Args:
        view: The view, whose bounds count.
        army: The army of the group.
        shown: The number that its pieces show.
        seen: The player whose view it is.
        rules: The settings.
        open_values: The values that the group hides, as bits.
        out: (slots,) bit h: the slot can hide h. Changed in place.
        bound: (slots,) to work in.
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
    """`narrow_group` for those groups of which a slot cannot hide all that the pool has."""
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
    """For `face` "large" and "small": `pairs[k]` becomes the numbers of a piece of kind k that has not turned, the one
    that its owner sees first.
    """
    base, k = rules["base"], 0
    for a in range(1, base + 1):
        for b in range(a, base + 1):
            pairs[k, 0], pairs[k, 1] = (b, a) if rules["face"] == LARGE else (a, b)
            k += 1


@stack_kernel
def hidden_by_number(unseen: Ints, seen: int, pairs: Ints, values: Ints) -> None:
    """For `face` "large" and "small": bit h of `values[army, v]`: a hidden piece of the army that shows v may hide h,
    as far as the pool, `unseen`, says. `pairs` are of `list_pairs`.
    """
    mine, enemy = np.uint64(seen), np.uint64(seen ^ 1)
    for army in range(2):
        for v in range(values.shape[1]):  # 0: what a captured piece or none shows
            values[army, v] = 0
    for k in range(len(pairs)):
        own, far = np.uint64(pairs[k, 0]), np.uint64(pairs[k, 1])
        values[mine, own] |= int(unseen[mine, k] > 0) << pairs[k, 1]
        values[enemy, far] |= int(unseen[enemy, k] > 0) << pairs[k, 0]


@stack_kernel
def find_hidden(view: Record, seen: int, rules: Record, pairs: Ints, out: Ints, values: Ints, bound: Ints) -> None:
    """For `face` "large" and "small": bit h of `out[slot]`: the face hidden from `seen` can be h.

    The pieces of an army that show the same number and hide the other are a group: what the pool and its own bounds
    leave to a piece is all, unless bounds have left one of the group less than the pool. There are no branches in the
    loop over the slots, since they could not be foreseen. `values` (2, base + 1) and `bound` (slots,) are to work in.
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


def piece_words(base: int) -> tuple[States, States]:
    """The planes of a cell as words.

    Returns:
        `looks`: (4 * (base + 1) * 2 ** (base + 1),) in row `look_of(known, mine, v, hides, base)`: whose piece it is,
        the number v that it shows, whether it is known, and the numbers that it can hide, the bits of `hides`; nothing
        for v = 0 and no bits. Its field `words` has only the first words of a cell, which have all planes of its piece.
        `empty`: (1,) all words of a cell that fit it whole, zeros: kernels read off how many there are, a constant.
    """
    table = list(planes(base))
    index, own_planes = table.index, table.index("known") + 1
    looks = np.zeros((2, 2, base + 1, 2 << base, own_planes), np.int8)
    for known, mine, v in product((0, 1), (0, 1), range(1, base + 1)):
        look = looks[known, mine, v]
        look[:, [index("mine" if mine else "enemy"), index(f"shows {v}")]], look[:, index("known")] = 1, known
    for h in range(1, base + 1):
        looks[..., index(f"may hide {h}")] = np.arange(2 << base) >> h & 1
    empty = np.zeros((1, len(table) // WORD * WORD), np.int8)
    return records_of_words(looks.reshape(-1, own_planes)), records_of_words(empty)


@stack_kernel
def look_of(known: int, mine: int, shown: int, hides: int, base: int) -> int:
    """The row of `looks`."""
    return ((2 * known + mine) * (base + 1) + shown) * (2 << base) + hides


@stack_kernel
def find_hidden_batch(views: States, out: Ints, settings: States) -> None:
    """For `face` "random": `out[i, slot]` (B, slots) as `find_hidden_turned` has it. (A kernel of its own, so that
    games by the other options need not compile it.)
    """
    base, cells = settings[0]["base"], out.shape[1]
    scratch = np.empty((7, max(base * (base + 1) // 2, cells)), np.int64)
    for i in range(len(views)):
        seen = 0 if views[i]["viewer"] == NOBODY else int(views[i]["viewer"])
        for army in range(2):
            find_hidden_turned(views[i], army, seen, base, views[i]["unseen"][army], out[i], scratch)


@stack_kernel
def find_looks(view: Record, seen: int, base: int, hides: Ints, look: Ints) -> None:
    """`look[slot]` becomes the row of `looks` for each piece; `hides[slot]`: the numbers that it can hide, as bits."""
    owner, faces, known = view["owner"], view["faces"], view["known"]
    for slot in range(len(owner)):
        look[slot] = look_of(known[slot], owner[slot] == seen, faces[slot, seen], hides[slot], base)


@stack_kernel
def fill_same(view: Record, seen: int, planes: Record, same: Planes) -> None:
    """Write the planes that are the same on every cell."""
    unseen, mine, enemy = view["unseen"], int(planes["my_unseen"]), int(planes["enemy_unseen"])
    same[planes["light"] + seen] = 1
    same[planes["light"] + 1 - seen] = 0
    same[planes["turn"]] = view["to_move"] == seen and not view["done"]
    same[planes["quiet"]] = min(view["quiet"], MOST)
    same[planes["passed"]] = view["passed"]
    for k in range(unseen.shape[1]):
        same[mine + k] = min(unseen[seen, k], MOST)
        same[enemy + k] = min(unseen[1 - seen, k], MOST)


@stack_kernel
def write_cells(
    board: Ints, look: Ints, looks: States, empty: States, same: Planes, width: int, at: int, out: Planes
) -> None:
    """Write an observation from the byte `at` of `out` on, each cell in words: the planes that are the same on every
    cell, `same`, together with those of its piece.
    """
    own, words, tail = len(looks[0]["words"]), len(empty[0]["words"]), load_word(same, width - WORD)
    for cell in range(len(board)):
        slot = np.uint16(board[cell] if board[cell] >= 0 else len(board))
        piece = looks[np.uint64(look[slot])]["words"]
        for k in range(own):
            store_word(out, at + k * WORD, load_word(same, k * WORD) | piece[k])
        for k in range(own, words):
            store_word(out, at + k * WORD, load_word(same, k * WORD))
        at += width
        store_word(out, at - WORD, tail)


@stack_kernel
def observe_batch(
    views: States, out: Planes, candidates: Ints, looks: States, empty: States, settings: States, plane_numbers: States
) -> None:
    """Write the observations of `views`.

    Args:
        views: (B,)
        out: (B, rows, cols, planes)
        candidates: (B, slots) what `find_hidden_batch` has found, for `face` "random"; else (0, 0).
        looks: As `piece_words` has them.
        empty: The same.
        settings: One record of SETTINGS.
        plane_numbers: One record of NUMBERS.
    """
    rules, base, cells, width = settings[0], settings[0]["base"], out.shape[1] * out.shape[2], out.shape[3]
    pairs, values = np.empty((base * (base + 1) // 2, 2), np.int64), np.empty((2, base + 1), np.int64)
    look, hides = np.zeros(cells + 1, np.uint16), np.empty(cells, np.uint16)  # by slot; look[cells] is nothing
    bound = np.empty(cells, np.int64)
    same = np.zeros(-(-width // WORD) * WORD, np.int8)  # the planes that are the same on every cell
    row = flat(out)
    list_pairs(rules, pairs)
    for i in range(len(views)):
        view = views[i]
        seen = 0 if view["viewer"] == NOBODY else int(view["viewer"])
        fill_same(view, seen, plane_numbers[0], same)
        if candidates.size:
            for slot in range(cells):
                hides[slot] = candidates[i, slot]
        else:
            find_hidden(view, seen, rules, pairs, hides, values, bound)
        find_looks(view, seen, base, hides, look)
        write_cells(view["board"], look, looks, empty, same, width, i * cells * width, row)
