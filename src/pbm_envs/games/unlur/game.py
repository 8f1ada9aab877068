"""The class `Unlur`: the game with one set of options."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from typing import Any, final

import numpy as np

from ...core.boards import hexagon
from ...core.hooks import AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from ...core.options import ALLOW_RESIGN, Option
from ...core.record_rules import BatchKernel, NetworkInputs, PlayKernels
from ...core.state import EMPTY, NOBODY, Ints, Mask, Planes, Record, Seeds, States
from ...core.symmetry import Symmetry, permutation
from ...core.validation import expect, expect_range
from ..chains import ConnectionGame
from . import rules, scene, texts, view
from .rules import BLACK, WHITE


@final
class Unlur(ConnectionGame):
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
    letters = rules.LETTERS
    playout_options = frozenset({AVOID_LOSING_MOVES, LAST_PLAYER_BY_ACTION, SAVE_BRIDGES})
    configurations = ({"radius": 3}, {}, {"radius": 4, "allow_resign": True})

    declared_options = (
        Option("radius", int, 6, low=3, high=13, help="Cells along a side."),  # U1
        ALLOW_RESIGN,
    )

    def __init__(self, **options: Any) -> None:
        """Make the game; raise ValueError for an option or value that is not among `declared_options`."""
        options = self.check_options(options)
        board = hexagon(options["radius"])
        super().__init__(
            options=options,
            board=board,
            dtype=rules.unlur_dtype(board.size),
            planes=view.PLANES,
            moves=[*board.names, "black"],
            form="a row letter and a column number such as 'c4', or 'black'",
            max_plies=board.size + 1,
        )
        self._places, self._empty = view.cell_places(board), view.empty_boards(board)

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        super()._init(states, seeds, board)
        states["black"] = NOBODY

    def _validate(self, states: States) -> None:
        expect_range(states, "black", NOBODY, 1)
        stones, contract = states["stones"], (states["black"] == NOBODY)[:, None]
        inside = (stones == EMPTY) | ((stones == BLACK) & (self.board.edges == 0))
        expect(inside | ~contract, states, "stones", "black ones, and none on the edges, before the contract")
        self.validate_chains(states, rules.FIGURES)

    def _step(self, states: States, actions: Ints) -> int:
        return rules.step_batch(states, actions, self._around, self.board.edges, self.resign_action)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        rules.mask_batch(states, out, self.board.edges, self.resign_action)

    def _observe(self, views: States, out: Planes) -> None:
        view.observe_batch(views, out, self._empty, self._places)

    def _network_inputs(self) -> NetworkInputs:
        """Return the stones as Black sees them, as White does, and before the contract, with weights of their own."""
        phases = {rules.AS_BLACK: view.AM_BLACK, rules.AS_WHITE: view.AM_WHITE, rules.IN_CONTRACT: view.CONTRACT}
        first, places = int(self._places[0]), self._places.astype(np.int64)
        stones = np.concatenate([places + view.BLACK_PLANE, places + view.WHITE_PLANE])
        others = first + np.array([view.PHASE_PLANES[phase] for phase in phases.values()])
        size = 2 * len(stones) + len(places)  # no white stones before the contract
        sources = np.repeat(others, len(stones))[None, :size].repeat(len(phases), axis=0)  # 0 in other perspectives
        for each in phases:
            begin = each * len(stones)
            sources[each, begin : begin + len(stones)] = stones[: size - begin]
        return NetworkInputs(
            size=size,
            changed=rules.changed_inputs,
            perspective=rules.perspective_of,
            actions=np.arange(self.num_actions)[None].repeat(len(phases), axis=0),
            tables=(np.zeros(0, np.int64),),
            sources=sources,
            perspective_sources=others,
        )

    def _play_kernels(self, avoid_losing_moves: bool, save_bridges: bool) -> PlayKernels:
        tables = self._around, self.board.edges
        playout = rules.bridge_playout_batch if save_bridges else rules.playout_batch
        return PlayKernels(
            step=BatchKernel(rules.step_batch, (*tables, self.resign_action)),
            mask=BatchKernel(rules.mask_batch, (self.board.edges, self.resign_action)),
            playout=BatchKernel(playout, (*tables, avoid_losing_moves or save_bridges)),
        )

    def _symmetries(self) -> Iterator[Symmetry]:
        """Yield the twelve symmetries of the hexagon."""
        middle, places = self.board.shape[0] // 2, self.board.places
        words = np.arange(self.board.size, self.num_actions)
        for mirrored, turns in product((False, True), range(6)):
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
                planes=np.arange(len(view.PLANES)),
                marks=(EMPTY, BLACK, WHITE),
                players=(0, 1),
            )

    def role(self, view: Record, player: int) -> str:
        if view["black"] == NOBODY:
            return ""
        return "Black" if view["black"] == player else "White"

    _scene = scene.draw
    badge = scene.badge
    symbols = scene.symbols
    cell_texts = texts.cell_texts
    facts = texts.facts
    task = texts.task
    ending = texts.ending
    short_rules = property(texts.short_rules)
    lesson = texts.LESSON
    wording = cached_property(texts.wording)
