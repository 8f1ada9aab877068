"""Trinim by one set of options."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from itertools import permutations
from typing import final

import numpy as np

from ..boards import Board, triangle
from ..checks import check_flag, check_range
from ..game import Game
from ..randomness import Seeds
from ..render.parts import Heat
from ..render.scene import Scene
from ..state import EMPTY, Ints, Mask, Planes, Record, States
from ..symmetry import Symmetry, permutation
from .rules import (
    BLUE,
    COLOURS,
    GREEN,
    RED,
    lines,
    lines_through,
    mask_batch,
    playout_batch,
    set_up_batch,
    step_batch,
    trinim_dtype,
)
from .scene import LETTERS, draw
from .view import observe_batch, planes


@final
class Trinim(Game):
    """Nim on a triangle of coloured pieces, for two or three (T1 to T7).

    Actions: every cell, row by row from the top, then every line of two or more cells: by direction (along a row, up a
    column, up along "/"), by first cell, by length; then `resign` where allowed.
    """

    name = "trinim"
    shared_moves = True
    configurations = (
        {"size": 3, "num_players": 3},
        {},
        {"size": 6, "num_players": 3, "allow_resign": True},
        {"size": 6, "allow_resign": True},
    )

    def __init__(self, *, size: int = 5, num_players: int = 2, allow_resign: bool = False) -> None:
        """`size` 3 to 20 rows, so that the cells divide by three (T1); `num_players` 2 or 3."""
        check_range("size", size, 3, 20)
        check_range("num_players", num_players, 2, 3)
        check_flag("allow_resign", allow_resign)
        board = triangle(int(size))
        if board.size % COLOURS:
            good = [n for n in range(3, 21) if n * (n + 1) // 2 % COLOURS == 0]
            raise ValueError(f"size is {size}: {board.size} cells do not divide by three; expected one of {good}")
        if num_players == 2 and board.size // COLOURS % 2 == 0:
            warnings.warn(  # T7
                f"every two-player game of Trinim of size {size} is a draw, since each colour has an even number of "
                "pieces: play 5, 6, 9, 14, 17 or 18, or with three players",
                stacklevel=2,
            )
        self._takes, self._longer = lines(board)
        self._broken, self._starts = lines_through(self._takes, board)
        self.num_players = int(num_players)
        self.planes = planes(self.num_players)
        first, last = ([board.names[cell] for cell in cells] for cells in zip(*_ends(self._takes, board), strict=True))
        moves = [a if a == b else f"{a}-{b}" for a, b in zip(first, last, strict=True)]
        super().__init__(
            options={"size": int(size), "num_players": int(num_players), "allow_resign": bool(allow_resign)},
            board=board,
            dtype=trinim_dtype(board.size, self.num_players),
            moves=moves,
            form=f"a cell such as {moves[1]!r} or the two ends of a line such as {moves[-1]!r}",
            max_plies=board.size + self.num_players - 2 if allow_resign else board.size,
            other_texts={f"{b}-{a}": k for k, (a, b) in enumerate(zip(first, last, strict=True)) if a != b},  # T4
        )

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is None:
            states["pieces"] = np.repeat(np.array([RED, GREEN, BLUE], np.int8), self.board.size // COLOURS)
            set_up_batch(states, seeds)
        else:
            states["pieces"] = self._read(board)
        states["left"] = np.count_nonzero(states["pieces"], axis=1)

    def _read(self, board: str) -> list[int]:
        rows = board.strip().lower().split("/")
        if [len(row) for row in rows] != list(range(1, self.board.shape[0] + 1)) or set("".join(rows)) - set(LETTERS):
            raise ValueError(
                f"board is {board!r}: expected {self.board.shape[0]} rows of r, g, b or . from the top, one longer "
                "each, such as 'b/bg/r.r/...'"
            )
        pieces = [LETTERS.index(letter) for letter in "".join(rows)]
        if not any(pieces):
            raise ValueError(f"board is {board!r}: expected at least one piece")
        return pieces

    def _step(self, states: States, actions: Ints) -> int:
        return step_batch(states, actions, self._takes, self.board.neighbours, self.resign)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        mask_batch(states, out, self._longer, self.board.neighbours, self.resign)

    def _observe(self, views: States, out: Planes) -> None:
        observe_batch(views, out, self.board.rows, self.board.cols)

    def _playout(self, states: States, seeds: Seeds, careful: bool, trace: Ints) -> None:
        playout_batch(
            states, seeds, self._takes, self._longer, self.board.neighbours, self._broken, self._starts, trace
        )

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        marks = np.asarray(symmetry.marks)
        pieces, held = states["pieces"].copy(), states["held"].copy()
        states["pieces"][:, symmetry.cells] = marks[pieces]
        states["held"][:, :, marks[1:] - 1] = held

    def _symmetries(self) -> Iterator[Symmetry]:
        """The six of the triangle, each with the six of the colours."""
        size, places = self.board.shape[0], self.board.places
        # (row, col) -> distances from the three sides, which sum to size - 1
        distances = {(row, col): (size - 1 - row, size - 1 - col, row + col - size + 1) for row, col in places}
        ends = list(_ends(self._takes, self.board))
        action_of = {frozenset(pair): k for k, pair in enumerate(ends)}
        for turn in permutations(range(3)):
            move = {}
            for place, distance in distances.items():
                a, b, _ = (distance[k] for k in turn)
                move[place] = (size - 1 - a, size - 1 - b)
            cells = permutation(move, places)
            actions = [action_of[frozenset((int(cells[a]), int(cells[b])))] for a, b in ends]
            for colours in permutations((RED, GREEN, BLUE)):
                shifts = [colour - 1 for colour in colours]
                seen = [0, *colours]
                for seat in range(self.num_players):
                    base = 4 + 8 * seat
                    seen += [base + k for k in shifts] + [base + 3 + k for k in shifts] + [base + 6, base + 7]
                yield Symmetry(
                    name=f"sides {turn}, colours {colours}",
                    cells=cells,
                    actions=np.array(actions + ([self.resign] if self.options["allow_resign"] else [])),
                    planes=np.array(seen),
                    marks=(EMPTY, *colours),
                    players=tuple(range(self.num_players)),
                )

    def _board_to_string(self, state: Record) -> str:
        letters = iter("".join(LETTERS[piece] for piece in state["pieces"]))
        return "/".join("".join(next(letters) for _ in range(row + 1)) for row in range(self.board.shape[0]))

    def _cells(self, action: int) -> tuple[int, ...]:
        return self._named[action] if action < len(self._named) else ()

    @cached_property
    def _named(self) -> list[tuple[int, ...]]:
        return [(first,) if first == last else (first, last) for first, last in _ends(self._takes, self.board)]

    def _scene(self, view: Record, heat: Heat) -> Scene:
        return draw(self, view, heat)


def _ends(takes: Ints, board: Board) -> Iterator[tuple[int, int]]:
    """(first, last cell) of each action."""
    for first, d, length in takes.tolist():
        cell = first
        for _ in range(length - 1):
            cell = int(board.neighbours[cell, d])
        yield first, cell
