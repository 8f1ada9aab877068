"""Unlur by one set of options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..boards import hexagon
from ..chains import around, transform_chains
from ..checks import check_flag, check_range
from ..game import Game
from ..randomness import Seeds
from ..render.parts import Heat
from ..render.scene import Scene
from ..state import EMPTY, NOBODY, Ints, Mask, Planes, Record, States
from ..symmetry import Symmetry, permutation
from .rules import BLACK, WHITE, mask_batch, playout_batch, step_batch, unlur_dtype
from .scene import draw
from .view import PLANES, observe_batch, templates

LETTERS = ".XO"


@final
class Unlur(Game):
    """Y against line on a hexagon, with a contract instead of a pie (U1 to U7).

    Actions: the cells, row by row from a1; then `black`; then `resign` where allowed.
    """

    name = "unlur"
    num_players = 2
    planes = PLANES
    configurations = ({"radius": 3}, {}, {"radius": 4, "allow_resign": True})

    def __init__(self, *, radius: int = 6, allow_resign: bool = False) -> None:
        """`radius` 3 to 13 cells along a side (U1)."""
        check_range("radius", radius, 3, 13)
        check_flag("allow_resign", allow_resign)
        board = hexagon(int(radius))
        super().__init__(
            options={"radius": int(radius), "allow_resign": bool(allow_resign)},
            board=board,
            dtype=unlur_dtype(board.size),
            moves=[*board.names, "black"],
            form="a row letter and a column number such as 'c4', or 'black'",
            max_plies=board.size + 1,
        )
        self._around = around(board)
        self._templates = templates(board)
        self._places = ((board.rows * board.shape[1] + board.cols) * len(PLANES) + 1).astype(np.uint16)

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is not None and board.strip() != self._rows(np.zeros(self.board.size, np.int8)):
            raise ValueError(
                f"board is {board!r}: expected the empty board or none, since positions are given as moves"
            )
        states["black"] = NOBODY

    def _step(self, states: States, actions: Ints) -> int:
        return step_batch(states, actions, self._around, self.board.edges, self.resign)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        mask_batch(states, out, self.board.edges, self.resign)

    def _observe(self, views: States, out: Planes) -> None:
        observe_batch(views, out, self._templates, self._places)

    def _playout(self, states: States, seeds: Seeds, careful: bool, trace: Ints) -> None:
        playout_batch(states, seeds, self._around, self.board.edges, careful, trace)

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        transform_chains(states, self.board, symmetry.cells, symmetry.marks)

    def _symmetries(self) -> Iterator[Symmetry]:
        """The twelve of the hexagon."""
        middle, places = self.board.shape[0] // 2, self.board.places
        words = np.arange(self.board.size, self.num_actions)
        for mirrored in (False, True):
            for turns in range(6):
                move = {}
                for row, col in places:
                    # distances from the three middle lines, which sum to 0
                    a, b, c = col - middle, middle - row, row - col
                    if mirrored:
                        a, b = b, a
                    for _ in range(turns):
                        a, b, c = -b, -c, -a
                    move[row, col] = (middle - b, middle + a)
                cells = permutation(move, places)
                yield Symmetry(
                    name=("mirror and " if mirrored else "") + f"{60 * turns} degrees",
                    cells=cells,
                    actions=np.concatenate([cells, words]),
                    planes=np.arange(len(PLANES)),
                    marks=(EMPTY, BLACK, WHITE),
                    players=(0, 1),
                )

    def _rows(self, stones: NDArray[np.int8]) -> str:
        lines = [""] * self.board.shape[0]
        for (row, _), stone in zip(self.board.places, stones, strict=True):
            lines[row] += LETTERS[stone]
        return "/".join(lines)

    def _board_to_string(self, state: Record) -> str:
        return self._rows(state["stones"])

    def role(self, view: Record, player: int) -> str:
        if view["black"] == NOBODY:
            return ""
        return "Black" if view["black"] == player else "White"

    def _cells(self, action: int) -> tuple[int, ...]:
        return (action,) if action < self.board.size else ()

    def _scene(self, view: Record, heat: Heat) -> Scene:
        return draw(self, view, heat)
