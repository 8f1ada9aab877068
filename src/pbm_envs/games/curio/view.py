"""Views and observation planes of Curio (C5, C8, C9).

Player w sees face w of every piece, and face 1 - w is hidden, unless the piece is known to both. `inference` computes
the possible values of hidden faces.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from ...core.kernels import stack_kernel
from ...core.state import NOBODY, Ints, Planes, Record, States
from ...core.words import WORD, flat, load_half, load_word, records_of_words, store_half, store_word
from .inference import find_hidden, list_pairs
from .rules import MOST_BASE

MOST = 127  # counts in int8 planes stop here
EXCHANGED_SEATS = {"I am Light": "I am Dark", "I am Dark": "I am Light"}
"""The planes that are exchanged with Light and Dark."""
FIRST_PLANES = {
    "mine": "mine",
    "enemy": "enemy",
    "shows": "shows 1",
    "hides": "may hide 1",
    "known": "known",
    "light": "I am Light",
    "turn": "my turn",
    "quiet": "quiet",
    "passed": "passed",
    "my_unseen": "my 11 unseen",
    "enemy_unseen": "enemy 11 unseen",
}
"""The planes that kernels write, by field of `plane_numbers`; the first of each group of consecutive planes."""
NO_BOUNDS = np.array([[1, base] * 2 for base in range(MOST_BASE + 1)], np.int8).view(np.uint32)[:, 0].astype(np.uint64)
"""(bases,) the bounds of a piece about which nothing is known, as half a word."""
FACE_BOUNDS, FACE_BITS = np.uint64(0xFFFF), np.uint64(16)
"""The mask of the first face's bounds in half a word, and its number of bits."""


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
    """Return one record with the indices of `FIRST_PLANES`."""
    index = list(planes(base)).index
    return np.array([tuple(map(index, FIRST_PLANES.values()))], [(name, "i8") for name in FIRST_PLANES])


@stack_kernel
def hide_batch(states: States, views: States, base: int) -> None:
    """Copy to `views`, whose `viewer` is set, everything but unseen faces and the bounds of seen ones.

    Branch-free, since branches would be unpredictable. Bounds are read from the state as one word, since the processor
    would stall on a copy that has just been written.
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


def piece_words(base: int) -> tuple[States, States]:
    """Return the planes of a cell as words.

    Returns:
        `looks`: Row `look_of(known, mine, v, hides, base)` has the planes of a piece that shows v and can hide the
        numbers whose bits are set in `hides` (v = 0 and no bits: no piece). Its field `words` has only as many words
        as contain planes of pieces.
        `empty`: One record with all words that fit a cell, all zeros; their number is a constant for kernels.
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
    """Return the row of `looks` for a piece."""
    return ((2 * known + mine) * (base + 1) + shown) * (2 << base) + hides


@stack_kernel
def find_looks(view: Record, seen: int, base: int, hides: Ints, look: Ints) -> None:
    """Set `look[slot]` to the row of `looks` for a piece that can hide the bits of `hides[slot]`."""
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
    """Write an observation from `out[at]` on: the planes `same`, which all cells share, and those of the pieces."""
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
    """Write the observations of `views`; `looks` and `empty` are from `piece_words`.

    Under `face` "random", `candidates` (B, slots) is from `find_hidden_batch`; else it is (0, 0).
    """
    rules, base, cells, width = settings[0], settings[0]["base"], out.shape[1] * out.shape[2], out.shape[3]
    pairs, values = np.empty((base * (base + 1) // 2, 2), np.int64), np.empty((2, base + 1), np.int64)
    look, hides = np.zeros(cells + 1, np.uint16), np.empty(cells, np.uint16)  # by slot; look[cells] is the empty cell
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
