"""Unlur, slowly: a reference to check against rules.md line by line (A1-A4, U1-U7).

Cells are (row, number): the row from 0 at the top, the number as the board shows it (U2): c4 is (2, 4).
"""

from __future__ import annotations

import copy

LETTERS = "abcdefghijklmnopqrstuvwxyz"
BLACK, WHITE = "black", "white"
YS = [{1, 3, 5}, {2, 4, 6}]  # U5
LINES = [{1, 4}, {2, 5}, {3, 6}]
Cell = tuple[int, int]


def cell_name(cell: Cell) -> str:
    """(2, 4) is c4 (U7)."""
    row, number = cell
    return f"{LETTERS[row]}{number}"


class Unlur:
    """A game of Unlur from the empty board; agent 0 moves first, in the contract phase (U3)."""

    def __init__(self, radius: int = 6, allow_resign: bool = False) -> None:
        if not 3 <= radius <= 13:
            raise ValueError(f"radius={radius!r}: expected 3 to 13 (U1)")
        self.radius, self.allow_resign = radius, allow_resign
        self.stones: dict[Cell, str] = {}  # BLACK or WHITE
        self.black: int | None = None  # the agent who is Black; None in the contract phase (U3)
        self.to_move, self.ply, self.done, self.truncated = 0, 0, False, False
        self.returns: tuple[float, ...] = (0.0, 0.0)

    def copy(self) -> Unlur:
        """An independent copy."""
        return copy.deepcopy(self)

    def cells(self) -> list[Cell]:
        """The board, row by row from the top (U2)."""
        r, cells = self.radius, []
        for row in range(2 * r - 1):
            for number in range(max(1, row - r + 2), min(2 * r - 1, r + row) + 1):
                cells.append((row, number))
        return cells

    def sides(self, cell: Cell) -> set[int]:
        """The sides of the board that `cell` belongs to; a corner has two (U2)."""
        r, (row, number) = self.radius, cell
        upper, lower = row <= r - 1, row >= r - 1  # the middle row, with two corners, is both
        is_on = {
            1: row == 0,
            2: upper and number == r + row,
            3: lower and number == 2 * r - 1,
            4: row == 2 * r - 2,
            5: lower and number == row - r + 2,
            6: upper and number == 1,
        }
        return {side for side in is_on if is_on[side]}

    def _placements(self) -> dict[str, Cell]:
        """Every cell that may take a stone, by its text (U7)."""
        cells = [cell for cell in self.cells() if cell not in self.stones]
        if self.black is None:
            cells = [cell for cell in cells if not self.sides(cell)]  # U3: not on an edge
        return {cell_name(cell): cell for cell in cells}  # U4

    def legal(self) -> set[str]:
        """The legal moves; none when the game is over."""
        if self.done:
            return set()
        texts = set(self._placements())
        if self.black is None:
            texts.add("black")  # U3
        if self.allow_resign:
            texts.add("resign")  # A2
        return texts

    def play(self, text: str) -> None:
        """Play one ply; `text` is canonical."""
        if text not in self.legal():
            raise ValueError(f"{text!r} is not legal here: expected a cell such as 'c4', or 'black'")
        mover, opponent = self.to_move, 1 - self.to_move
        if text == "resign":
            self._finish(opponent)  # A2
        elif text == "black":
            self.black = mover  # U3
        else:
            cell = self._placements()[text]
            colour = BLACK if self.black in (None, mover) else WHITE  # U3, U4
            self.stones[cell] = colour
            has_y, has_line = self.has_figure(colour, YS), self.has_figure(colour, LINES)
            own, others = (has_y, has_line) if colour == BLACK else (has_line, has_y)
            if own:
                self._finish(mover)  # U5: also if it completes both
            elif others:
                self._finish(opponent)  # U5
        self.ply += 1
        self.to_move = opponent

    def _finish(self, winner: int) -> None:
        self.done = True
        self.returns = (1.0, -1.0) if winner == 0 else (-1.0, 1.0)  # A1

    def has_figure(self, colour: str, figures: list[set[int]]) -> bool:
        """Whether one chain of `colour` touches all the sides of one of `figures` (U5)."""
        for cell in self.stones:
            if self.stones[cell] == colour:
                touched: set[int] = set()
                for stone in self._chain(cell):
                    touched |= self.sides(stone)
                if any(figure <= touched for figure in figures):
                    return True
        return False

    def _chain(self, start: Cell) -> set[Cell]:
        """The stones connected with the one on `start`, by flood fill."""
        todo, chain = [start], set()
        while todo:
            row, number = cell = todo.pop()
            if cell not in chain:
                chain.add(cell)
                neighbours = [
                    (row, number - 1),
                    (row, number + 1),
                    (row + 1, number),
                    (row + 1, number + 1),
                    (row - 1, number),
                    (row - 1, number - 1),
                ]  # U2
                todo += [near for near in neighbours if self.stones.get(near) == self.stones[start]]
        return chain
