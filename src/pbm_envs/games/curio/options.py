"""The options of Curio (C1): their declarations, and the deck and settings derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ...core.options import ALLOW_RESIGN, Option
from ...core.state import NO_ACTION, Ints, States
from .pieces import ANY, EQUAL, GREATER, LARGE, LESS, RANDOM, SETTINGS, SMALL

FACES = {"large": LARGE, "small": SMALL, "random": RANDOM}
COMPARES = {"lt": LESS, "le": LESS | EQUAL, "gt": GREATER, "ge": GREATER | EQUAL}
CAPTURES = (*COMPARES, *(f"{name}_total" for name in COMPARES), "any")

OPTIONS = (
    Option(
        "base",
        int,
        4,
        low=2,
        high=9,
        help="The greatest number on a piece. A set has one piece for each pair of numbers up to it.",
    ),
    Option("rows", int, 5, low=2, high=26, help="Rows of the board."),
    Option("cols", int, 5, low=2, high=26, help="Columns of the board."),
    Option(
        "num_pieces",
        int,
        None,
        low=1,
        high=26 * 13,
        help="Pieces of each army, a multiple of the size of a set, base * (base + 1) / 2. None means one set.",
    ),
    Option(
        "turn", bool, True, help="A piece that captures is turned around, and both players know it from then on."
    ),  # C8
    Option("limit", bool, True, help="A piece moves at most as far as the number that its owner sees on it."),  # C6
    Option("face", str, "large", choices=tuple(FACES), help="The number that faces the owner at the start."),  # C5
    Option(
        "capture",
        str,
        "le",
        choices=CAPTURES,
        help="How the enemy's number must compare with the mover's (less, less or equal, greater, greater or equal, or "
        "any). `_total` compares the sums of both faces, so that legal moves reveal something hidden.",
    ),  # C7
    Option("reveal_captured", bool, True, help="Both players see both faces of a captured piece."),  # C9
    Option(
        "no_capture_limit",
        int,
        100,
        low=1,
        high=1_000_000,
        optional=True,
        help="Plies without a capture after which the game is truncated as a draw. None means no limit.",
    ),  # C13
    ALLOW_RESIGN,
)
"""The options of Curio (C1)."""


def with_num_pieces(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with the number of pieces; raise ValueError if the armies do not fit the base or the board."""
    one_set = options["base"] * (options["base"] + 1) // 2
    pieces = one_set if options["num_pieces"] is None else options["num_pieces"]
    if pieces % one_set:  # C2
        raise ValueError(f"num_pieces is {pieces}: expected a multiple of {one_set}, one set of base {options['base']}")
    rows, cols, depth = options["rows"], options["cols"], rows_of_army(pieces, options["cols"])
    if 2 * depth > rows:  # C3
        raise ValueError(f"two armies of {pieces} pieces need {2 * depth} rows of {cols} cells: there are {rows} rows")
    return {**options, "num_pieces": pieces}


def rows_of_army(pieces: int, cols: int) -> int:
    """Return the number of rows that an army fills, the last one possibly in part."""
    return -(-pieces // cols)


def make_deck(options: Mapping[str, Any]) -> Ints:
    """Return (army cells, 2) the smaller and larger number of each piece, then (0, 0) for empty cells (C2, C3)."""
    kinds = list(combinations_with_replacement(range(1, options["base"] + 1), 2))
    deck = np.zeros((rows_of_army(options["num_pieces"], options["cols"]) * options["cols"], 2), np.int8)
    deck[: options["num_pieces"]] = kinds * (options["num_pieces"] // len(kinds))
    return deck


def make_settings(options: Mapping[str, Any], moves: int) -> States:
    """Return one record of SETTINGS: the options for kernels. `moves` is the number of (from, to) actions."""
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
