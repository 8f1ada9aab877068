"""Checks of the arrays of a public tree from a file: kernels index with them, and trust them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from pbm_envs.toolbox import Array

PART = 1 << 24
"""Entries that are looked at in one piece, so that the check of a large tree takes little memory."""


def check_structure(arrays: Mapping[str, Array], worlds: int, actions: int) -> None:
    """Raise ValueError unless the arrays are those of a tree (the fields of `PublicTree`).

    Args:
        arrays: The arrays by name, one axis each.
        worlds: W, the number of set-ups.
        actions: The number of actions of the game.
    """
    pairs, choices = len(arrays["pair_world"]), len(arrays["choice_actions"])
    transitions, payoffs, sets = len(arrays["children"]), len(arrays["payoffs"]), len(arrays["set_player"])
    lengths = {"chances": worlds, "pair_parent": pairs}
    lengths |= dict.fromkeys(("set_pairs", "set_choices", "set_transitions"), sets + 1)
    for name, length in lengths.items():
        _expect(name, len(arrays[name]) == length, f"{length} entries")
    for name in ("chances", "payoffs"):
        _expect(name, arrays[name].dtype.kind == "f" and bool(np.isfinite(arrays[name]).all()), "finite numbers")
    _expect("chances", bool((arrays["chances"] >= 0).all()) and arrays["chances"].sum() > 0, "chances")
    ends = {"level_sets": sets, "node_pairs": pairs, "set_pairs": pairs, "set_choices": choices}
    for name, end in (ends | {"set_transitions": transitions}).items():
        steps = arrays[name]
        rising = all((np.diff(steps[part.start : part.stop + 1].astype(np.int64)) >= 0).all() for part in _parts(steps))
        _expect(name, len(steps) > 1 and steps[0] == 0 and steps[-1] == end and rising, f"rising numbers, 0 to {end}")
    limits = {"set_player": (0, 1), "choice_actions": (0, actions - 1), "pair_world": (0, worlds - 1)}
    limits |= {"pair_parent": (-1, transitions - 1), "children": (-payoffs, pairs - 1)}
    for name, (low, high) in limits.items():
        values = arrays[name]
        inside = all(((values[part] >= low) & (values[part] <= high)).all() for part in _parts(values))
        _expect(name, values.dtype.kind in "iu" and inside, f"integers from {low} to {high}")
    sizes: list[Array] = [np.diff(arrays[name].astype(np.int64)) for name in ("set_pairs", "set_choices")]
    product = bool((sizes[0] * sizes[1] == np.diff(arrays["set_transitions"].astype(np.int64))).all())
    _expect("set_transitions", product, "a transition per pair and choice")
    for part in _parts(arrays["children"]):
        below = np.flatnonzero(arrays["children"][part] >= 0)
        parents = arrays["pair_parent"][arrays["children"][part][below]]
        _expect("children", bool((parents == below + part.start).all()), "pairs whose parents they are")
    levels = arrays["set_pairs"][arrays["level_sets"]]
    roots = int(levels[1])
    for part in _parts(arrays["pair_parent"]):
        at = np.arange(part.start, min(part.stop, pairs))
        parents = arrays["pair_parent"][part].astype(np.int64)
        _expect("pair_parent", bool(((parents < 0) == (at < roots)).all()), "-1 at the roots only")
        origin = np.searchsorted(arrays["set_transitions"], parents[at >= roots], side="right") - 1
        depth = np.searchsorted(arrays["level_sets"], origin, side="right")
        own = np.searchsorted(levels, at[at >= roots], side="right") - 1
        _expect("pair_parent", bool((depth == own).all()), "parents one ply above")


def _parts(array: Array) -> Iterator[slice]:
    return (slice(first, first + PART) for first in range(0, len(array), PART))


def _expect(name: str, right: bool, expected: str) -> None:
    if not right:
        raise ValueError(f"the file holds no public tree: {name} are wrong, expected {expected}")
