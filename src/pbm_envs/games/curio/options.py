"""The options of Curio (C1): what they may be, and what kernels and boards are made of by them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ...core.checks import check_flag, check_range
from ...core.printable import quoted
from ...core.state import NO_ACTION
from ...core.types import Ints, States
from .rules import ANY, GREATER, GREATER_EQUAL, LARGE, LESS, LESS_EQUAL, RANDOM, SETTINGS, SMALL

FACES = {"large": LARGE, "small": SMALL, "random": RANDOM}
COMPARES = {"lt": LESS, "le": LESS_EQUAL, "gt": GREATER, "ge": GREATER_EQUAL}
CAPTURES = (*COMPARES, *(f"{name}_total" for name in COMPARES), "any")


def check_options(
    *,
    base: int,
    rows: int,
    cols: int,
    num_pieces: int | None,
    turn: bool,
    limit: bool,
    face: str,
    capture: str,
    reveal_captured: bool,
    no_capture_limit: int | None,
    allow_resign: bool,
) -> dict[str, Any]:
    """The options of `Curio`, complete: with the number of pieces, and with Python's own numbers and flags.

    Raises:
        ValueError: For a value that is not allowed; it says which are.
    """
    for name, value, low, high in (("base", base, 2, 9), ("rows", rows, 2, 26), ("cols", cols, 2, 26)):
        check_range(name, value, low, high)
    for name, flag in (("turn", turn), ("limit", limit), ("reveal_captured", reveal_captured)):
        check_flag(name, flag)
    check_flag("allow_resign", allow_resign)
    base, rows, cols = int(base), int(rows), int(cols)  # NumPy's small integers overflow
    if not isinstance(face, str) or face not in FACES:
        raise ValueError(f"face is {quoted(face)}: expected one of {', '.join(FACES)}")
    if not isinstance(capture, str) or capture not in CAPTURES:
        raise ValueError(f"capture is {quoted(capture)}: expected one of {', '.join(CAPTURES)}")
    if no_capture_limit is not None:
        check_range("no_capture_limit", no_capture_limit, 1, 1_000_000)
    one_set = base * (base + 1) // 2
    pieces = one_set if num_pieces is None else num_pieces
    check_range("num_pieces", pieces, 1, rows * cols)
    pieces = int(pieces)
    if pieces % one_set:  # C2
        raise ValueError(f"num_pieces is {pieces}: expected a multiple of {one_set}, one set of base {base}")
    depth = rows_of_army(pieces, cols)
    if 2 * depth > rows:  # C3
        raise ValueError(f"two armies of {pieces} pieces need {2 * depth} rows of {cols} cells: there are {rows} rows")
    return {
        "base": base,
        "rows": rows,
        "cols": cols,
        "num_pieces": pieces,
        "turn": bool(turn),
        "limit": bool(limit),
        "face": face,
        "capture": capture,
        "reveal_captured": bool(reveal_captured),
        "no_capture_limit": None if no_capture_limit is None else int(no_capture_limit),
        "allow_resign": bool(allow_resign),
    }


def rows_of_army(pieces: int, cols: int) -> int:
    """How many rows an army fills, the last one perhaps in part."""
    return -(-pieces // cols)


def make_deck(options: Mapping[str, Any]) -> Ints:
    """(army cells, 2) smaller and larger number of each piece of an army, then (0, 0) for empty cells (C2, C3)."""
    kinds = list(combinations_with_replacement(range(1, options["base"] + 1), 2))
    deck = np.zeros((rows_of_army(options["num_pieces"], options["cols"]) * options["cols"], 2), np.int8)
    deck[: options["num_pieces"]] = kinds * (options["num_pieces"] // len(kinds))
    return deck


def make_settings(options: Mapping[str, Any], moves: int) -> States:
    """One record of SETTINGS: the options for kernels. `moves` is the number of (from, to) actions."""
    settings = np.zeros(1, SETTINGS)
    settings["base"] = options["base"]
    settings["turn"] = options["turn"]
    settings["limit"] = options["limit"]
    settings["face"] = FACES[options["face"]]
    settings["compare"] = COMPARES.get(options["capture"].removesuffix("_total"), ANY)
    settings["total"] = options["capture"].endswith("_total")
    settings["reveal"] = options["reveal_captured"]
    settings["quiet_limit"] = options["no_capture_limit"] or 0
    settings["moves"] = moves
    settings["resign"] = moves + 1 if options["allow_resign"] else NO_ACTION
    return settings
