"""Numbers of move sequences of length 1..d from fixed positions, computed by the references: writes tests/perft.json.

    python -m tests.reference.perft         (from the repository root)

A sequence that ends the game earlier does not count for the greater lengths; `resign`, `swap` and `pass` are moves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.reference import start

OUTPUT = Path("tests") / "perft.json"

PICTURED = "b/bb/bgr/grgg/rbgrr"  # Trinim's help page
SIX = "r/gb/brg/ggrb/rbbgr/bgrrgb"
# Curio's help page: the faces that Light sees are the picture's
TEN_EACH = "D11 D33 D12 D22 D13/D23 D14 D24 D44 D34/. . . . ./L44 L43 L22 L21 L33/L42 L41 L11 L32 L31"
CURIO_SMALL = {"base": 2, "rows": 4, "cols": 3, "num_pieces": 3}
CURIO_THREE = {"base": 3, "rows": 4, "cols": 3, "num_pieces": 6}
CURIO_FULL = {"base": 2, "rows": 2, "cols": 3, "num_pieces": 3, "capture": "gt"}

# Game, options, board (None: the empty board), opening moves, greatest length
POSITIONS: list[tuple[str, dict[str, Any], str | None, str, int]] = [
    ("chameleon", {"size": 3}, None, "", 4),
    ("chameleon", {"size": 3, "swap_rule": False}, None, "", 4),
    ("chameleon", {"size": 3, "allow_resign": True}, None, "", 4),
    ("chameleon", {"size": 3}, None, "b2x swap a1o", 4),
    ("chameleon", {"size": 3}, None, "a1x c1o b2x a3o", 5),
    ("chameleon", {"size": 4}, None, "", 3),
    ("chameleon", {"size": 4, "swap_rule": False, "allow_resign": True}, None, "", 3),
    ("chameleon", {"size": 4}, None, "a3x c4x d3o a4o b1o a1x b2o d4x d1o d2x c3x c2o", 4),  # two joining moves
    ("chameleon", {"size": 5}, None, "", 3),
    (
        "chameleon",
        {"size": 5, "allow_resign": True},
        None,
        "a5x swap d5x e2x b2x a3o b1o c3x b3o c5x e4x d2o e3o b5o d4o c4x a1x a4o c1o e5x d1x",
        4,
    ),
    ("chameleon", {}, None, "", 2),
    ("chameleon", {"swap_rule": False}, None, "", 2),
    ("chameleon", {"allow_resign": True}, None, "", 2),
    (
        "chameleon",
        {},
        None,  # f6x wins for Vert, f6o for Horz
        "f1x swap f2x a6o f3x b6o f4x c6o f5x d6o f7x e6o f8x g6o f9x h6o f10x i6o f11x j6o k6o",
        2,
    ),
    ("unlur", {"radius": 3}, None, "", 4),
    ("unlur", {"radius": 3, "allow_resign": True}, None, "", 4),
    ("unlur", {"radius": 3}, None, "black", 3),
    ("unlur", {"radius": 3}, None, "b2 b3 c2 c3 c4 d3", 4),  # the contract phase runs out of cells
    ("unlur", {"radius": 3}, None, "c3 b3 b2 d4 c4 d3 c2 black e4 c5 e3 b4", 5),
    ("unlur", {"radius": 3, "allow_resign": True}, None, "c3 b3 black a1 b2 a2 c2 a3 d3 e4", 4),
    ("unlur", {"radius": 4}, None, "", 3),
    ("unlur", {"radius": 4, "allow_resign": True}, None, "d4 black", 3),
    (
        "unlur",
        {"radius": 4},
        None,
        "d4 b2 e4 d6 f6 e6 b4 c4 e3 c5 black e7 d1 d3 g6 e2 b1 d5 e5 a4 c6 b3 b5 a2 f5 d2 g5 f3 c2 a3",
        4,
    ),
    ("unlur", {}, None, "", 3),
    ("unlur", {"allow_resign": True}, None, "", 2),
    ("unlur", {}, None, "black", 2),
    ("unlur", {}, None, "black a3 a1 b3 a5 c3 b5 d4 c6 e5 d7 f5 e1 g7 f1 h8 f10 i9 g3 j9 h5", 2),  # almost diagram 2
    ("trinim", {"size": 3}, "r/gb/bgr", "", 6),
    ("trinim", {"size": 3, "num_players": 3, "allow_resign": True}, "r/gb/bgr", "", 5),
    ("trinim", {}, PICTURED, "", 3),
    ("trinim", {"allow_resign": True}, PICTURED, "", 3),
    ("trinim", {"num_players": 3}, PICTURED, "", 3),
    ("trinim", {"num_players": 3, "allow_resign": True}, PICTURED, "", 3),
    ("trinim", {"num_players": 3, "allow_resign": True}, PICTURED, "A5-E5 B4-E4 resign", 3),
    ("trinim", {"num_players": 3, "allow_resign": True}, PICTURED, "A5-E5 B4-E4 C3-E3", 5),
    ("trinim", {}, "./rb/..g/.r.b/g....", "", 6),
    ("trinim", {"size": 6}, SIX, "", 3),
    ("trinim", {"size": 6, "num_players": 3, "allow_resign": True}, SIX, "A6-F6 B5-C4", 3),
    ("curio", {}, TEN_EACH, "", 3),
    ("curio", {"allow_resign": True}, TEN_EACH, "b2-b3 b4-b3", 2),
    ("curio", {**CURIO_SMALL, "limit": False, "capture": "any"}, "D12 D11 D22/. . ./. . ./L21 L22 L11", "", 4),
    (
        "curio",
        {**CURIO_SMALL, "turn": False, "capture": "lt", "no_capture_limit": 2},
        "D12 D11 D22/. . ./. . ./L21 L22 L11",
        "",
        4,
    ),
    ("curio", {**CURIO_THREE, "capture": "gt"}, "D11 D23 D12/D33 D13 D22/L21 L33 L11/L22 L31 L32", "", 4),
    (
        "curio",
        {**CURIO_THREE, "face": "small", "capture": "le_total", "limit": False},
        "D11 D32 D21/D33 D31 D22/L12 L33 L11/L22 L13 L23",
        "",
        4,
    ),
    ("curio", CURIO_THREE, ". . D13/. . ./D22 D33 ./L13 D23 .", "", 4),  # Light must pass: L13 has been turned
    ("curio", CURIO_FULL, "D11 D12 D22/L11 L21 L22", "", 3),  # nobody can move: two passes
]


def sequences(game: Any, length: int) -> int:
    """The number of legal move sequences of exactly `length` plies."""
    if length == 1:
        return len(game.legal())
    total = 0
    for text in game.legal():
        after = game.copy()
        after.play(text)
        total += sequences(after, length - 1)
    return total


def main() -> None:
    """Count all positions and write the file."""
    lines = []
    for name, options, board, opening, depth in POSITIONS:
        moves = opening.split()
        counts = [sequences(start(name, options, board, moves), length) for length in range(1, depth + 1)]
        lines.append(json.dumps(dict(game=name, options=options, board=board, moves=moves, counts=counts)))
        print(lines[-1])
    OUTPUT.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
