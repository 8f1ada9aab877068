"""Trinim, slowly: a reference to check against rules.md line by line (A1-A4, T1-T7).

A board text lists the rows from the top, "b/bb/bgr/grgg/rbgrr"; "." is an empty cell. Cells are (row, letter), the row
from 1 and the letter from 0: E1 of size 5 is (1, 4).
"""

from __future__ import annotations

import copy

LETTERS = "ABCDEFGHIJKLMNOPQRST"
COLOURS = "rgb"
# T4: a line's canonical text starts at the larger row number, within a row at the left
ALONG_ROW, ALONG_COLUMN, ALONG_SLASH = (0, 1), (-1, 0), (-1, 1)  # T2
Cell = tuple[int, int]


def cell_name(cell: Cell) -> str:
    """(3, 2) is C3 (T2)."""
    row, letter = cell
    return f"{LETTERS[letter]}{row}"


class Trinim:
    """A game of Trinim from a given board; player 0 moves first."""

    def __init__(self, board: str, size: int = 5, num_players: int = 2, allow_resign: bool = False) -> None:
        if not 3 <= size <= 20 or size * (size + 1) // 2 % 3 != 0:
            raise ValueError(f"size={size!r}: no such size (T1)")
        if num_players not in (2, 3):
            raise ValueError(f"num_players={num_players!r}: expected 2 or 3 (T1)")
        self.size, self.num_players, self.allow_resign = size, num_players, allow_resign
        self.board = self._read(board)  # the pieces that are left: cell -> colour
        self.grabbed = [dict.fromkeys(COLOURS, 0) for _ in range(num_players)]
        self.resigned: set[int] = set()
        self.to_move, self.ply, self.done, self.truncated = 0, 0, False, False
        self.returns: tuple[float, ...] = (0.0,) * num_players
        self._finish_if_over()

    def _read(self, text: str) -> dict[Cell, str]:
        board = {}
        rows = text.split("/")
        if [len(row) for row in rows] != list(range(1, self.size + 1)):
            raise ValueError(f"{text!r} is no board of size {self.size}")
        for row in range(1, self.size + 1):
            for place in range(row):
                colour = rows[row - 1][place]
                if colour not in COLOURS + ".":
                    raise ValueError(f"{colour!r} is no piece: expected one of 'r', 'g', 'b' or '.'")
                if colour != ".":
                    board[row, self.size - row + place] = colour  # T2: row r holds the last r columns
        return board

    def copy(self) -> Trinim:
        """An independent copy."""
        return copy.deepcopy(self)

    def _grabs(self) -> dict[str, list[Cell]]:
        """Every piece and every line without a gap, by its text (T4)."""
        grabs = {}
        for start in self.board:
            grabs[cell_name(start)] = [start]
            for down, right in (ALONG_ROW, ALONG_COLUMN, ALONG_SLASH):
                line = [start]
                end = (start[0] + down, start[1] + right)
                while end in self.board:
                    line.append(end)
                    grabs[f"{cell_name(start)}-{cell_name(end)}"] = list(line)
                    end = (end[0] + down, end[1] + right)
        return grabs

    def legal(self) -> set[str]:
        """The legal moves; none when the game is over."""
        if self.done:
            return set()
        texts = set(self._grabs())
        if self.allow_resign:
            texts.add("resign")  # A2
        return texts

    def play(self, text: str) -> None:
        """Play one ply; `text` is canonical."""
        if text not in self.legal():
            raise ValueError(f"{text!r} is not legal here: expected a cell such as 'C3', or a line such as 'D4-D2'")
        if text == "resign":
            self._resign(self.to_move)
        else:
            for cell in self._grabs()[text]:
                self.grabbed[self.to_move][self.board.pop(cell)] += 1
        self.ply += 1
        self.to_move = (self.to_move + 1) % self.num_players
        while self.to_move in self.resigned:
            self.to_move = (self.to_move + 1) % self.num_players
        self._finish_if_over()

    def _resign(self, player: int) -> None:
        self.resigned.add(player)
        self.grabbed[player] = dict.fromkeys(COLOURS, 0)  # A2: no longer counts
        if self.num_players == 3:
            returns = list(self.returns)
            returns[player] = -0.5  # A2: at once
            self.returns = tuple(returns)

    def players_in(self) -> list[int]:
        """Those who have not resigned."""
        return [player for player in range(self.num_players) if player not in self.resigned]

    def score(self, player: int) -> int:
        """T5: the colours of which `player` holds an even number, zero counted as even."""
        return len([colour for colour in COLOURS if self.grabbed[player][colour] % 2 == 0])

    def _finish_if_over(self) -> None:
        players = self.players_in()
        if len(players) == 1:
            self._finish(players)  # A2
        elif not self.board:
            best = max(self.score(player) for player in players)
            self._finish([player for player in players if self.score(player) == best])  # T5, T6

    def _finish(self, best: list[int]) -> None:
        self.done = True
        loss = {2: -1.0, 3: -0.5}[self.num_players]  # A1
        if len(best) == 1:
            self.returns = tuple(1.0 if player == best[0] else loss for player in range(self.num_players))
        else:  # T6: a draw; A2: those still in share what the resigned lost
            share = -loss * len(self.resigned) / len(self.players_in())
            self.returns = tuple(loss if player in self.resigned else share for player in range(self.num_players))
