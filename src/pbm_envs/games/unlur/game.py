"""Unlur by one set of options."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ...core.boards import hexagon
from ...core.game import ALLOW_RESIGN, Game
from ...core.hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from ...core.options import Option
from ...core.printable import quoted
from ...core.record_rules import BatchKernel, PlayKernels
from ...core.scene import Heat, Sample, Scene
from ...core.state import EMPTY, NOBODY
from ...core.symmetry import Symmetry, permutation
from ...core.types import Ints, Mask, Planes, Record, Seeds, States
from ...core.validation import expect, expect_range
from ...core.wording import JSON, Wording
from ..chains import around, stone_words, transform_chains, validate_chains, validate_end
from . import legend
from . import wording as words
from .rules import (
    BLACK,
    LETTERS,
    SIDES_14,
    SIDES_25,
    SIDES_36,
    SIDES_135,
    SIDES_246,
    WHITE,
    bridge_playout_batch,
    mask_batch,
    playout_batch,
    step_batch,
    unlur_dtype,
)
from .scene import draw
from .view import BLACK_PLANE, EDGE_PLANE, PLANES, WHITE_PLANE, empty_cells, observe_batch


@final
class Unlur(Game):
    """Y against line on a hexagon: Black joins three sides, White two opposite ones (U1 to U7).

    A game of perfect information for two. Both place black stones until one says `black` and is Black from then on: the
    contract. The rules in full are the page of `pbm_envs.unlur_v0`.

    >>> game = Unlur(radius=3)
    >>> states = game.init(1, np.random.default_rng(7))
    >>> game.step(states, [game.string_to_action("c3")])
    >>> game.step(states, [game.string_to_action("black")])
    >>> game.status(states)
    'ply 2, last move black - player_0 (White) to move'

    Actions: the cells, row by row from a1; then `black`; then `resign` where allowed.
    """

    name = "unlur"
    playout_options = frozenset({AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES})
    configurations = ({"radius": 3}, {}, {"radius": 4, "allow_resign": True})

    declared_options = (
        Option("radius", int, 6, low=3, high=13, help="Cells along a side."),  # U1
        ALLOW_RESIGN,
    )

    def __init__(self, **options: Any) -> None:
        """The rules with these options; ValueError for an option or a value that is not among `declared_options`."""
        options = self.check_options(options)
        board = hexagon(options["radius"])
        super().__init__(
            options=options,
            board=board,
            dtype=unlur_dtype(board.size),
            planes=PLANES,
            moves=[*board.names, "black"],
            form="a row letter and a column number such as 'c4', or 'black'",
            max_plies=board.size + 1,
        )
        self._around = around(board)
        self._words = stone_words(empty_cells(), (BLACK_PLANE, WHITE_PLANE))
        self._places = ((board.rows * board.shape[1] + board.cols) * len(PLANES)).astype(np.uint16)
        self._edge_places = self._places[board.edges != 0] + np.uint16(EDGE_PLANE)

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is not None and board.strip() != self._rows(np.zeros(self.board.size, np.int8)):
            raise ValueError(
                f"board is {quoted(board)}: expected the empty board or none, since positions are given as moves"
            )
        states["black"] = NOBODY

    def _validate(self, states: States) -> None:
        validate_chains(states, self.board)
        expect_range(states, "black", NOBODY, 1)
        stones, contract = states["stones"], (states["black"] == NOBODY)[:, None]
        inside = (stones == EMPTY) | ((stones == BLACK) & (self.board.edges == 0))
        expect(inside | ~contract, states, "stones", "black ones, and none on the edges, before the contract")
        touches = np.where(stones != EMPTY, states["touches"], 0)
        figures = (SIDES_135, SIDES_246, SIDES_14, SIDES_25, SIDES_36)
        joined = np.any([touches & sides == sides for sides in figures], axis=0)
        validate_end(states, joined.any(axis=1))

    def _step(self, states: States, actions: Ints) -> int:
        return step_batch(states, actions, self._around, self.board.edges, self.resign_action)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        mask_batch(states, out, self.board.edges, self.resign_action)

    def _observe(self, views: States, out: Planes) -> None:
        observe_batch(views, out, self._words, self._places, self._edge_places)

    def _playout(self, states: States, seeds: Seeds, last_player_by_action: Ints, avoid_losing_moves: bool) -> None:
        playout_batch(states, seeds, self._around, self.board.edges, avoid_losing_moves, last_player_by_action)

    def _bridge_playout(self, states: States, seeds: Seeds, last_player_by_action: Ints) -> None:
        bridge_playout_batch(states, seeds, self._around, self.board.edges, last_player_by_action)

    def _play_kernels(self, avoid_losing_moves: bool, save_bridges: bool) -> PlayKernels:
        tables = self._around, self.board.edges
        playout = BatchKernel(playout_batch, (*tables, avoid_losing_moves))
        return PlayKernels(
            step=BatchKernel(step_batch, (*tables, self.resign_action)),
            mask=BatchKernel(mask_batch, (self.board.edges, self.resign_action)),
            playout=BatchKernel(bridge_playout_batch, tables) if save_bridges else playout,
        )

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

    def badge(self, view: Record, player: int) -> Sample | None:
        return legend.badge(view, player)

    def symbols(self, view: Record) -> tuple[Sample, ...]:
        return legend.symbols(self, view)

    @cached_property
    def wording(self) -> Wording:
        return words.wording(self)

    def cell_texts(self, view: Record) -> tuple[str, ...]:
        return words.cell_texts(view)

    def facts(self, view: Record) -> dict[str, JSON]:
        return words.facts(view)
