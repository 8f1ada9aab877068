"""Chameleon, slowly: a reference to check against rules.md line by line (A1-A4, H1-H5).

Cells are (row, col), both from 0 at the top left: a1 is (0, 0), f4 is (3, 5).
"""

from __future__ import annotations

import copy

LETTERS = "abcdefghijklmnopqrstuvwxyz"
MARKS = "xo"
Cell = tuple[int, int]


def cell_name(cell: Cell) -> str:
    """(3, 5) is f4 (H2)."""
    row, col = cell
    return f"{LETTERS[col]}{row + 1}"


class Chameleon:
    """A game of Chameleon from the empty board; agent 0 moves first, as Vert (H3)."""

    def __init__(self, size: int = 11, swap_rule: bool = True, allow_resign: bool = False) -> None:
        if not 3 <= size <= 26:
            raise ValueError(f"size={size!r}: expected 3 to 26 (H1)")
        self.size, self.swap_rule, self.allow_resign = size, swap_rule, allow_resign
        self.stones: dict[Cell, str] = {}  # x or o
        self.vert = 0  # the agent who owns top and bottom (H3, H4)
        self.to_move, self.ply, self.done, self.truncated = 0, 0, False, False
        self.returns: tuple[float, ...] = (0.0, 0.0)

    def copy(self) -> Chameleon:
        """An independent copy."""
        return copy.deepcopy(self)

    def _cells(self) -> list[Cell]:
        return [(row, col) for row in range(self.size) for col in range(self.size)]

    def _placements(self) -> dict[str, tuple[Cell, str]]:
        """Every letter on every empty cell, by its text (H2, H3)."""
        empty = [cell for cell in self._cells() if cell not in self.stones]
        return {cell_name(cell) + mark: (cell, mark) for cell in empty for mark in MARKS}

    def legal(self) -> set[str]:
        """The legal moves; none when the game is over."""
        if self.done:
            return set()
        texts = set(self._placements())
        if self.swap_rule and self.ply == 1:
            texts.add("swap")  # H4
        if self.allow_resign:
            texts.add("resign")  # A2
        return texts

    def play(self, text: str) -> None:
        """Play one ply; `text` is canonical."""
        if text not in self.legal():
            raise ValueError(f"{text!r} is not legal here: expected a cell and a letter such as 'f4x', or 'swap'")
        mover, opponent = self.to_move, 1 - self.to_move
        if text == "resign":
            self._finish(opponent)  # A2
        elif text == "swap":
            self.vert = 1 - self.vert  # H4: the stone stays
        else:
            cell, mark = self._placements()[text]
            self.stones[cell] = mark
            if self.joined(mover):
                self._finish(mover)  # H3: also if both are joined
            elif self.joined(opponent):
                self._finish(opponent)  # H3: whoever placed the stones
        self.ply += 1
        self.to_move = opponent

    def _finish(self, winner: int) -> None:
        self.done = True
        self.returns = (1.0, -1.0) if winner == 0 else (-1.0, 1.0)  # A1

    def joined(self, agent: int) -> bool:
        """Whether a chain of one letter joins the two edges of `agent` (H3)."""
        if agent == self.vert:
            one_edge = [(0, col) for col in range(self.size)]
            other_edge = [(self.size - 1, col) for col in range(self.size)]
        else:
            one_edge = [(row, 0) for row in range(self.size)]
            other_edge = [(row, self.size - 1) for row in range(self.size)]
        for mark in MARKS:
            reached = self._reached(one_edge, mark)
            if any(cell in reached for cell in other_edge):
                return True
        return False

    def _reached(self, edge: list[Cell], mark: str) -> set[Cell]:
        """The cells of all chains of `mark` that touch `edge`, by flood fill."""
        todo = [cell for cell in edge if self.stones.get(cell) == mark]
        reached: set[Cell] = set()
        while todo:
            row, col = cell = todo.pop()
            if cell not in reached:
                reached.add(cell)
                neighbours = [
                    (row, col - 1),
                    (row, col + 1),
                    (row - 1, col),
                    (row + 1, col),
                    (row - 1, col + 1),
                    (row + 1, col - 1),
                ]  # H1
                todo += [near for near in neighbours if self.stones.get(near) == mark]
        return reached
