"""Curio in sentences: for players who read, and for people at a board, with short rules and a lesson.

A piece's number towards the viewer comes first; "?" is an unknown number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.boards import NO_CELL
from ...core.game import Game
from ...core.state import NOBODY, Record
from ...core.wording import JSON, Example, Explanation, Rule, Step, Wording
from .pieces import ANY, CAPTURED, DIRECTIONS, EQUAL, GREATER, LESS, NO_PIECE, beats

ARMIES = ("Light", "Dark")
FACES = {
    "large": "At the start the larger number of each piece faces its owner.",
    "small": "At the start the smaller number of each piece faces its owner.",
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
            f"{COMPARED[capture]} the number that this player sees on the moving piece"
        )
    far = "at most as many cells as the number that its owner sees on it" if options["limit"] else "as far as you like"
    limit = options["no_capture_limit"]
    sentences = [
        "Two players with hidden information. Light is player_0 and moves first, Dark is player_1.",
        f"Each army has {'one piece' if sets == 1 else f'{sets} pieces'} for every pair of numbers from 1 to {base}, "
        "doubles included (11, 12, ...): one number on either side. Of every piece, friend or enemy, a player sees "
        f"only the number towards themselves. {FACES[options['face']]}",
        "A turn moves one of the player's own pieces in a straight line (along a row, column or diagonal) over empty "
        f"cells, at least one cell and {far}. It ends on an empty cell or captures an enemy piece there. {captures}.",
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


CAPTURES = {
    LESS: "less than {}",
    LESS | EQUAL: "{} or less",
    GREATER: "more than {}",
    GREATER | EQUAL: "{} or more",
}
"""The enemy numbers that a piece captures, by the relations of C7."""


def task(game: Game, view: Record) -> str:
    *_, last = np.flatnonzero(game.legal_action_mask(view.reshape(1))[0]).tolist()
    passing = game.notation.write(last - (last == game.resign_action)) == "pass"
    return "pass, since no piece of yours can move" if passing else "move a piece or capture"


def ending(game: Game, view: Record, player: int) -> str:
    if view["truncated"]:
        return f"no capture for {game.options['no_capture_limit']} moves"
    if view["returns"].any():
        loser = int(view["returns"].argmin())
        taker = "you" if player == 1 - loser else ARMIES[1 - loser]
        whose = "your" if player == loser else f"{ARMIES[loser]}'s"
        return f"{taker} captured {whose} last royal piece"
    if view["passed"]:
        return "neither side can move"
    left = [int(((view["owner"] == army) & (view["cell"] != CAPTURED)).sum()) for army in range(2)]
    return "each side has one piece left" if left == [1, 1] else "no piece can capture another any more"


# What is on a cell


def explain(game: Game, view: Record, cells: Sequence[int]) -> Explanation:
    first, mover = int(cells[0]), int(view["to_move"])
    slot = int(view["board"][first])
    if slot == NO_PIECE:
        return Explanation()
    ends = tuple(_ends(game, view, first))
    if len(cells) > 1:
        return Explanation(_why_not(game, view, first, int(cells[-1])), ends)
    if view["owner"][slot] == mover:
        return Explanation(_own(game, view, slot) + " It cannot move now: every way is blocked." * (not ends), ends)
    return Explanation(_enemy(game, view, slot), tuple(_within(game, view, first)))


def _ends(game: Game, view: Record, first: int) -> Iterator[int]:
    for action in np.flatnonzero(game.legal_action_mask(view.reshape(1))[0]).tolist():
        if game.action_cells(action)[:1] == (first,):
            yield game.action_cells(action)[1]


def _own(game: Game, view: Record, slot: int) -> str:
    number, options = int(view["faces"][slot, view["to_move"]]), game.options
    far = f"up to {_cells(number)}" if options["limit"] else "as far as the way is free"
    royal = " It is royal: keep it." if options["base"] in view["faces"][slot].tolist() else ""
    return f"Your {number} moves {far} in a straight line, and {_captures(game, number)}.{royal}"


def _captures(game: Game, number: int) -> str:
    rules = game.settings[0]  # type: ignore[attr-defined]
    if rules["compare"] == ANY:
        return "captures any enemy"
    which = CAPTURES[int(rules["compare"])]
    if rules["total"]:
        return f"captures enemies whose two numbers add up to {which.format('its own sum')}"
    return f"captures enemies that show you {which.format(number)}"


def _enemy(game: Game, view: Record, slot: int) -> str:
    viewer = int(view["to_move"])
    near, far = (int(view["faces"][slot, side]) for side in (viewer, 1 - viewer))
    known = f"Its other side is {far}" if far else "You do not know its other side"
    if not game.options["limit"]:
        return f"This enemy shows you {near}. {known}."
    most = far or int(view["bounds"][slot, 1 - viewer, 1])
    surely = "moves" if far else "may move"
    return f"This enemy shows you {near}. {known}: it {surely} up to {_cells(most)}."


def _within(game: Game, view: Record, first: int) -> Iterator[int]:
    """Yield the cells that an enemy piece may be able to reach, as far as the viewer knows."""
    slot, viewer = int(view["board"][first]), int(view["to_move"])
    most = int(view["faces"][slot, 1 - viewer]) or int(view["bounds"][slot, 1 - viewer, 1])
    for direction in range(DIRECTIONS):
        for distance, cell in enumerate(_line(game, first, direction), 1):
            target = int(view["board"][cell])
            if (game.options["limit"] and distance > most) or (target != NO_PIECE and view["owner"][target] != viewer):
                break
            yield cell
            if target != NO_PIECE:
                break


def _line(game: Game, cell: int, direction: int) -> Iterator[int]:
    while (cell := int(game.board.neighbours[cell, direction])) != NO_CELL:
        yield cell


def _why_not(game: Game, view: Record, first: int, last: int) -> str:
    names, board, mover = game.board.names, view["board"], int(view["to_move"])
    number = int(view["faces"][board[first], mover])
    lines = [list(_line(game, first, direction)) for direction in range(DIRECTIONS)]
    way = next((line[: line.index(last) + 1] for line in lines if last in line), [])
    if not way:
        return f"Pieces move in straight lines: {names[last]} is not in a line with {names[first]}."
    if game.options["limit"] and len(way) > number:
        return f"{names[last]} is {_cells(len(way))} away, and your {number} moves up to {_cells(number)}."
    if stands := [cell for cell in way[:-1] if board[cell] != NO_PIECE]:
        return f"The piece on {names[stands[0]]} stands in the way."
    target = int(board[last])
    if target != NO_PIECE and view["owner"][target] != mover:
        shown = int(view["faces"][target, mover])
        rules = game.settings[0]  # type: ignore[attr-defined]
        if rules["total"] or beats(number, shown, rules["compare"]):
            return f"Your {number} cannot capture this piece: the sums of both sides decide."
        return f"This enemy shows you {shown}: your {number} {_captures(game, number)}."
    return ""


def _cells(number: int) -> str:
    return "one cell" if number == 1 else f"{number} cells"


# Rules


def short_rules(game: Game) -> tuple[Rule, ...]:
    options = game.options
    base, turn = options["base"], options["turn"]
    far = ", at most as many cells as the number that you see on it" if options["limit"] else ", as far as you like"
    captures = _captures(game, 3).replace("show you 3", "show you its number").replace("than 3", "than its number")
    captures = captures.replace("show you its number or", "show you the same number or")
    opened = "Then it turns around, so that both of you know both its sides. " if turn else ""
    shown = (
        "The captured piece is shown to both of you." if options["reveal_captured"] else "Nobody sees its other side."
    )
    limit = options["no_capture_limit"]
    near = {"large": "larger", "small": "smaller"}.get(options["face"])
    start = f" When the game starts, the {near} number of every piece faces its owner." if near else ""
    sets = options["num_pieces"] // (base * (base + 1) // 2)
    army = f" An army has every pair of numbers from 1 to {base} {'once' if sets == 1 else f'{sets} times'}."
    quiet = f", or if nothing is captured for {limit} moves" if limit else ""
    return (
        Rule(
            "Every piece has a number on either side, and you see only the side that faces you, of your own pieces and "
            f"of enemy pieces, which point towards you. Large dots show what the other side may be.{start}{army}",
            Example(board=". . . . ./D14 D23 D22 D11 ./. . . . ./. . . . ./L31 L22 L41 L11 ."),
        ),
        Rule(
            f"On your turn, move one piece in a straight line, also diagonally, over empty cells{far}.",
            Example(("a1-a3",), board=". . . . ./D14 D23 . . ./. . . . ./. . . . ./L31 . L41 . ."),
        ),
        Rule(
            f"A piece {captures}, where it can move to. {opened}{shown} Capturing is never compulsory.",
            Example(("a1-a3", "d4-d3"), board=". . . . ./D14 . . D12 ./D23 . . . ./. . . . ./L31 . L41 . ."),
        ),
        Rule(
            f"A piece with the number {base} on either side is royal; those that you know wear a crown. Capture the "
            "last royal piece of your opponent, and you win.",
            Example(board=". . . . ./D14 . D44 . ./. D33 . . ./. . . . ./. L41 . L44 ."),
        ),
        Rule(
            f"The game is a draw if no piece can capture another any more, or if each side has one piece left{quiet}. "
            "A player who cannot move passes; two passes in a row are a draw, too.",
            Example(board=". . . . ./D14 . . . ./. . . . ./. . . . ./. . . L41 ."),
        ),
    )


LESSON = (
    Step(
        "You see a 3 on your piece: it moves up to three cells in a straight line. Click it, then move it as far up as "
        "it goes.",
        Example(board=". . . . D14/. . . . ./. . D12 . ./. . . . ./L31 . . L41 ."),
        ("a1-a4",),
        "Three cells. Your opponent now knows that you see a 3 or more on it, so do not always move that far.",
        "Its way up is free: the column leads from a1 to a4, which is three cells away.",
    ),
    Step(
        "Move this piece again: it captures what shows less, or the same. The enemy above it shows you a 2.",
        Example(board=". . . . D14/. . . . ./D23 . . . ./. . . . ./L31 . . L41 ."),
        ("a1-a3",),
        "Captured. Your piece has turned around: the other number, 1, faces you now, and both of you know both sides.",
        "Capture the enemy in the column of your 3: click your piece, then the enemy.",
    ),
    Step(
        "The enemy in the middle shows you a 3. Which of your two pieces may capture it?",
        Example(board=". . . . D14/. . . . ./. D34 . . ./. . . . ./. L21 . L42 ."),
        ("d1-b3",),
        "A 4 captures everything that shows you 4 or less. Diagonals are straight lines, too.",
        "A 2 cannot capture a 3. Your 4 reaches the enemy along the diagonal.",
    ),
    Step(
        "Your piece in the middle has captured and turned: it shows you a 1. So it moves one cell and captures only "
        "what shows you a 1. Capture with it.",
        Example(("a1-b2", "a4-b4"), board=". . . . ./D13 . . D44 ./. . D14 D22 ./. D23 . . ./L41 . . L21 ."),
        ("b2-c3",),
        "A 1 for a 4: the captured piece was royal. What shows you little may be great on its other side.",
        "Use the piece on b2. Its neighbour on c3 shows you a 1.",
    ),
    Step(
        "At the start, the larger number faces its owner. So the enemy that shows you a 3 has a 4 on its other side, "
        "and a crown. It is Dark's only royal piece: capture it and win.",
        Example(board=". . . . ./D12 . . D34 ./. . . . ./. L43 . . ./. . . . L31"),
        ("b2-d4",),
        "Dark has no royal piece left, so you win.",
        "The crown tells you which enemy is royal.",
    ),
    Step(
        "Dark has captured your 2 with its 4, and the piece has turned: it shows you the 4. Capture it, and win.",
        Example(("c1-c2", "d3-c2"), board=". . . . ./. . . . ./D12 . . D14 ./L42 . . . ./. . L21 L31 ."),
        ("a2-c2",),
        "It was Dark's last royal piece, so you win.",
        "Only a 4 captures a 4.",
    ),
)
