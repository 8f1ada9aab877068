"""Chameleon in sentences: for players who read, and for people at a board, with short rules and a lesson."""

from __future__ import annotations

from ...core.game import Game
from ...core.state import Record
from ...core.wording import Example, Rule, Step, Wording
from ..chains import last_chain
from .rules import LEFT_RIGHT, TOP_BOTTOM

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


EDGES = {"Vert": "top and bottom", "Horz": "left and right"}
FIVE, THREE = {"size": 5}, {"size": 3}
COLUMN = ("c1x", "a2o", "c2x", "e4o", "b3x", "d5o", "b4x", "e2o")
CROSS = ("c1x", "a3o", "c2x", "b3o", "c4x", "d3o", "c5x", "e3o")
BOTH = ("b1x", "b3x", "a2x", "c2x")


def task(game: Game, view: Record) -> str:
    mine, other = (EDGES[game.role(view, player)] for player in (int(view["to_move"]), 1 - int(view["to_move"])))
    if game.options["swap_rule"] and view["ply"] == 1:
        return f"place a letter to join {mine}, or swap: you join {other} then, and the first letter stays"
    return f"place an x or an o to join {mine}"


def ending(game: Game, view: Record, player: int) -> str:
    chain, touches = last_chain(game, view)
    winner = int(view["returns"].argmax())
    role, mark = game.role(view, winner), LETTERS[view["stones"][min(chain)]] if chain else ""
    sides = TOP_BOTTOM if role == "Vert" else LEFT_RIGHT
    if touches & sides != sides:
        return ""
    if player == winner:
        return f"your chain of {mark} joins {EDGES[role]}"
    by_mistake = ", by your own move" * (player == 1 - int(view["to_move"]))
    return f"a chain of {mark} joins {EDGES[role]} for {role}{by_mistake}"


RULES = (
    Rule(
        "Vert owns the blue edges, top and bottom; Horz owns the orange edges, left and right. You win when a chain of "
        "one letter joins your two edges. A corner cell counts for both its edges. Here Vert has won.",
        Example((*COLUMN, "a5x"), options=FIVE),
    ),
    Rule(
        "On your turn, place one letter on any empty cell: x or o, as you like. Nothing is ever moved or taken away.",
        Example(("b4x", "d3o", "c1o", "a2x"), options=FIVE),
    ),
    Rule(
        "A letter touches up to six others: left, right, above, below, above right and below left. These six letters "
        "o all touch the x.",
        Example(("c3x", "b3o", "d3o", "c2o", "c4o", "d2o", "b4o"), options=FIVE),
    ),
    Rule(
        "It does not matter who placed the letters. Either letter can win for you, and your own move can complete "
        "your opponent's chain. Here a chain of o has won for Horz.",
        Example((*CROSS, "c3o"), options=FIVE),
    ),
    Rule(
        "If one move completes a chain for both players, the player who made it wins. There are no draws.",
        Example((*BOTH, "b2x"), options=THREE),
    ),
)
SWAP = Rule(
    "Only at the second turn of the game, the player may swap instead of placing a letter: the players exchange their "
    "edges, the letter stays where it is, and it is the first player's turn. So a first move that is too "
    "good is taken over.",
    Example(("c3x", "swap"), player=1, options=FIVE),
)


def short_rules(game: Game) -> tuple[Rule, ...]:
    return (*RULES, SWAP) if game.options["swap_rule"] else RULES


LESSON = (
    Step(
        "You are Vert and join the blue edges, top and bottom. Your chain of x is one letter short. Click a cell that "
        "completes it, and choose x.",
        Example(COLUMN, options=FIVE),
        ("a5x", "b5x"),
        "The chain joins top and bottom: you win. Two cells led to the edge, so nobody could have stopped you.",
        "That does not reach the bottom. The last x of the chain stands on b4: continue below it.",
    ),
    Step(
        "Letters belong to nobody. This time a chain of o is nearly complete. Close the gap.",
        Example(("d1o", "d3x", "d2o", "a1x", "c4o", "e5x", "c5o", "e1x"), options=FIVE),
        ("c3o",),
        "Right: a chain of o wins for you as well, whoever placed its letters.",
        "The chain of o lacks one cell between d2 and c4. Cells touch above right and below left, too.",
    ),
    Step(
        "Now Horz threatens to win: one more o on the right edge, and left and right are joined. Stop it.",
        Example(("e2x", "a3o", "a5x", "b3o", "a1x", "c3o", "c1x", "d3o"), options=FIVE),
        ("e3x",),
        "Stopped. You block a chain of o with an x, and a chain of x with an o.",
        "Horz still wins on e3. Fill that cell yourself, with the letter that does not help Horz.",
    ),
    Step(
        "On c3 both letters complete a chain. Choose the one that joins your edges.",
        Example(CROSS, options=FIVE),
        ("c3x",),
        "The x joins top and bottom. An o would have joined left and right, and your own move would have lost.",
        "Look at the middle: an x on c3 joins the blue edges, an o the orange ones.",
    ),
    Step(
        "Whoever completes a chain for both sides wins. Join these two groups of x.",
        Example(BOTH, options=THREE),
        ("b2x", "c1x", "a3x"),
        "The chain touches all four edges. You made the move, so you win.",
        "The groups are b1 with a2, and c2 with b3. Place an x that touches both.",
    ),
    Step(
        "The second turn of a game: your opponent has begun in the middle, which is strong on a small board. Take the "
        "position over: swap.",
        Example(("c3x",), player=1, options=FIVE),
        ("swap",),
        "You now own top and bottom, and the x in the middle works for you.",
        "That is a legal move, but here swapping is better: use the button beside the board.",
    ),
)
