"""The random set-ups cell by cell (C2, C3, C5; T3), for programs that want every chance event spelled out.

Dealing each cell with the probabilities given here makes every board as likely as `init` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

from .game import Game

Piece = tuple[str, ...]
"""The ways in which a piece can lie, equally likely, as board texts have them."""


@dataclass(frozen=True)
class Deal:
    """The set-up of a game. Outcome k is `texts[k]`, put on the next of `cells`.

    >>> from pbm_envs import Trinim
    >>> deal = deal_of(Trinim(size=3, num_players=3))
    >>> deal.texts, deal.outcomes([0, 0])
    (('b', 'g', 'r'), [(1, 0.5), (2, 0.5)])
    >>> deal.board([0, 0, 1, 2, 1, 2])
    'b/bg/rgr'
    """

    cells: tuple[int, ...]
    """In the order in which they are dealt."""
    names: tuple[str, ...]
    """Theirs."""
    decks: tuple[tuple[Piece, ...], ...]
    """The first is dealt to the first cells, as many as it has pieces, and so on."""
    rows: tuple[tuple[int, ...], ...]
    """Of the board text: the cells of each."""
    blank: str
    """What the board text has between two cells."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(sorted({text for deck in self.decks for piece in deck for text in piece}))

    def outcomes(self, dealt: Sequence[int]) -> list[tuple[int, float]]:
        """What can come next after the outcomes `dealt`, and with what probability."""
        first = 0
        for deck in self.decks:
            if len(dealt) < first + len(deck):
                break
            first += len(deck)
        else:
            raise ValueError(f"{len(dealt)} outcomes: all {len(self.cells)} cells are dealt")
        piece_of = {text: piece for piece in deck for text in piece}
        left = Counter(deck) - Counter(piece_of[self.texts[outcome]] for outcome in dealt[first:])
        return sorted(
            (self.texts.index(text), count / left.total() / len(piece))
            for piece, count in left.items()
            for text in piece
        )

    def board(self, dealt: Sequence[int]) -> str:
        """The board text when all is dealt."""
        lies = dict(zip(self.cells, (self.texts[outcome] for outcome in dealt), strict=True))
        return "/".join(self.blank.join(lies.get(cell, ".") for cell in row) for row in self.rows)

    def read(self, board: str) -> tuple[int, ...]:
        """The outcomes that make this board."""
        lies: dict[int, str] = {}
        for row, text in zip(self.rows, board.split("/"), strict=True):
            lies.update(zip(row, text.split(self.blank) if self.blank else text, strict=True))
        return tuple(self.texts.index(lies[cell]) for cell in self.cells)


def deal_of(game: Game) -> Deal | None:
    """How `game` is set up; None where every game starts alike."""
    makers = {"curio": _curio, "trinim": _trinim}
    return makers[game.name](game) if game.name in makers else None


def _curio(game: Game) -> Deal:
    rows, cols = game.board.shape
    pieces = list(combinations_with_replacement(range(1, game.options["base"] + 1), 2))
    pieces *= game.options["num_pieces"] // len(pieces)
    count = -(-len(pieces) // cols) * cols  # C3: cells of an army
    cells = [*range(count), *range(rows * cols - count, rows * cols)]
    gaps: list[Piece] = [(".",)] * (count - len(pieces))
    return Deal(
        cells=tuple(cells),
        names=tuple(game.board.names[cell] for cell in cells),
        decks=tuple(
            (*(_turnings(owner, low, high, game.options["face"]) for low, high in pieces), *gaps) for owner in "LD"
        ),
        rows=tuple(tuple(range(row * cols, (row + 1) * cols)) for row in reversed(range(rows))),
        blank=" ",
    )


def _turnings(owner: str, low: int, high: int, face: str) -> Piece:
    """C5"""
    own_low = f"{owner}{low}{high}" if owner == "L" else f"{owner}{high}{low}"
    own_high = f"{owner}{high}{low}" if owner == "L" else f"{owner}{low}{high}"
    if face == "random" and low != high:
        return own_low, own_high
    return (own_high,) if face == "large" else (own_low,)


def _trinim(game: Game) -> Deal:
    size = game.board.shape[0]
    return Deal(
        cells=tuple(range(game.board.size)),
        names=game.board.names,
        decks=(tuple((colour,) for colour in "rgb" for _ in range(game.board.size // 3)),),
        rows=tuple(tuple(range(row * (row + 1) // 2, (row + 1) * (row + 2) // 2)) for row in range(size)),
        blank="",
    )
