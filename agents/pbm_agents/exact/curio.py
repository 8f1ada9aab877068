"""Wins of Curio that can be forced within few own moves, once all pieces are known."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pbm_envs import Curio, Game
from pbm_envs.authoring import Ints, States, check_range, copy_states

from ..players.agent import check_searchable
from .curio_kernels import FACES, NODES, SPENT, TABLE_BITS, UNKNOWN, WON, Duel, force_win
from .curio_lines import check_game

MOST_OWN_MOVES = 8
MOST_NODES = 1_000_000
SEED = 2018


@final
class CurioSolver:
    """Finds wins that the player to move can force, whatever the opponent does. It remembers positions (1 MiB).

    The world is taken as it is given: all faces are known. Draws and losses are not told apart.
    """

    def __init__(self, game: Game) -> None:
        """A solver of positions of this game.

        Args:
            game: Curio.
        """
        check_game(game)
        assert isinstance(game, Curio)
        self.game = game
        self._keys: Ints = np.random.default_rng(SEED).integers(1, 1 << 62, (2, FACES, FACES, game.board.size))
        self._table: Ints = np.zeros((1 << TABLE_BITS, 2), np.int64)
        self.nodes = 0
        """Positions that the last call has looked at."""

    def winning_action(self, state: States, own_moves: int = MOST_OWN_MOVES, nodes: int = MOST_NODES) -> int | None:
        """The action with which the fewest own moves win by force.

        Args:
            state: (1,) a full state that is not over.
            own_moves: Most own moves until the win.
            nodes: Positions that may be looked at.

        Returns:
            The action, or None if none is found.
        """
        check_searchable(self.game, state)
        check_range("own_moves", own_moves, 1, 100)
        check_range("nodes", nodes, 0)
        counters = np.zeros(2, np.int64)
        counters[NODES] = nodes
        duel, value, action = Duel(self.game.steps, self._keys, self._table, counters), UNKNOWN, -1
        mover, passed, quiet = (int(state[name][0]) for name in ("to_move", "passed", "quiet"))
        for most in range(1, own_moves + 1):
            value, action = force_win(copy_states(state), duel, self.game.settings, mover, most, passed, quiet)
            if value in (WON, UNKNOWN):
                break
        self.nodes = int(counters[SPENT])
        return int(action) if value == WON else None

    def __reduce__(self) -> tuple[Any, ...]:
        return CurioSolver, (self.game,)  # it forgets
