"""Files of public trees: a JSON line, then the arrays, which are memory-mapped and checked when read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pbm_envs import Game
from pbm_envs.foreign import SCALAR, check_fields, parse_object, registered_game
from pbm_envs.toolbox import Array, quoted

FORMAT = "pbm_agents.equilibrium.PublicTree 1"
ALIGNMENT = 64
"""Alignment of the arrays in bytes."""
HEAD = {"format": str, "game": str, "options": {str: SCALAR}, "arrays": {str: [SCALAR]}}
DTYPES = ("|u1", "|i1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
PART = 1 << 24
"""Number of entries checked at a time, so that checking a large tree takes little memory."""


def write_tree(path: str | Path, game: Game, arrays: Mapping[str, Array]) -> None:
    """Write the arrays of a public tree."""
    sizes = {name: [array.dtype.str, len(array)] for name, array in arrays.items()}
    head = {"format": FORMAT, "game": game.name, "options": dict(game.options), "arrays": sizes}
    with open(path, "wb") as file:
        file.write(json.dumps(head).encode() + b"\n")
        for array in arrays.values():
            file.write(b"\0" * (-file.tell() % ALIGNMENT))
            np.ascontiguousarray(array).tofile(file)


def read_tree(path: str | Path, game: Game | None, names: set[str]) -> tuple[Game, dict[str, Array]]:
    """Return the game and the checked arrays (`names`) in a file written by `write_tree`.

    Raises ValueError if the file is damaged, or was written for another game than `game` or under other rules.
    """
    with open(path, "rb") as file:
        head = parse_object(file.readline(1 << 20), "the head of a public tree")
        offset, size = file.tell(), file.seek(0, 2)
    if head.get("format") != FORMAT:
        raise ValueError(f"{str(path)!r} is not a public tree: expected a file that PublicTree.save wrote")
    check_fields(head, HEAD, "the head of a public tree")
    game = registered_game(head["game"], head["options"]) if game is None else game
    if game.name != head["game"] or dict(game.options) != head["options"]:
        raise ValueError(f"game is {game!r}: expected {head['game']} with {quoted(head['options'])}")
    arrays: dict[str, Array] = {}
    for name, said in head["arrays"].items():
        dtype, length = said if len(said) == 2 and type(said[1]) is int else ("", 0)
        offset += -offset % ALIGNMENT
        if dtype not in DTYPES or not 0 < length <= (size - offset) // np.dtype(dtype).itemsize:
            raise ValueError(f"{str(path)!r} is damaged: {quoted(name)} is {quoted(dtype)} [{length}]")
        arrays[name] = np.memmap(path, np.dtype(dtype), "r", offset, (length,))
        offset += arrays[name].nbytes
    if arrays.keys() != names:
        raise ValueError(f"{str(path)!r} holds {quoted(sorted(arrays))}: expected the arrays of a public tree")
    starts = np.array(arrays["starts"])
    if starts.dtype != np.uint8 or starts.nbytes % game.dtype.itemsize:
        raise ValueError(f"{str(path)!r} was written by other rules of {game.name}")
    arrays["starts"] = starts.view(game.dtype)
    game.validate(arrays["starts"])
    check_structure(arrays, game.num_actions)
    return game, arrays


def check_structure(arrays: Mapping[str, Array], actions: int) -> None:
    """Raise ValueError unless kernels can index with these arrays, the fields of `PublicTree`, of a game's tree."""
    worlds = len(arrays["starts"])
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
