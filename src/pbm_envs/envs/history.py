"""The last moves of games, for learners that look back: kept only where an environment was asked for it.

What a player sees of a move is `Game.seen_actions`: everything where moves are public, as in our four games, else what
the game says. Where legality itself reveals something (Curio's `*_total`: `Game.mask_reveals_hidden`), the masks that a
player was given at past turns tell them things that no observation repeats; these are kept too, for each player apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.state import NO_ACTION, NOBODY, copy_states
from ..core.types import Ints, Planes, States

Rows = NDArray[np.int64]


@final
class History:
    """The last `length` moves of each of N games, the newest first, as each player has seen them."""

    def __init__(self, game: Game, count: int, length: int) -> None:
        self.game, self.length = game, length
        viewers = 1 if game.public_moves else game.num_players
        self.actions = np.full((count, viewers, length), NO_ACTION, np.int32)
        self.players = np.full((count, length), NOBODY, np.int8)
        masks = (count, game.num_players, length, game.num_actions) if game.mask_reveals_hidden else (0, 0, 0, 0)
        self.masks = np.zeros(masks, np.int8)

    def clear(self, rows: Rows) -> None:
        """Forget these rows, in which new games start."""
        self.actions[rows], self.players[rows] = NO_ACTION, NOBODY
        if len(self.masks):
            self.masks[rows] = 0

    def take(self, other: History, rows: Rows) -> None:
        """Copy these rows of `other`."""
        self.actions[rows], self.players[rows] = other.actions[rows], other.players[rows]
        if len(self.masks):
            self.masks[rows] = other.masks[rows]

    def add(self, rows: Rows, before: States, actions: Ints) -> None:
        """Add a ply: in the games `rows` (R,), `actions` (R,) were played in the positions `before` (R,)."""
        players = before["to_move"]
        self.players[rows, 1:] = self.players[rows, :-1]
        self.players[rows, 0] = players
        for viewer in range(self.actions.shape[1]):
            kept = self.actions[:, viewer]
            kept[rows, 1:] = kept[rows, :-1]
            kept[rows, 0] = self.game.seen_actions(before, actions, viewer)
        if len(self.masks):
            own = self.masks[rows, players]
            own[:, 1:] = own[:, :-1].copy()
            own[:, 0] = self.game.legal_action_mask(before)
            self.masks[rows, players] = own

    def replay(self, states: States, moves: Sequence[str]) -> None:
        """Play `moves`, move texts, in `states`, a batch of one, and add them."""
        for text in moves:
            action, before = np.array([self.game.string_to_action(text)]), copy_states(states)
            self.game.step(states, action)
            self.add(np.zeros(1, np.int64), before, action)

    def info(self, players: Ints) -> dict[str, NDArray[Any]]:
        """Return what `players` (N,), one per game, may look back at."""
        games = np.arange(len(self.actions))
        actions = self.actions[games, 0 if self.game.public_moves else players]
        shown: dict[str, NDArray[Any]] = {"history": actions, "history_players": self.players.copy()}
        if len(self.masks):
            shown["mask_history"] = self.masks[games, players]
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
