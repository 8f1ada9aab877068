"""Unlur in sentences: for players who read, and for people at a board, with short rules and a lesson."""

from __future__ import annotations

from ...core.game import Game
from ...core.state import NOBODY, Record
from ...core.wording import JSON, Example, Rule, Step, Wording
from ..chains import last_chain
from .rules import BLACK, SIDES_14, SIDES_25, SIDES_36, SIDES_135, SIDES_246

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
        terms=("Unlur", "Black", "White", "Y", "line", "contract", "fight"),
        goal="Black joins three sides that are not neighbours (a Y), White two opposite sides (a line).",
        calls={"black": "Take Black"},
    )


def cell_texts(game: Game, view: Record) -> tuple[str, ...]:
    return tuple(COLOURS[stone] for stone in view["stones"])


def facts(game: Game, view: Record) -> dict[str, JSON]:
    return {"phase": "contract" if view["black"] == NOBODY else "fight"}


YS = {SIDES_135: "sides 1, 3 and 5", SIDES_246: "sides 2, 4 and 6"}
LINES = {
    SIDES_14: "the opposite sides 1 and 4",
    SIDES_25: "the opposite sides 2 and 5",
    SIDES_36: "the opposite sides 3 and 6",
}
FOUR = {"radius": 4}


def _moves(text: str) -> tuple[str, ...]:
    return tuple(text.split())


INNER = _moves("b2 b3 b4 c2 c3 c4 c5 d2 d3 d4 d5 d6 e3 e4 e5 e6 f4 f5 f6")
"""The cells on no side of a board of radius 4."""
THREE_ARMS = _moves("d4 c4 black c2 b3 b5 a2 d6 e5 f4 e6 g6 e7 c1 e4 a4 e3 g5")
TWO_SIDES = _moves("d4 c4 black c2 b3 b5 a2 d6 e4 f4 e3 c1 e2 a4 e5 b1 f6 g4")
WHITE_LINE = _moves("d3 black a2 c5 b2 d5 c2 e6 e3 f5 f4 b4 g5 c4")
WHITE_TRAP = _moves("c2 black a2 b1 b3 b5 c4 d6 d4 c5 e5 g7 e6 d7 e7 c1 e4 a4 e3 a1 f5 c6")


def task(game: Game, view: Record) -> str:
    if view["black"] == NOBODY:
        placing = any(game.legal_action_mask(view.reshape(1))[0, : game.board.size])
        return "place a black stone on an inner cell, or take Black" if placing else "take Black: no inner cell is free"
    if view["black"] == view["to_move"]:
        return "place a black stone to join sides 1, 3, 5 or 2, 4, 6"
    return "place a white stone to join two opposite sides"


def ending(game: Game, view: Record, player: int) -> str:
    chain, touches = last_chain(game, view)
    winner = int(view["returns"].argmax())
    black_won = view["black"] == winner
    joined = next((text for sides, text in (YS if black_won else LINES).items() if touches & sides == sides), "")
    if not joined:
        return ""
    black_chain = view["stones"][min(chain)] == BLACK
    owner = int(view["black"]) if black_chain else 1 - int(view["black"])
    whose = ("your" if owner == player else "a") + (" black" if black_chain else " white")
    return f"{whose} chain joins {joined}" + f", which wins for {game.role(view, winner)}" * (owner != winner)


RULES = (
    Rule(
        "The game begins with the contract: both players, in turn, place black stones. No stone may stand on a side of "
        "the board yet.",
        Example(("d4", "c4", "e5"), options=FOUR),
    ),
    Rule(
        "At any turn of the contract you may take Black instead. All stones on the board are yours then, and your "
        "opponent plays White and moves next. Take Black too early, and Black is too weak; too late, and your opponent "
        "takes it. When no inner cell is free, it must be taken.",
        Example(("d4", "c4", "e5", "black"), player=1, options=FOUR),
    ),
    Rule(
        "From then on, each player places one stone of their own colour on any empty cell, sides included.",
        Example(WHITE_LINE[:6], options=FOUR),
    ),
    Rule(
        "Black wins with a Y: one chain of black stones that joins sides 1, 3 and 5 (blue), or sides 2, 4 and 6 "
        "(orange).",
        Example((*THREE_ARMS, "e2"), options=FOUR),
    ),
    Rule(
        "White wins with a line: one chain of white stones that joins two opposite sides: 1 and 4, 2 and 5, or "
        "3 and 6.",
        Example((*WHITE_LINE, "d2"), options=FOUR),
    ),
    Rule(
        "Completing the other figure loses: Black with a line that is not a Y, White with a Y that is not a line. A "
        "corner belongs to both its sides. Here Black has made a line, and White has won. There are no draws.",
        Example((*TWO_SIDES, "g6"), options=FOUR),
    ),
)


def short_rules(game: Game) -> tuple[Rule, ...]:
    return RULES


LESSON = (
    Step(
        "The game begins with the contract: both players place black stones, and nobody is Black yet. Place one on any "
        "cell that is not on a side.",
        Example(options=FOUR),
        INNER,
        "Now it is the other player's turn to add a black stone, or to take Black.",
        "One stone is too few to be Black, who must join three sides. Place a stone first.",
    ),
    Step(
        "Three black stones in the middle are strong on this small board. Take Black, before your opponent does.",
        Example(("d4", "c4", "e5"), player=1, options=FOUR),
        ("black",),
        "The three stones are yours. Your opponent is White and moves next.",
        "Another stone makes Black stronger, and your opponent would take Black. Use the button beside the board.",
    ),
    Step(
        "You are Black and need a Y: one chain that joins sides 1, 3 and 5. It reaches sides 1 and 3. Complete it.",
        Example(THREE_ARMS, options=FOUR),
        ("e2", "f3"),
        "Sides 1, 3 and 5 are joined: a Y, and you win.",
        "The chain ends on e3, next to side 5. Place a stone there that stands on the side.",
    ),
    Step(
        "In another game you are White and need a line: one chain that joins two opposite sides. Close the gap.",
        Example(WHITE_LINE, options=FOUR),
        ("d2",),
        "Sides 1 and 4 are opposite: a line, and you win.",
        "The white stones on c2 and e3 are one cell apart. Which cell touches both?",
    ),
    Step(
        "You are Black. Your chain joins sides 1 and 5. Complete the Y, but beware: joining side 4 as well, without "
        "side 3, makes a line and loses.",
        Example(TWO_SIDES, options=FOUR),
        ("f7", "g7"),
        "Side 3 completes the Y. The corner g7 counts for both its sides: there it is a Y and a line, which wins, too.",
        "From f6 your chain can reach side 3. A stone on g6 would touch only side 4: a line for White.",
    ),
    Step(
        "You are White. Your chain joins sides 1 and 3. Make the line. On side 5 you would complete a Y, and lose.",
        Example(WHITE_TRAP, options=FOUR),
        ("g5", "g6"),
        "Sides 1 and 4 are joined: a line, and you win.",
        "Your chain touches sides 1 and 3. Opposite of side 1 is side 4, at the bottom.",
    ),
)
