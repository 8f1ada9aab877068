"""Random set-ups cell by cell, for programs that need explicit chance events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Piece: TypeAlias = tuple[str, ...]
"""The texts of a piece on a board, one for each orientation, all equally likely."""


@dataclass(frozen=True)
class Deal:
    """The set-up of a game as a sequence of chance events: outcome k puts `texts[k]` on the next of `cells`.

    Dealing each cell with the probabilities of `outcomes` gives the same distribution of boards as `Game.init`.

    >>> from pbm_envs import Trinim
    >>> deal = Trinim(size=3, num_players=3).deal
    >>> deal.texts, deal.outcomes([0, 0])
    (('b', 'g', 'r'), [(1, 0.5), (2, 0.5)])
    >>> deal.board([0, 0, 1, 2, 1, 2])
    'b/bg/rgr'
    """

    cells: tuple[int, ...]
    """Cells of the board, in the order in which they are dealt."""
    names: tuple[str, ...]
    """Names of `cells`."""
    decks: tuple[tuple[Piece, ...], ...]
    """The decks, dealt one after the other, one piece to each cell; pieces of the last one may be left over."""
    rows: tuple[tuple[int, ...], ...]
    """The cells of each row of the board text."""
    blank: str
    """The separator between two cells of a row in the board text."""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the outcomes of a chance event: everything that can be dealt to a cell."""
        return tuple(sorted({text for deck in self.decks for piece in deck for text in piece}))

    def outcomes(self, dealt: Sequence[int]) -> list[tuple[int, float]]:
        """Return the possible next outcomes after the outcomes `dealt`, with probabilities that sum to 1."""
        if len(dealt) >= len(self.cells):
            raise ValueError(f"{len(dealt)} outcomes: all {len(self.cells)} cells are dealt")
        first = 0
        for deck in self.decks:
            if len(dealt) < first + len(deck):
                break
            first += len(deck)
        piece_of = {text: piece for piece in deck for text in piece}
        left = Counter(deck) - Counter(piece_of[self.texts[outcome]] for outcome in dealt[first:])
        return sorted(
            (self.texts.index(text), count / left.total() / len(piece))
            for piece, count in left.items()
            for text in piece
        )

    def board(self, dealt: Sequence[int]) -> str:
        """Return the board text once all cells are dealt."""
        lies = dict(zip(self.cells, (self.texts[outcome] for outcome in dealt), strict=True))
        return "/".join(self.blank.join(lies.get(cell, ".") for cell in row) for row in self.rows)

    def read(self, board: str) -> tuple[int, ...]:
        """Return the outcomes that produce this board text: the inverse of `board`."""
        lies: dict[int, str] = {}
        for row, text in zip(self.rows, board.split("/"), strict=True):
            lies.update(zip(row, text.split(self.blank) if self.blank else text, strict=True))
        return tuple(self.texts.index(lies[cell]) for cell in self.cells)
