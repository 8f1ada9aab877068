"""Texts about Unlur for players."""

from __future__ import annotations

from ...core.game import Game
from ...core.state import NOBODY
from ...core.types import Record
from ...core.wording import JSON, Wording

COLOURS = ("", "black", "white")


def wording(game: Game) -> Wording:
    """Return the wording for the options of `game`."""
    radius = game.options["radius"]
    return Wording(
        title="Unlur",
        summary=(
            "Two players, nothing is hidden. First comes the contract phase: player_0 moves first, and in turn each "
            "player places a black stone on an empty cell that lies on no side of the board, or says `black`. Whoever "
            "says `black` is Black for the rest of the game, with all black stones that stand; the other is White and "
            "moves next. If no such cell is empty, only `black` is legal. After that each player in turn places one "
            "stone of their own colour on any empty cell. A chain is a group of touching stones of one colour; a "
            "corner cell lies on both its sides. A Y is a chain that touches the sides 1, 3 and 5, or the sides 2, 4 "
            "and 6. A line is a chain that touches two opposite sides: 1 and 4, 2 and 5, or 3 and 6. Black wins by "
            "completing a black Y, White by completing a white line. A player whose move completes only the other's "
            "kind of figure (Black a line and no Y, White a Y and no line) loses at once; a move that completes both "
            "wins. No game is drawn." + " A player may `resign`: the opponent wins." * game.options["allow_resign"]
        ),
        geometry=(
            f"The board is a hexagon with {radius} cells along each side. Rows are a, b, ... from the top; columns are "
            "numbered and run down to the left; `c4` is row c, column 4. A cell touches its left and right neighbour "
            "in its row, in the row below the cells with the same and the next number, and in the row above those with "
            "the same number and the one before. Side 1 is the top row, then clockwise: 2 upper right, 3 lower right, "
            "4 bottom row, 5 lower left, 6 upper left. In the picture X is black, O is white."
        ),
        edges=tuple(f"side {k}" for k in range(1, 7)),
        terms=("Unlur", "Black", "White", "Y", "line"),
        goal="Black joins three sides that are not neighbours (a Y), White two opposite sides (a line).",
        calls={"black": 'Say "black": take Black now'},
    )


def cell_texts(game: Game, view: Record) -> tuple[str, ...]:
    return tuple(COLOURS[stone] for stone in view["stones"])


def facts(game: Game, view: Record) -> dict[str, JSON]:
    return {"phase": "contract" if view["black"] == NOBODY else "fight"}
