"""Exact solution of Trinim: the value of every move.

    game, rng = Trinim(), np.random.default_rng(7)
    states = game.init(1, rng)
    TrinimSolver().action_values(game, states)      # (1, A): 1 wins, -1 loses, nan is illegal
    make_agent("exact")                             # plays by them

With two players left in the game, values are those of perfect play. With three, perfect play is not defined: a player
who can no longer win decides who does. The solver then assumes that all players choose moves by their expected returns.
"""

from __future__ import annotations

from typing import final

import numpy as np

from pbm_envs import Game, Trinim
from pbm_envs.authoring import Record, States, check_range
from pbm_envs.toolbox import Array, Floats, check_number

from ..players.agent import check_searchable
from .common import positions_after
from .trinim_kernels import EXCHANGED, NO_CELL, solve_three, solve_two

COLOURS = 3
TEMPERATURE = 0.05
"""The scale, in returns, of three players' deviations from their best moves."""


@final
class TrinimSolution:
    """The values of every position that can arise from a given one.

    Solving takes time and memory in proportion to 2 ** pieces: a few milliseconds for 15 pieces (a game of size 5), a
    fraction of a second and 6 MB for 21 (size 6).
    """

    def __init__(self, game: Trinim, state: Record, temperature: float = TEMPERATURE) -> None:
        """Solve a position and all positions that can follow.

        Args:
            game: The rules.
            state: One state or view; nothing in Trinim is hidden.
            temperature: The scale, in returns, of three players' deviations from their best moves. At 0 they play only
                their best moves, all with the same probability.
        """
        self.pieces, self.out = state["pieces"].copy(), state["out"].copy()
        self.cells = np.flatnonzero(self.pieces)
        self.total = _total(state)
        self.still_in = [player for player in range(game.num_players) if not state["out"][player]]
        self._place = np.full(game.board.size, NO_CELL, np.int64)
        self._place[self.cells] = np.arange(len(self.cells))
        neighbours = game.board.neighbours[self.cells, :COLOURS].astype(np.int64)
        following = np.where(neighbours == NO_CELL, NO_CELL, self._place[neighbours])
        colours = self.pieces[self.cells].astype(np.int64)
        masks = 1 << len(colours)
        left = np.empty(masks, np.uint8)
        if len(self.still_in) == 2:
            self._table: Array = np.empty((masks, 2), np.uint8)
            solve_two(colours, following, self.total, EXCHANGED, left, self._table)
        else:
            self._table = np.empty((masks, 3, 64), np.float32)
            solve_three(colours, following, self.total, float(temperature), left, self._table)
        loss = 1.0 / (game.num_players - 1)
        gone = game.num_players - len(self.still_in)
        self._win, self._loss, self._draw = 1.0, -loss, loss * gone / len(self.still_in)

    def covers(self, state: Record) -> bool:
        """Return whether this position can arise from the solved one, no matter who holds which pieces."""
        there = state["pieces"] != 0
        return bool(
            (state["pieces"][there] == self.pieces[there]).all()
            and (state["out"] == self.out).all()
            and _total(state) == self.total
        )

    def values(self, state: Record) -> Floats:
        """Return (P,) the expected returns of the players by seat, in a position that is covered."""
        mask = int((state["pieces"][self.cells] != 0).astype(np.int64) @ (1 << np.arange(len(self.cells))))
        at = self.still_in.index(int(state["to_move"]))
        order = self.still_in[at:] + self.still_in[:at]  # from the player to move
        held = [_parities(state["held"][player]) for player in order]
        values = np.full(len(state["out"]), self._loss)
        if len(order) == 3:
            values[order] = self._table[mask, :, 8 * held[0] + held[1]]
            return values
        won, lost = (int(word) >> held[0] & 1 for word in self._table[mask])
        if won or lost:
            values[order] = (self._win, self._loss) if won else (self._loss, self._win)
        else:
            values[order] = self._draw
        return values


@final
class TrinimSolver:
    """Computes the values of positions of Trinim, and of the moves there.

    It keeps the newest solutions: the solution of a game's first position covers all later ones.
    """

    def __init__(self, *, temperature: float = TEMPERATURE, kept: int = 8) -> None:
        """Make a solver with the temperature of `TrinimSolution`, and the number of solutions to keep."""
        check_number("temperature", temperature, 0, 1e9)
        check_range("kept", kept, 1)
        self.temperature, self.kept = temperature, kept
        self._solutions: list[tuple[Game, TrinimSolution]] = []

    def knows(self, game: Game, state: Record) -> bool:
        """Return whether a kept solution covers the position."""
        return self._known(game, state) is not None

    def solution(self, game: Game, state: Record) -> TrinimSolution:
        """Return a solution that covers this position, solving it if none is kept."""
        if not isinstance(game, Trinim):
            raise ValueError(f"{game!r} cannot be solved: expected Trinim")
        found = self._known(game, state)
        if found is None:
            found = TrinimSolution(game, state, self.temperature)
            self._solutions = [(game, found), *self._solutions[: self.kept - 1]]
        return found

    def _known(self, game: Game, state: Record) -> TrinimSolution | None:
        return next((one for of, one in self._solutions if of == game and one.covers(state)), None)

    def values(self, game: Game, states: States) -> Floats:
        """Return (B, P) the expected returns of the players by seat; with two players left, those of perfect play."""
        found = [state["returns"] if state["done"] else self.solution(game, state).values(state) for state in states]
        return np.array(found, np.float64).reshape(len(states), game.num_players)

    def action_values(self, game: Game, states: States) -> Floats:
        """Return (B, A) the value of each action for the player to move; nan for illegal actions and for resigning.

        Args:
            game: Trinim.
            states: (B,) full states or views that are not over, with few enough pieces: see `TrinimSolution`.
        """
        check_searchable(game, states)
        found = np.full((len(states), game.num_actions), np.nan)
        for row, (state, mask) in enumerate(zip(states, game.legal_action_mask(states), strict=True)):
            self.solution(game, state)  # solve this position once, instead of each one after it
            actions = np.flatnonzero(mask)
            actions = actions[actions != game.resign_action]
            after = positions_after(game, states[row : row + 1], actions)
            found[row, actions] = self.values(game, after)[:, int(state["to_move"])]
        return found


def _parities(held: Array) -> int:
    return int((held % 2) @ (1 << np.arange(COLOURS)))


def _total(state: Record) -> int:
    """Return the parities of all pieces that are left on the board or held by players still in the game (A2)."""
    left = np.array([(state["pieces"] == colour + 1).sum() for colour in range(COLOURS)])
    return _parities(state["held"][state["out"] == 0].sum(axis=0) + left)
