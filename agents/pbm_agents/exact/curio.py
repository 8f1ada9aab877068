"""Wins of Curio that can be forced within few own moves, once all pieces are known."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pbm_envs import Curio, Game
from pbm_envs.authoring import Ints, States, check_range

from ..search.search import check_searchable
from .curio_kernels import ANY, CELL_BITS, FACES, TABLE_BITS, UNKNOWN, WON, Duel, force_win

MOST_OWN_MOVES = 8
MOST_NODES = 1_000_000
COMPARES = {"lt": 0, "le": 1, "gt": 2, "ge": 3, "any": ANY}
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
        if not isinstance(game, Curio):
            raise ValueError(f"{game!r} cannot be solved: expected Curio")
        self.game = game
        options, board = game.options, game.board
        compare = COMPARES[options["capture"].removesuffix("_total")]
        total, limit = options["capture"].endswith("_total"), options["no_capture_limit"] or 0
        self._settings: Ints = np.array(
            [options["base"], options["turn"], options["limit"], compare, total, limit, game.num_actions], np.int64
        )
        self._neighbours = board.neighbours.astype(np.int64)
        self._keys: Ints = np.random.default_rng(SEED).integers(1, 1 << 62, (2, FACES, FACES, board.size))
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
        counters, first = np.array([nodes, 0], np.int64), np.zeros(1, np.int64)
        value = UNKNOWN
        for most in range(1, own_moves + 1):
            duel = self._duel(state, counters)
            quiet, passed = int(state["quiet"][0]), int(state["passed"][0])
            value = force_win(duel, int(state["to_move"][0]), most, passed, quiet, first)
            if value in (WON, UNKNOWN):
                break
        self.nodes = int(counters[1])
        if value != WON:
            return None
        slot, end, names = int(first[0]) >> CELL_BITS, int(first[0]) & ((1 << CELL_BITS) - 1), self.game.board.names
        return self.game.string_to_action(f"{names[state['cell'][0, slot]]}-{names[end]}")

    def _duel(self, state: States, counters: Ints) -> Duel:
        """A copy of the position that the kernels may change."""
        board, cell, owner, faces = (state[name][0].astype(np.int64) for name in ("board", "cell", "owner", "faces"))
        return Duel(board, cell, owner, faces, self._neighbours, self._settings, self._keys, self._table, counters)

    def __reduce__(self) -> tuple[Any, ...]:
        return CurioSolver, (self.game,)  # it forgets
