"""The last moves of games, for learners that look back: kept only where an environment was asked for it.

Moves are public in every game, so the history tells a player nothing hidden. Where legality itself reveals something
(Curio's `*_total`: `Game.mask_reveals_hidden`), the masks that a player was given at past turns tell them things that
no observation repeats; these are kept too, for each player apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.state import NO_ACTION, NOBODY, take_rows
from ..core.types import Ints, Planes, States

Rows = NDArray[np.int64]


@final
class History:
    """The last `length` moves of each of N games, the newest first."""

    def __init__(self, game: Game, count: int, length: int) -> None:
        self.game, self.length = game, length
        self.actions = np.full((count, length), NO_ACTION, np.int32)
        self.players = np.full((count, length), NOBODY, np.int8)
        masks = (count, game.num_players, length, game.num_actions) if game.mask_reveals_hidden else (0, 0, 0, 0)
        self.masks = np.zeros(masks, np.int8)

    def clear(self, rows: Rows) -> None:
        """New games start in these rows."""
        self.actions[rows], self.players[rows] = NO_ACTION, NOBODY
        if len(self.masks):
            self.masks[rows] = 0

    def take(self, other: History, rows: Rows) -> None:
        """Remember in these rows what `other` does."""
        self.actions[rows], self.players[rows] = other.actions[rows], other.players[rows]
        if len(self.masks):
            self.masks[rows] = other.masks[rows]

    def before(self, states: States, rows: Rows) -> NDArray[np.bool_] | None:
        """(R, A) the masks of the players to move in these rows of `states`, if they are to be remembered."""
        return self.game.legal_action_mask(take_rows(states, rows)) if len(self.masks) else None

    def add(self, rows: Rows, actions: Ints, players: Ints, masks: NDArray[np.bool_] | None) -> None:
        """In these rows `actions` (R,) were played by `players` (R,), who were given `masks` (R, A)."""
        for kept, new in ((self.actions, actions), (self.players, players)):
            kept[rows, 1:] = kept[rows, :-1]
            kept[rows, 0] = new
        if masks is not None:
            own = self.masks[rows, players]
            own[:, 1:] = own[:, :-1].copy()
            own[:, 0] = masks
            self.masks[rows, players] = own

    def replay(self, states: States, moves: Sequence[str]) -> None:
        """Play `moves`, move texts, in `states`, a batch of one, and remember them."""
        rows = np.zeros(1, np.int64)
        for text in moves:
            action, masks = np.array([self.game.string_to_action(text)]), self.before(states, rows)
            self.add(rows, action, states["to_move"].copy(), masks)
            self.game.step(states, action)

    def info(self, players: Ints) -> dict[str, NDArray[Any]]:
        """What `players` (N,), one a game, may look back at."""
        shown: dict[str, NDArray[Any]] = {"history": self.actions.copy(), "history_players": self.players.copy()}
        if len(self.masks):
            shown["mask_history"] = self.masks[np.arange(len(self.masks)), players]
        return shown


def history_planes(game: Game, actions: Ints, players: Ints, viewers: Ints) -> Planes:
    """Moves as planes, to be stacked on observations: three for each move, the newest first.

    The first is 1 in the cell that the move names first (where a piece came from, or a stone was placed), the second in
    the cell that it names last (where it went), the third everywhere if the viewer has played it; all are 0 before the
    first move, and the first two of a move without cells, such as a pass.

    Args:
        game: the rules.
        actions: (N, k) the moves, `info["history"]`.
        players: (N, k) who played them, `info["history_players"]`.
        viewers: (N,) who looks: `info["to_move"]`, or the seat.

    Returns:
        (N, rows, cols, 3 k) int8.
    """
    ends = np.full((game.num_actions + 1, 2), -1)
    for action in range(game.num_actions):
        if cells := game.action_cells(action):
            ends[action] = cells[0], cells[-1]
    count, length = actions.shape
    planes = np.zeros((count, *game.board.shape, 3 * length), np.int8)
    for k in range(length):
        for end in range(2):
            cells_of = ends[actions[:, k], end]  # no action is the last entry
            rows = np.flatnonzero(cells_of >= 0)
            planes[rows, game.board.rows[cells_of[rows]], game.board.cols[cells_of[rows]], 3 * k + end] = 1
        planes[..., 3 * k + 2] = ((players[:, k] == viewers) & (actions[:, k] >= 0))[:, None, None]
    return planes
