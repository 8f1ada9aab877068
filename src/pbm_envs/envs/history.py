"""The last moves of games, for learners with memory; kept only on request.

Players see moves through `Game.seen_actions`. If legality itself reveals hidden information (`mask_reveals_hidden`),
the masks of a player's past turns contain facts that no observation repeats; these are kept too, for each player.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.state import NO_ACTION, NOBODY, Ints, Planes, States, copy_states
from ..records import play_moves

Rows = NDArray[np.int64]


@final
class History:
    """The last `length` moves of each of N games, newest first, as each player saw them."""

    def __init__(self, game: Game, count: int, length: int) -> None:
        self.game, self.length = game, length
        viewers = 1 if game.public_moves else game.num_players
        self.actions = np.full((count, viewers, length), NO_ACTION, np.int32)
        self.players = np.full((count, length), NOBODY, np.int8)
        masks = (count, game.num_players, length, game.num_actions) if game.mask_reveals_hidden else (0, 0, 0, 0)
        self.masks = np.zeros(masks, np.int8)

    def clear(self, rows: Rows) -> None:
        """Clear these rows, in which new games start."""
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

    def replay(self, start: States, moves: Sequence[str], row: int = 0) -> None:
        """Add the plies of a game that starts in `start`, a batch of one, with `moves`, move texts."""
        before = copy_states(start)
        for text, after in zip(moves, play_moves(self.game, copy_states(start), moves), strict=True):
            self.add(np.array([row]), before, np.array([self.game.string_to_action(text)]))
            before = copy_states(after)

    def info(self, players: Ints) -> dict[str, NDArray[Any]]:
        """Return the history that `players` (N,), one per game, may see."""
        games = np.arange(len(self.actions))
        actions = self.actions[games, 0 if self.game.public_moves else players]
        shown: dict[str, NDArray[Any]] = {"history": actions, "history_players": self.players.copy()}
        if len(self.masks):
            shown["mask_history"] = self.masks[games, players]
        return shown


def history_planes(game: Game, actions: Ints, players: Ints, viewers: Ints) -> Planes:
    """Return moves as planes to stack on observations: three per move, newest first.

    The first is 1 in the first cell that the move names (the origin of a piece, or the cell of a stone), the second in
    the last cell (the destination), the third everywhere if the viewer played it. All are 0 before the first move; the
    first two are 0 for a move without cells, such as a pass.

    Args:
        game: The rules.
        actions: (N, k) The moves, `info["history"]`.
        players: (N, k) The players who made them, `info["history_players"]`.
        viewers: (N,) The viewers: `info["to_move"]`, or the seat.

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
            cells_of = ends[actions[:, k], end]  # NO_ACTION indexes the last entry
            rows = np.flatnonzero(cells_of >= 0)
            planes[rows, game.board.rows[cells_of[rows]], game.board.cols[cells_of[rows]], 3 * k + end] = 1
        planes[..., 3 * k + 2] = ((players[:, k] == viewers) & (actions[:, k] >= 0))[:, None, None]
    return planes
