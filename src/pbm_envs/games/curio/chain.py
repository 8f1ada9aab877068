"""Determinization by a Markov chain, for views where rejection takes too long (many unknown captures, masks of sums).

The viewer's knowledge about the hidden faces becomes the conditions of `conditions`. An assignment gives the hidden
pieces of each army the kinds of its pool, as the orientation (C5) allows; it may violate conditions. The chain's steps
are symmetric: two pieces that show the same number exchange their hidden numbers; and, where pieces were turned at
random, pieces in a cycle that show a, b, c and hide b, c, a change to hide c, a, b. Such steps connect all assignments.

An assignment that violates n conditions has the weight PENALTY ** n (Metropolis et al. 1953), so the chain passes
between worlds that no single step connects. Restricted to the times when no condition is violated, it is itself a
Markov chain (the trace chain), whose only stationary distribution is uniform over all worlds. It stops after VISITS
visits; where worlds are rare, and the chain moves far between two visits, it stops LATE_VISITS visits after sweep
ENOUGH_SWEEPS. (It does not stop at the first of these, since worlds adjacent to assignments that violate a condition
are reached first more often.) `tests/curio/test_chain.py` draws from small positions whose worlds are all known, and
compares large ones with rejection and, where worlds are rarest, with a chain that runs four times as long.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.kernels import kernel, stack_kernel
from ...core.randomness import draw, uniform
from ...core.state import NOBODY, Ints, Record, Seeds, States
from .conditions import MINE, WANTED, Conditions, list_allowed, list_conditions
from .inference import assign, shows_larger
from .pieces import RANDOM, beats
from .rules import kind
from .worlds import is_consistent

PENALTY = 0.004  # factor of an assignment's weight per violated condition
PILOT = 100  # sweeps (as many steps as there are hidden pieces) before visits count
VISITS = 300  # visits of worlds, at most one per sweep, after which the chain stops
ENOUGH_SWEEPS, LATE_VISITS = 1000, 30
"""The chain also stops after LATE_VISITS visits beyond sweep ENOUGH_SWEEPS, reached if few sweeps visit a world."""
MOST_SWEEPS = 1 << 17  # sweeps for one view before `determinize` gives up


class Pieces(NamedTuple):
    """The pieces that hide a number, and the groups in which they can exchange it. Made inside kernels."""

    slots: Ints  # (hidden,) group by group; a group is the pieces of one army that show the same number
    groups: Ints  # (cells,) the group of each slot
    starts: Ints  # group g is `slots[starts[g] : starts[g + 1]]`
    shows: Ints  # (cells,) the number that each slot shows


@kernel
def begin(view: Record, rules: Record, allowed: Ints, hides: Ints, scratch: Ints) -> bool:
    """Give each hidden slot a value of the pools that its own bounds allow; return False if that is impossible.

    `scratch` is (6, slots or kinds).
    """
    base, seen = rules["base"], view["viewer"]
    slots, fits, given = scratch[3], scratch[4], scratch[5]
    for army in range(2):
        larger, count = shows_larger(army, seen, rules), 0
        for slot in range(len(hides)):
            if view["owner"][slot] == army and view["faces"][slot, 1 - seen] == 0:
                shown = view["faces"][slot, seen]
                slots[count], fits[count] = slot, 0
                for h in range(1, base + 1):
                    lies = rules["face"] == RANDOM or h == shown or (h < shown) == larger
                    if lies and allowed[slot] >> h & 1:
                        fits[count] |= 1 << kind(shown, h, base)
                count += 1
        assign(count, fits, view["unseen"][army], given, scratch)
        for k in range(count):
            if given[k] < 0:
                return False
            for h in range(1, base + 1):
                if kind(view["faces"][slots[k], seen], h, base) == given[k]:
                    hides[slots[k]] = h
    return True


@stack_kernel
def count_broken(
    slots: Ints, count: int, hides: Ints, worth: Ints, allowed: Ints, offsets: Ints, others: Ints, roles: Ints,
    compare: int,
) -> int:  # fmt: skip
    """Return the number of violated conditions of these slots. (Separate arrays are 6% faster than `Conditions`.)"""
    broken = 0
    for k in range(count):
        slot = slots[k]
        broken += 1 - (allowed[slot] >> hides[slot] & 1)
        mine = worth[slot] + hides[slot]
        for j in range(offsets[slot], offsets[slot + 1]):
            theirs = worth[others[j]] + hides[others[j]]
            won = beats(mine, theirs, compare) if roles[j] & MINE else beats(theirs, mine, compare)
            broken += won != (roles[j] & WANTED > 0)
    return broken


@stack_kernel
def propose_exchange(slots: Ints, groups: Ints, starts: Ints, hides: Ints, seeds: Seeds, row: int, out: Ints) -> int:
    """Propose an exchange of the hidden numbers of two pieces that show the same number.

    Writes the slots to `out[0]` and their new hidden numbers to `out[1]`; returns how many (0: nothing changes).
    """
    one = slots[draw(seeds, row, len(slots))]
    group = groups[one]
    other = slots[starts[group] + draw(seeds, row, starts[group + 1] - starts[group])]
    out[0, 0], out[0, 1] = one, other
    out[1, 0], out[1, 1] = hides[other], hides[one]
    return 2 if hides[one] != hides[other] else 0


@stack_kernel
def propose_cycle(
    slots: Ints, groups: Ints, starts: Ints, hides: Ints, shows: Ints, seeds: Seeds, row: int, out: Ints
) -> int:
    """Propose to reverse a cycle: each piece hides what the next one shows, and then what the previous one shows.

    The cycle is drawn at random: from a piece to any of the same army that shows its hidden number, until that is the
    number that the first one shows. The reversed cycle is drawn with the same probability, which depends only on how
    many pieces show each number. Writes and returns the same as `propose_exchange`.
    """
    slot = slots[draw(seeds, row, len(slots))]
    origin, visited, count = shows[slot], 0, 0
    while True:
        out[0, count] = slot
        count += 1
        visited |= 1 << shows[slot]
        h = hides[slot]
        if h == origin:
            break
        group = groups[slot] - shows[slot] + h
        first, size = starts[group], starts[group + 1] - starts[group]
        if visited >> h & 1 or size == 0:
            return 0
        slot = slots[first + draw(seeds, row, size)]
    for k in range(count):
        out[1, k] = shows[out[0, k - 1 if k else count - 1]]
    return count if count > 2 else 0


@kernel
def list_pieces(view: Record, rules: Record, hides: Ints) -> Pieces:
    cells, base = len(hides), rules["base"]
    hidden = 0
    groups, starts = np.zeros(cells, np.int64), np.zeros(2 * base + 3, np.int64)
    shows = np.zeros(cells, np.int64)
    for slot in range(cells):
        if hides[slot]:
            hidden += 1
            shows[slot] = view["faces"][slot, view["viewer"]]
            groups[slot] = view["owner"][slot] * (base + 1) + shows[slot]
            starts[groups[slot] + 1] += 1
    for group in range(1, len(starts)):
        starts[group] += starts[group - 1]
    slots, filled = np.empty(hidden, np.int64), starts.copy()
    for slot in range(cells):
        if hides[slot]:
            slots[filled[groups[slot]]] = slot
            filled[groups[slot]] += 1
    return Pieces(slots, groups, starts, shows)


@kernel
def count_all_broken(pieces: Pieces, hides: Ints, known: Conditions, compare: int, royals: Ints) -> int:
    """Return the number of conditions that an assignment violates."""
    broken = 0
    for slot in pieces.slots:
        broken += 1 - (known.allowed[slot] >> hides[slot] & 1)
    for slot in range(len(hides)):
        for j in range(known.offsets[slot], known.offsets[slot + 1]):
            if known.roles[j] & MINE:
                mine, other = known.worth[slot] + hides[slot], known.others[j]
                won = beats(mine, known.worth[other] + hides[other], compare)
                broken += won != (known.roles[j] & WANTED > 0)
    for army in range(2):
        broken += known.need[army] and royals[army] == 0
    return broken


@kernel
def count_royals(view: Record, royal: Ints, hides: Ints, base: int, royals: Ints) -> None:
    """Set `royals[army]` to the number of its pieces on the board that are royal by their hidden number."""
    royals[:] = 0
    for slot in range(len(hides)):
        if royal[slot] and hides[slot] == base:
            royals[view["owner"][slot]] += 1


@stack_kernel
def sweep(
    pieces: Pieces, hides: Ints, known: Conditions, rules: Record, royals: Ints, seeds: Seeds, row: int, out: Ints
) -> int:
    """Make one step per hidden piece; return the change in the number of violated conditions."""
    slots, groups, starts, shows = pieces.slots, pieces.groups, pieces.starts, pieces.shows
    allowed, worth, offsets, others, roles = known.allowed, known.worth, known.offsets, known.others, known.roles
    royal, need = known.royal, known.need
    base, compare, turned = rules["base"], rules["compare"], rules["face"] == RANDOM
    change = 0
    for step in range(len(slots)):
        if turned and step & 1:
            count = propose_cycle(slots, groups, starts, hides, shows, seeds, row, out)
        else:
            count = propose_exchange(slots, groups, starts, hides, seeds, row, out)
        if count == 0:
            continue
        moved, values = out[0], out[1]
        army = 1 if groups[moved[0]] > base else 0
        royals_before = royals[army]
        before = count_broken(moved, count, hides, worth, allowed, offsets, others, roles, compare)
        for k in range(count):
            slot = moved[k]
            royals[army] += royal[slot] * (int(values[k] == base) - int(hides[slot] == base))
            hides[slot], values[k] = values[k], hides[slot]
        after = count_broken(moved, count, hides, worth, allowed, offsets, others, roles, compare)
        more = after - before + need[army] * (int(royals[army] == 0) - int(royals_before == 0))
        if more <= 0 or uniform(seeds, row) < PENALTY**more:
            change += more
        else:
            royals[army] = royals_before
            for k in range(count):
                hides[moved[k]] = values[k]
    return change


@kernel
def run_chain(
    view: Record, rules: Record, steps: Ints, legal: Ints, seeds: Seeds, row: int, scratch: Ints, longer: int
) -> int:
    """Fill in the hidden faces of a view; return the number of sweeps, or -1 if no world was found."""
    cells, compare = view["owner"].shape[0], rules["compare"]
    hides, allowed, royals = np.zeros(cells, np.int64), np.empty(cells, np.int64), np.zeros(2, np.int64)
    list_allowed(view, rules, allowed)
    if not begin(view, rules, allowed, hides, scratch):
        return -1
    pieces = list_pieces(view, rules, hides)
    known = list_conditions(view, rules, steps, legal, allowed)
    count_royals(view, known.royal, hides, rules["base"], royals)
    broken = count_all_broken(pieces, hides, known, compare, royals)
    out, visits, late = np.empty((2, rules["base"] + 2), np.int64), 0, 0
    for swept in range(1, MOST_SWEEPS + 1):
        broken += sweep(pieces, hides, known, rules, royals, seeds, row, out)
        if swept > longer * PILOT and broken == 0:
            for k in range(len(pieces.slots)):
                view["faces"][pieces.slots[k], 1 - view["viewer"]] = hides[pieces.slots[k]]
            if is_consistent(view, rules):
                visits += 1
                late += swept > longer * ENOUGH_SWEEPS
                if visits == longer * VISITS or late == longer * LATE_VISITS:
                    return swept
    return -1


@kernel
def draw_worlds_batch(
    views: States, settings: States, steps: Ints, legal: Ints, seeds: Seeds, out: Ints, longer: int
) -> None:
    """Fill in every hidden face of `views` (B,), in place.

    Args:
        views: (B,) records.
        settings: One record of SETTINGS.
        steps: The steps as in `list_moves`.
        legal: (B, actions) the viewers' legal actions under `*_total`; else (1, 0).
        seeds: (B,) streams.
        out: (B,) receives the number of sweeps, -1 where no world was found.
        longer: A factor for the length of the chain.
    """
    rules = settings[0]
    cells, base = views[0]["owner"].shape[0], rules["base"]
    scratch = np.empty((6, max(cells, base * (base + 1) // 2)), np.int64)
    for i in range(len(views)):
        out[i] = 0
        if views[i]["viewer"] != NOBODY:
            out[i] = run_chain(views[i], rules, steps, legal[i if rules["total"] else 0], seeds, i, scratch, longer)
