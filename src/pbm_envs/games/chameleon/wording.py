"""Texts about Chameleon for players."""

from __future__ import annotations

from ...core.game import Game
from ...core.types import Record
from ...core.wording import Wording

LETTERS = ("", "x", "o")


def wording(game: Game) -> Wording:
    """Return the wording for the options of `game`."""
    size = game.options["size"]
    swap = (
        " At the second turn of the game, and only then, the player to move may say `swap` instead: the players "
        "exchange their edges, the letter stays, and it is the first player's turn."
    )
    return Wording(
        title="Chameleon",
        summary=(
            "Two players, nothing is hidden. player_0 moves first. Vert owns the edges top and bottom, Horz owns the "
            "edges left and right. A turn places one letter, x or o as the player likes, on any empty cell; nothing is "
            "ever moved or removed. A chain is a group of cells with the same letter, each touching the next. Vert "
            "wins with a chain, of x or of o, that joins top and bottom; Horz with one that joins left and right. Who "
            "placed the letters does not matter, and a move can complete the opponent's chain. If one move completes a "
            "chain for both, the player who made it wins. No game is drawn."
            + swap * game.options["swap_rule"]
            + " A player may `resign`: the opponent wins." * game.options["allow_resign"]
        ),
        geometry=(
            f"The board has {size} x {size} cells. Columns are a, b, ... from the left, rows 1, 2, ... from the top; "
            "`c2x` places x on the cell of column c and row 2. A cell touches up to six others: left, right, above, "
            "below, above right and below left (not above left, not below right). The picture slants the rows, so that "
            "touching cells are near each other."
        ),
        edges=("top", "bottom", "left", "right"),
        terms=("Chameleon", "Vert", "Horz", "x", "o", "top", "bottom", "left", "right", "swap"),
        goal="Join your two edges by a chain of one letter, x or o, whoever placed it.",
        calls={"swap": "Swap: take the other edges"},
    )


def cell_texts(game: Game, view: Record) -> tuple[str, ...]:
    return tuple(LETTERS[stone] for stone in view["stones"])
