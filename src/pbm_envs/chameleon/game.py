"""Chameleon by one set of options."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import final

import numpy as np
from numpy.typing import NDArray

from ..boards import rhombus
from ..chains import around, transform_chains
from ..checks import check_flag, check_range
from ..game import Game
from ..randomness import Seeds
from ..render.parts import Heat
from ..render.scene import Scene
from ..state import EMPTY, Ints, Mask, Planes, Record, States
from ..symmetry import Symmetry, permutation
from .rules import O, X, chameleon_dtype, mask_batch, playout_batch, step_batch
from .scene import draw
from .view import PLANES, observe_batch, templates

VERT_PLANE = list(PLANES).index("I join top and bottom")


@final
class Chameleon(Game):
    """Hex where both may place either letter (H1 to H5).

    Actions: `2 * cell + letter` (x = 0, o = 1; cells row by row from a1), then `swap` with the swap rule, then
    `resign` where allowed.
    """

    name = "chameleon"
    shared_moves = True
    num_players = 2
    planes = PLANES
    configurations = ({"size": 3}, {}, {"size": 5, "swap_rule": False, "allow_resign": True})

    def __init__(self, *, size: int = 11, swap_rule: bool = True, allow_resign: bool = False) -> None:
        """`size` 3 to 26 cells a side (H1); `swap_rule` lets the second ply exchange sides (H4)."""
        check_range("size", size, 3, 26)
        check_flag("swap_rule", swap_rule)
        check_flag("allow_resign", allow_resign)
        board = rhombus(int(size))
        moves = [f"{cell}{letter}" for cell in board.names for letter in "xo"]
        super().__init__(
            options={"size": int(size), "swap_rule": bool(swap_rule), "allow_resign": bool(allow_resign)},
            board=board,
            dtype=chameleon_dtype(board.size),
            moves=moves + ["swap"] * swap_rule,
            form="a cell and a letter such as 'c2x'" + " or 'swap'" * swap_rule,
            max_plies=board.size + swap_rule,
        )
        self._swap_rule = bool(swap_rule)
        self._around = around(board)
        self._templates = templates(board.size)
        self._places = np.arange(board.size, dtype=np.uint16) * np.uint16(len(PLANES))

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is not None and board.strip() != self._rows(np.zeros(self.board.size, np.int8)):
            raise ValueError(
                f"board is {board!r}: expected the empty board or none, since positions are given as moves"
            )

    def _step(self, states: States, actions: Ints) -> int:
        return step_batch(states, actions, self._around, self.board.edges, self._swap_rule, self.resign)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        mask_batch(states, out, self._swap_rule, self.resign)

    def _observe(self, views: States, out: Planes) -> None:
        observe_batch(views, out, self._templates, self._places, self._swap_rule)

    def _playout(self, states: States, seeds: Seeds, careful: bool, trace: Ints) -> None:
        playout_batch(states, seeds, self._around, self.board.edges, self._swap_rule, trace)

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        transform_chains(states, self.board, symmetry.cells, symmetry.marks)
        if symmetry.planes[VERT_PLANE] != VERT_PLANE:  # mirrored: who joined top and bottom joins left and right
            states["vert"] = 1 - states["vert"]

    def _symmetries(self) -> Iterator[Symmetry]:
        """Half a turn; the mirror that exchanges the players' edges; x for o."""
        places = self.board.places
        last = self.board.shape[0] - 1
        words = np.arange(2 * self.board.size, self.num_actions)
        for mirrored, turned, exchanged in product((False, True), repeat=3):
            move = {(row, col): (col, row) if mirrored else (row, col) for row, col in places}
            if turned:
                move = {place: (last - row, last - col) for place, (row, col) in move.items()}
            cells = permutation(move, places)
            letters = [1, 0] if exchanged else [0, 1]
            sides = [VERT_PLANE + 1, VERT_PLANE] if mirrored else [VERT_PLANE, VERT_PLANE + 1]
            yield Symmetry(
                name=" and ".join(
                    name for name, here in (("mirror", mirrored), ("half turn", turned), ("x for o", exchanged)) if here
                )
                or "identity",
                cells=cells,
                actions=np.concatenate([(2 * cells[:, None] + letters).ravel(), words]),
                planes=np.array([*letters, *sides, 4]),
                marks=(EMPTY, O, X) if exchanged else (EMPTY, X, O),
                players=(0, 1),
            )

    def _rows(self, stones: NDArray[np.int8]) -> str:
        return "/".join("".join(".xo"[stone] for stone in row) for row in stones.reshape(self.board.shape))

    def _board_to_string(self, state: Record) -> str:
        return self._rows(state["stones"])

    def role(self, view: Record, player: int) -> str:
        return "Vert" if view["vert"] == player else "Horz"

    def _cells(self, action: int) -> tuple[int, ...]:
        return (action >> 1,) if action < 2 * self.board.size else ()

    def _scene(self, view: Record, heat: Heat) -> Scene:
        return draw(self, view, heat)
