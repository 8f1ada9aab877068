"""Texts about Trinim for players."""

from __future__ import annotations

import numpy as np

from ...core.game import Game
from ...core.types import Record
from ...core.wording import JSON, Wording

COLOURS = ("", "red", "green", "blue")


def wording(game: Game) -> Wording:
    """Return the wording for the options of `game`."""
    size, players = game.options["size"], game.num_players
    out = (
        " A player may `resign`: "
        + ("the opponent wins." if players == 2 else "that player has lost, what they took no longer counts, and the ")
        + "others play on." * (players == 3)
    )
    return Wording(
        title="Trinim",
        summary=(
            f"{'Two' if players == 2 else 'Three'} players, nothing is hidden; only the start is random. player_0 "
            "moves first, then the others in turn. Every cell holds a piece that is red, green or blue. A turn takes "
            "one piece, or all pieces of a straight line of two or more neighbouring cells, from one end to the other, "
            "all of which still hold a piece; a part of a longer line may be taken. The game ends when no piece is "
            "left. Then each player scores one point for each of the three colours of which they hold an even number; "
            "none is an even number. The highest score wins; if two or more share it, the game is a draw"
            + (" for everybody." if players == 3 else ".")
            + out * game.options["allow_resign"]
        ),
        geometry=(
            f"The board is a triangle of {size} rows, 1 at the top with one cell, {size} at the bottom. Columns have "
            "letters: the last column starts at the very top, and each further row begins one letter earlier. Straight "
            'lines run along a row, along a column (down to the right, "\\"), and along "/" (each row further down '
            "one letter earlier). `C3` takes the piece on C3, `D4-D2` the line from D4 to D2. In the picture r, g, b "
            "are red, green, blue."
        ),
        terms=("Trinim", "red", "green", "blue"),
        goal="Take pieces until none is left: each colour of which you then hold an even number scores a point.",
    )


def cell_texts(game: Game, view: Record) -> tuple[str, ...]:
    return tuple(COLOURS[piece] for piece in view["pieces"])


def facts(game: Game, view: Record) -> dict[str, JSON]:
    """Return the pieces that each player has taken."""
    taken: dict[str, JSON] = {}
    for seat, held in enumerate(view["held"].tolist()):
        counts: dict[str, JSON] = dict(zip(COLOURS[1:], held, strict=True))
        taken[f"player_{seat}"] = counts | {"resigned": True} if view["out"][seat] else counts
    return {"taken": taken}


def move_note(game: Game, before: Record, after: Record) -> str:
    """Return the pieces taken in the ply, by colour."""
    gone = before["pieces"][before["pieces"] != after["pieces"]]
    counts = np.bincount(gone, minlength=4).tolist()
    return ", ".join(f"{counts[k]} {COLOURS[k]}" for k in range(1, 4) if counts[k])
