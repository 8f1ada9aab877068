"""Trinim in sentences: for players who read, and for people at a board, with short rules and a lesson."""

from __future__ import annotations

import numpy as np

from ...core.game import Game
from ...core.state import Record
from ...core.wording import JSON, Example, Rule, Step, Wording
from .rules import NAMES, score

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


LAST_THREE = Example(("A5-C3", "E4", "D4-D3", "D2-E1", "D5", "C5", "E5", "B5"), board="r/gb/rrg/brgr/ggbbb")
LAST_FIVE = Example(("B4-E4", "D3-E2", "B5", "C3-E1"), board="b/gb/brb/rgrg/bgrgr")
REDS = Example(board="r/rg/..b/..../g...b")


def task(game: Game, view: Record) -> str:
    return "take one piece, or a line without a gap"


def ending(game: Game, view: Record, player: int) -> str:
    return "; ".join(_scored(view, seat, player) for seat in range(game.num_players))


def _scored(view: Record, seat: int, player: int) -> str:
    who = "you" if seat == player else f"player_{seat}"
    if view["out"][seat]:
        return f"{who} resigned"
    even = [name for (_, name), held in zip(NAMES.items(), view["held"][seat].tolist(), strict=True) if held % 2 == 0]
    points = int(score(view["held"][seat]))
    colours = f" (even: {' and '.join(filter(None, [', '.join(even[:-1]), even[-1]]))})" if even else ""
    return f"{who} scored {points or 'nothing'}{colours}"


def short_rules(game: Game) -> tuple[Rule, ...]:
    third = game.num_players == 3
    others = "All players" if third else "Both players"
    return (
        Rule(
            "Take one piece, or all pieces of a straight line in one of the three directions, whatever their colours: "
            "click its two ends. You cannot pass.",
            Example(("A5-E5",), board="r/gb/rgb/bgrg/rbgrb"),
        ),
        Rule(
            "A line may be part of a longer one, but it has no gap. Here the two pieces left of the gap can be taken "
            "together, not all four.",
            Example(board="r/../.../..../rb.gr"),
        ),
        Rule(
            f"{others} take in turn until no piece is left. You score a point for each colour of which you hold an "
            "even number; how many pieces that are does not matter. Here two red pieces stand side by side: take both, "
            "and your number of red stays even.",
            REDS,
        ),
        Rule(
            "None is even, too: whoever has never taken a green piece scores for green. "
            "The highest score wins; a shared highest score is a draw" + " for everybody" * third + ".",
            LAST_THREE,
        ),
    )


LESSON = (
    Step(
        "Take a single piece: click the red one at the top.",
        Example(board="r/../g.b/..../....."),
        ("E1",),
        "Taken. It counts among your red pieces.",
        "That works as well, but take the red one this time.",
    ),
    Step(
        "Take a whole line at once: all three pieces of the bottom row. Click one end of the line, then the other.",
        Example(board="g/../.../..../rgb.."),
        ("A5-C5",),
        "Three pieces in one move.",
        "Take the whole row this time: click A5, then C5.",
    ),
    Step(
        "Lines run along rows and along both slanting sides, and they end at a gap. Take the longest line.",
        Example(board="b/.r/..g/.rb./gr.bb"),
        ("E3-E1",),
        "Three pieces. The line in the bottom row has a gap, so only two of its pieces go together.",
        "There is a line of three on the right side, from E1 down.",
    ),
    Step(
        "In the end you score for each colour of which you hold an even number. You hold nothing yet. Take two pieces "
        "of the same colour.",
        REDS,
        ("D2-E1",),
        "Two red pieces: an even number, and still none of green and blue, which is even, too.",
        "One piece of a colour is an odd number. Two neighbours are both red.",
    ),
    Step(
        "Three pieces are left. You have an even number of red and green, your opponent too. Take the right ones, so "
        "that you score two points, and your opponent takes the last piece and scores one.",
        LAST_THREE,
        ("E3-E2",),
        "You hold an even number of red and blue: two points. The red piece that is left spoils your opponent's red.",
        "Count: you hold 2 red, 2 green and 3 blue. Blue becomes even with one more, and the last piece should be red.",
    ),
    Step(
        "Now look ahead. Find the move after which you win, whatever your opponent takes.",
        LAST_FIVE,
        ("C5-E5",),
        "Red and green are even now. Each of you takes one of the two blue pieces, and you win by two points to one.",
        "You hold 2 red, 3 green and no blue. Make green even, keep red even, and leave the two blue pieces.",
    ),
)
