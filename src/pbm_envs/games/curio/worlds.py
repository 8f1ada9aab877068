"""Determinization: faces for a view's hidden pieces, drawn uniformly from all that are consistent with it (C15).

The draw has two steps. The first determines the number of pieces that show v and hide h, for each v and h: it is fixed
by the pool under `face` "large" and "small", where each piece of the pool shows a known side, and drawn with exact
weights under "random". The second assigns hidden values to the pieces that show v: in the order of decreasing lower
bounds, each takes one of the remaining values that is large enough. Values open to earlier pieces are open to later
ones too, so the number of choices never depends on the choices, and every assignment is equally likely.

All other conditions are satisfied by rejection, which keeps the distribution uniform: upper bounds; captures between
two pieces that are both still unknown; that the game has not ended; and, under `*_total`, the legal moves (C7). A
player's past legal moves under `*_total` and the implications of a `pass` are not used.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate, combinations_with_replacement
from math import comb

import numpy as np

from ...core.kernels import stack_kernel
from ...core.randomness import draw, next_bits, uniform
from ...core.state import NOBODY, Floats, Ints, Mask, Record, Seeds, States
from .inference import shows_larger, split_pool
from .pieces import RANDOM, has_royal, is_dead, is_royal, may_capture
from .rules import ended_by_capture

BITS, SPAN_BITS = 10, 32
MOST_DONE = (1 << BITS) - 1  # more than the pieces of an army (C1)
MOST_TRIES = 64
"""Draws for one view before `determinize` uses the Markov chain of `chain`."""
GROUP_TRIES = 1000
"""The maximum number of deals to the pieces that show one number, to satisfy upper bounds, before the view restarts."""


@stack_kernel
def sort_group(view: Record, army: int, shown: int, group: Ints, least: Ints) -> int:
    """List the hidden slots of an army that show `shown`, by decreasing lower bound; return their number."""
    owner, faces, bounds, seen = view["owner"], view["faces"], view["bounds"], view["viewer"]
    count = 0
    for slot in range(len(owner)):
        if owner[slot] == army and faces[slot, seen] == shown and faces[slot, 1 - seen] == 0:
            low = int(bounds[slot, 1 - seen, 0])
            k = count
            while k > 0 and least[k - 1] < low:
                group[k], least[k] = group[k - 1], least[k - 1]
                k -= 1
            group[k], least[k] = slot, low
            count += 1
    return count


@stack_kernel
def split_pools(view: Record, rules: Record, hidden: Ints) -> None:
    """Under "large" and "small", set `hidden[army, v, h]` to the number of pieces that show v and hide h."""
    if view["viewer"] != NOBODY:
        for army in range(2):
            larger = shows_larger(army, view["viewer"], rules)
            split_pool(view["unseen"][army], rules["base"], larger, hidden[army])


@stack_kernel
def deal_group(
    view: Record, group: Ints, least: Ints, count: int, left: Ints, rules: Record, seeds: Seeds, row: int
) -> bool:
    """Deal the values `left` (counts by value) to the slots of a group; return False if an upper bound is violated."""
    faces, bounds, hidden = view["faces"], view["bounds"], 1 - view["viewer"]
    for k in range(count):
        slot = group[k]
        choices = 0
        for h in range(least[k], rules["base"] + 1):
            choices += left[h]
        if choices == 0:
            return False
        choice = draw(seeds, row, choices)
        h = least[k]
        while choice >= left[h]:
            choice -= left[h]
            h += 1
        if h > bounds[slot, hidden, 1]:
            return False
        left[h] -= 1
        faces[slot, hidden] = h
    return True


@stack_kernel
def is_consistent(state: Record, rules: Record) -> bool:
    """Return whether these faces are consistent with legal captures and the end of the game (C7, C10, C11)."""
    if not rules["turn"] and not rules["reveal"]:
        for slot in range(len(state["owner"])):
            taker = state["taker"][slot]
            if taker >= 0 and not may_capture(state, taker, slot, state["owner"][taker], rules):
                return False
    ended = ended_by_capture(state, rules)
    for army in range(2):
        lost = has_royal(state, army, rules["base"], True) and not has_royal(state, army, rules["base"], False)
        if lost != (ended and state["returns"][army] < 0):
            return False
    if ended and state["returns"][0] != 0:
        return is_royal(state, state["last_captured"], rules["base"])
    return is_dead(state, rules) == ended


@stack_kernel
def deal(view: Record, hidden: Ints, rules: Record, seeds: Seeds, row: int) -> bool:
    """Fill in every hidden face; return whether the result is consistent. `hidden` is from `split_pools`."""
    if view["viewer"] == NOBODY:
        return True
    cells, good = len(view["owner"]), True
    group, least = np.empty(cells, np.int64), np.empty(cells, np.int64)
    left = np.empty(rules["base"] + 1, np.int64)
    for army in range(2):
        for shown in range(1, rules["base"] + 1):
            count = sort_group(view, army, shown, group, least)
            dealt = False
            for _ in range(1 if rules["face"] == RANDOM else GROUP_TRIES):
                for h in range(len(left)):
                    left[h] = hidden[army, shown, h]
                if deal_group(view, group, least, count, left, rules, seeds, row):
                    dealt = True
                    break
            good = good and dealt
    return good and is_consistent(view, rules)


@stack_kernel
def deal_batch(views: States, hidden: Ints, settings: States, seeds: Seeds, good: Mask) -> None:
    """Call `deal` for each view, under "random" with the numbers in `hidden`, else with those of `split_pools`."""
    rules = settings[0]
    for i in range(len(views)):
        if rules["face"] != RANDOM:
            split_pools(views[i], rules, hidden[i])
        good[i] = deal(views[i], hidden[i], rules, seeds, i)


class Turnings:
    """The possible orientations of an army's pool under "random", given how often each number is shown.

    The kinds of pieces are processed in order; of kind ab, k pieces show a and hide b, and the rest vice versa. The
    pieces that show v thus get their hidden values in ascending order, and those that may hide h are the ones whose
    lower bound is at most h: `comb` counts the choices. `_completions` counts the completions of a prefix exactly.

    A prefix is one integer, `done`, with fields of BITS bits: the number of processed kinds, then for each v the number
    of pieces that show v and have a value. Tuples, thousands of objects per view, would trigger garbage collections.
    """

    def __init__(self, base: int, pool: bytes, least: bytes) -> None:
        """Set the `pool` and the lower bounds `least` of one army; `least` is from `collect_batch`."""
        self._base, self._pool = base, np.frombuffer(pool, np.int64).tolist()
        lows = np.frombuffer(least, np.int64).reshape(base, -1).tolist()
        self._kinds = tuple(combinations_with_replacement(range(1, base + 1), 2))
        self._open = tuple(
            tuple(sum(0 < low <= value for low in shown) for value in range(base + 1)) for shown in ([], *lows)
        )
        """The number of pieces that show `shown` and may hide `value`, as [shown][value]."""
        self._ways: dict[int, int] = {}  # cached `_completions` by `done`
        self._sums = array("d")
        """The running sums of `_weigh`, concatenated for each `done` at which a draw was made."""
        self._spans: dict[int, int] = {}
        """The beginning and end of each `done` in `_sums`, as one integer: garbage collection traverses dictionaries of
        tuples, which takes 40 milliseconds for a thousand cached views."""

    def draw(self, chances: list[float]) -> list[list[int]]:
        """Return the numbers of pieces that show v and hide h, as [v][h]; `chances` are in [0, 1), one per kind."""
        hidden = [[0] * (self._base + 1) for _ in range(self._base + 1)]
        done = 0
        for (a, b), pieces, chance in zip(self._kinds, self._pool, chances, strict=True):
            start, end = self._span(done)
            k = bisect_right(self._sums, chance * self._sums[end - 1], start, end) - start
            hidden[a][b] += k
            if a != b:
                hidden[b][a] += pieces - k
            done += 1 + (k << BITS * a) + (pieces - k << BITS * b)
        return hidden

    def _span(self, done: int) -> tuple[int, int]:
        """Return the beginning and end of the sums of `done` in `_sums`."""
        span = self._spans.get(done)
        if span is None:
            start = len(self._sums)
            self._sums.extend(accumulate(map(float, self._weigh(done))))
            span = self._spans[done] = start << SPAN_BITS | len(self._sums)
        return span >> SPAN_BITS, span & (1 << SPAN_BITS) - 1

    def _weigh(self, done: int) -> list[int]:
        """Return the numbers of completions if 0, 1, 2, ... pieces of the next kind show the lower number."""
        (a, b), pieces = self._kinds[done & MOST_DONE], self._pool[done & MOST_DONE]
        first = self._open[a][b] - (done >> BITS * a & MOST_DONE)  # slots that show a, may hide b and have no value
        second = self._open[b][a] - (done >> BITS * b & MOST_DONE)
        least = pieces if a == b else max(0, pieces - second)
        if b == self._base:
            least = max(least, first)  # the last kind takes all remaining slots
        ways, then = [0] * least, done + 1 + (least << BITS * a) + (pieces - least << BITS * b)
        for k in range(least, min(pieces, first) + 1):
            ways.append(comb(first, k) * comb(second, pieces - k) * self._completions(then))
            then += (1 << BITS * a) - (1 << BITS * b)
        return ways

    def _completions(self, done: int) -> int:
        """Return the number of ways to orient the remaining kinds and assign them to slots."""
        if done & MOST_DONE == len(self._kinds):
            return 1
        ways = self._ways.get(done)
        if ways is None:
            ways = self._ways[done] = sum(self._weigh(done))
        return ways


turnings = lru_cache(maxsize=1024)(Turnings)


@stack_kernel
def world_batch(worlds: States, seeds: Seeds, good: Mask, settings: States) -> None:
    """Make the first attempts of `Curio._determinize` under "large" and "small"; set `good` where one is consistent."""
    rules, faces = settings[0], np.empty(worlds[0]["faces"].shape, np.int8)
    hidden, own = np.empty((2, rules["base"] + 1, rules["base"] + 1), np.int64), np.empty(2, np.uint64)
    for i in range(len(worlds)):
        world = worlds[i]
        own[0] = seeds[i]
        own[0] = next_bits(own, 0)
        split_pools(world, rules, hidden)
        copy_faces(world["faces"], faces)
        for tried in range(MOST_TRIES):
            own[1] = next_bits(own, 0)
            if tried > 0:
                copy_faces(faces, world["faces"])
            good[i] = deal(world, hidden, rules, own, 1)
            if good[i]:
                break
        world["viewer"] = NOBODY


@stack_kernel
def copy_faces(source: Ints, target: Ints) -> None:
    for slot in range(len(source)):
        for player in range(2):
            target[slot, player] = source[slot, player]


@stack_kernel
def collect_batch(views: States, settings: States, seeds: Seeds, least: Ints, chances: Floats) -> None:
    """Under "random", write for each army the lower bounds of the pieces by shown number, and chances in [0, 1).

    The bounds are (base, cells), 0 where there is no piece; the chances (kinds,).
    """
    rules = settings[0]
    group = np.empty(least.shape[3], np.int64)
    for i in range(len(views)):
        for army in range(2):
            for shown in range(rules["base"]):
                sort_group(views[i], army, shown + 1, group, least[i, army, shown])
            for k in range(chances.shape[2]):
                chances[i, army, k] = uniform(seeds, i)


def draw_turnings(views: States, settings: States, seeds: Seeds, hidden: Ints) -> None:
    """Under "random", fill `hidden` (B, 2, base + 1, base + 1) as `split_pools` does under "large" and "small"."""
    rows = np.flatnonzero(views["viewer"] != NOBODY)
    base, (count, cells), pools = int(settings["base"][0]), views["owner"].shape, views["unseen"].astype(np.int64)
    least, chances = np.zeros((count, 2, base, cells), np.int64), np.empty(pools.shape)
    collect_batch(views, settings, seeds, least, chances)
    for i in rows.tolist():
        for army in range(2):
            known = turnings(base, pools[i, army].tobytes(), least[i, army].tobytes())
            hidden[i, army] = known.draw(chances[i, army].tolist())
