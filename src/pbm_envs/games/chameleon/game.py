"""The class `Chameleon`: the game with one set of options."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from typing import Any, final

import numpy as np

from ...core.boards import rhombus
from ...core.hooks import LAST_PLAYER_BY_ACTION, SAVE_BRIDGES
from ...core.options import ALLOW_RESIGN, Option
from ...core.record_rules import BatchKernel, NetworkInputs, PlayKernels
from ...core.state import EMPTY, Ints, Mask, Planes, Record, States
from ...core.symmetry import Symmetry, permutation
from ...core.validation import expect_range
from ..chains import ConnectionGame
from . import rules, scene, texts, view
from .rules import O, X

EXCHANGED_SIDES = {
    "I join top and bottom": "I join left and right",
    "I join left and right": "I join top and bottom",
}
EXCHANGED_LETTERS = {"x": "o", "o": "x"}


@final
class Chameleon(ConnectionGame):
    """Hex where both players may place either letter: join your two edges by a chain of one letter (H1 to H5).

    A game of perfect information for two, Vert (`player_0` at the start) and Horz. The rules in full are the page of
    `pbm_envs.chameleon_v0`.

    >>> game = Chameleon(size=3)
    >>> states = game.init(1, np.random.default_rng(7))
    >>> game.step(states, [game.string_to_action("b2x")])
    >>> game.status(states)
    'ply 1, last move b2x - player_1 (Horz) to move'

    Actions: `2 * cell + letter` (x = 0, o = 1; cells row by row from a1), then `swap` with the swap rule, then
    `resign` where allowed.
    """

    name = "chameleon"
    letters = rules.LETTERS
    moves_player_independent = True
    playout_options = frozenset({LAST_PLAYER_BY_ACTION, SAVE_BRIDGES})
    configurations = ({"size": 3}, {}, {"size": 5, "swap_rule": False, "allow_resign": True})

    declared_options = (
        Option("size", int, 11, low=3, high=26, help="Cells per side."),  # H1
        Option("swap_rule", bool, True, help="The second ply can be `swap`, which exchanges the players' sides."),  # H4
        ALLOW_RESIGN,
    )

    def __init__(self, **options: Any) -> None:
        """Make the game; raise ValueError for an option or value that is not among `declared_options`."""
        options = self.check_options(options)
        board, self._swap_rule = rhombus(options["size"]), options["swap_rule"]
        moves = [f"{cell}{letter}" for cell in board.names for letter in "xo"]
        super().__init__(
            options=options,
            board=board,
            dtype=rules.chameleon_dtype(board.size),
            planes=view.PLANES,
            moves=moves + ["swap"] * self._swap_rule,
            form="a cell and a letter such as 'c2x'" + " or 'swap'" * self._swap_rule,
            max_plies=board.size + self._swap_rule,
        )

    def _validate(self, states: States) -> None:
        self.validate_chains(states, (rules.TOP_BOTTOM, rules.LEFT_RIGHT))
        expect_range(states, "vert", 0, 1)

    def _step(self, states: States, actions: Ints) -> int:
        return rules.step_batch(states, actions, self._around, self.board.edges, self._swap_rule, self.resign_action)

    def _legal_action_mask(self, states: States, out: Mask) -> None:
        rules.mask_batch(states, out, self._swap_rule, self.resign_action)

    def _observe(self, views: States, out: Planes) -> None:
        view.observe_batch(views, out, self._swap_rule)

    def _network_inputs(self) -> NetworkInputs:
        mirrored = next(symmetry for symmetry in self.symmetries if symmetry.name == "mirror")
        places = np.stack([np.arange(self.board.size), mirrored.cells])
        firsts = ((self.board.rows * self.board.shape[1] + self.board.cols) * view.WIDTH)[np.argsort(places, axis=1)]
        return NetworkInputs(
            size=2 * self.board.size,
            changed=rules.changed_inputs,
            perspective=rules.perspective_of,
            actions=np.stack([np.arange(self.num_actions), mirrored.actions]),
            tables=(places,),
            sources=np.concatenate([firsts + view.X_PLANE, firsts + view.O_PLANE], axis=1),
            perspective_sources=np.array([view.VERT_PLANE, view.HORZ_PLANE]),
        )

    def _play_kernels(self, avoid_losing_moves: bool, save_bridges: bool) -> PlayKernels:
        tables = self._around, self.board.edges, self._swap_rule
        return PlayKernels(
            step=BatchKernel(rules.step_batch, (*tables, self.resign_action)),
            mask=BatchKernel(rules.mask_batch, (self._swap_rule, self.resign_action)),
            playout=BatchKernel(rules.bridge_playout_batch if save_bridges else rules.playout_batch, tables),
        )

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        super()._transform(states, symmetry)
        if symmetry.planes[view.VERT_PLANE] != view.VERT_PLANE:  # mirrored: Vert becomes Horz
            states["vert"] = 1 - states["vert"]

    def _symmetries(self) -> Iterator[Symmetry]:
        """Yield half a turn, the reflection that exchanges the players' edges, x for o, and their combinations."""
        places = self.board.places
        last = self.board.shape[0] - 1
        words = np.arange(2 * self.board.size, self.num_actions)
        for mirrored, turned, exchanged in product((False, True), repeat=3):
            move = {(row, col): (col, row) if mirrored else (row, col) for row, col in places}
            if turned:
                move = {place: (last - row, last - col) for place, (row, col) in move.items()}
            cells = permutation(move, places)
            letters = [1, 0] if exchanged else [0, 1]
            yield Symmetry(
                name=" and ".join(
                    name for name, here in (("mirror", mirrored), ("half turn", turned), ("x for o", exchanged)) if here
                )
                or "identity",
                cells=cells,
                actions=np.concatenate([(2 * cells[:, None] + letters).ravel(), words]),
                planes=permutation(
                    (EXCHANGED_SIDES if mirrored else {}) | (EXCHANGED_LETTERS if exchanged else {}), view.PLANES
                ),
                marks=(EMPTY, O, X) if exchanged else (EMPTY, X, O),
                players=(0, 1),
            )

    def role(self, view: Record, player: int) -> str:
        return "Vert" if view["vert"] == player else "Horz"

    def _cells(self, action: int) -> tuple[int, ...]:
        return (action >> 1,) if action < 2 * self.board.size else ()

    _scene = scene.draw
    badge = scene.badge
    symbols = scene.symbols
    cell_texts = texts.cell_texts
    task = texts.task
    ending = texts.ending
    short_rules = property(texts.short_rules)
    lesson = texts.LESSON
    wording = cached_property(texts.wording)
