"""Texts about Curio for players. A piece's number towards the viewer comes first; "?" is an unknown number."""

from __future__ import annotations

import numpy as np

from ...core.game import Game
from ...core.state import NOBODY
from ...core.types import Record
from ...core.wording import JSON, Wording
from .pieces import CAPTURED, NO_PIECE

ARMIES = ("Light", "Dark")
FACES = {
    "large": "At the start the larger number of each piece is towards its owner.",
    "small": "At the start the smaller number of each piece is towards its owner.",
    "random": "At the start each piece is turned at random.",
}
COMPARED = {
    "lt": "less than",
    "le": "less than or equal to",
    "gt": "greater than",
    "ge": "greater than or equal to",
}


def wording(game: Game) -> Wording:
    """Return the wording for the options of `game`."""
    options = game.options
    base, sets = options["base"], options["num_pieces"] // (options["base"] * (options["base"] + 1) // 2)
    capture = options["capture"]
    if capture == "any":
        captures = "It may capture any enemy piece"
    elif capture.endswith("_total"):
        captures = (
            "It may capture an enemy piece if the sum of the enemy piece's two numbers is "
            f"{COMPARED[capture.removesuffix('_total')]} the sum of its own two"
        )
    else:
        captures = (
            "It may capture an enemy piece if the number that the moving player sees on the enemy piece is "
            f"{COMPARED[capture]} the number that this player sees on the own piece"
        )
    far = "at most as many cells as the number that its owner sees on it" if options["limit"] else "as far as you like"
    limit = options["no_capture_limit"]
    sentences = [
        "Two players with hidden information. Light is player_0 and moves first, Dark is player_1.",
        f"Each army has {'one piece' if sets == 1 else f'{sets} pieces'} for every pair of numbers from 1 to {base}, "
        "doubles included (11, 12, ...): one number on either side. Of every piece, friend or enemy, a player sees "
        f"only the number towards themselves. {FACES[options['face']]}",
        "A turn moves one own piece in a straight line (along a row, column or diagonal) over empty cells, at least "
        f"one cell and {far}. It ends on an empty cell or captures an enemy piece there. {captures}.",
        "A piece that has captured turns around at once, and from then on both players know both its numbers."
        if options["turn"]
        else "A piece that has captured does not turn.",
        "The captured piece leaves the board and is shown to both players from both sides."
        if options["reveal_captured"]
        else "The captured piece leaves the board without being shown.",
        f"Pieces with the number {base} on either side are royal. Whoever captures the opponent's last royal piece "
        "wins.",
        "The game is drawn when no capture can ever happen again, or when both have one piece left.",
        "A player without a legal move must `pass`, nobody else may; two passes in a row draw."
        + (f" After {limit} plies without a capture the game is a draw." if limit else ""),
    ]
    if options["allow_resign"]:
        sentences.append("A player may `resign`: the opponent wins.")
    return Wording(
        title="Curio",
        summary=" ".join(sentences),
        geometry=(
            f"The board has {options['rows']} rows and {options['cols']} columns. Light sits below row 1, Dark above "
            f"row {options['rows']}. Columns are a, b, ... from left to right and rows 1, 2, ... from bottom to top, "
            "both as Light sees the board; `d2-b4` moves from d2 to b4. In the picture enemy pieces are dotted; the "
            "number on the front of a piece is the one that you see, the one on its top edge, where there is one, the "
            "other side that you know."
        ),
        terms=("Curio", "Light", "Dark", "royal"),
        goal=(
            "Capture the last royal piece (with a crown) of the other army. You see only the number of each piece that "
            "is turned to you."
        ),
        calls={"pass": "Pass: no piece can move"},
    )


def cell_texts(game: Game, view: Record) -> tuple[str, ...]:
    """Return texts such as "own 4/?" or "enemy 2/1"; in a full state "Light 4/1", Light's side first."""
    return tuple("" if slot == NO_PIECE else f"{_whose(view, slot)} {numbers_of(view, slot)}" for slot in view["board"])


def facts(game: Game, view: Record) -> dict[str, JSON]:
    """Return the captured pieces and the number of plies since the last capture."""
    captured: dict[str, JSON] = {
        name: [
            numbers_of(view, slot)
            for slot in np.flatnonzero((view["owner"] == army) & (view["cell"] == CAPTURED)).tolist()
        ]
        for army, name in enumerate(ARMIES)
    }
    return {"captured": captured, "plies since the last capture": int(view["quiet"])}


def move_note(game: Game, before: Record, after: Record) -> str:
    """Return the captured piece and the numbers of the piece that captured it."""
    slot = int(after["last_captured"])
    if slot == NO_PIECE or before["cell"][slot] == CAPTURED:
        return ""
    taker = int(after["taker"][slot])
    return f"captures {numbers_of(after, slot)}, is now {numbers_of(after, taker)}"


def _whose(view: Record, slot: int) -> str:
    if view["viewer"] == NOBODY:
        return ARMIES[view["owner"][slot]]
    return "own" if view["owner"][slot] == view["viewer"] else "enemy"


def numbers_of(view: Record, slot: int) -> str:
    """Return the number towards the viewer (Light in a full state), then the other."""
    seen = max(int(view["viewer"]), 0)
    return f"{view['faces'][slot, seen] or '?'}/{view['faces'][slot, 1 - seen] or '?'}"
