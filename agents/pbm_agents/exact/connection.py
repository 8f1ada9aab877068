"""Chameleon, and Unlur after the contract, solved exactly: small boards, and late positions of larger ones."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pbm_envs import Chameleon, Game, Unlur
from pbm_envs.authoring import Ints, Record, States, check_range
from pbm_envs.toolbox import BOTTOM, LEFT, RIGHT, TOP, Array, Floats

from ..players.agent import check_searchable
from .connection_kernels import CHAMELEON, NODES, SPENT, TABLE_BITS, UNKNOWN, UNLUR, Problem, solve

MOST_BITS = 62
MOST_NODES = 10_000_000


@final
class ConnectionSolver:
    """Says what the moves of a connection game are worth. It remembers positions from call to call (24 MiB).

    >>> game = Chameleon(size=3)
    >>> states = game.init(1, np.random.default_rng(7))
    >>> np.nanmax(ConnectionSolver(game).action_values(states))  # no opening wins: the opponent may swap
    np.float32(-1.0)
    """

    def __init__(self, game: Game) -> None:
        """A solver of positions of this game.

        Args:
            game: Chameleon up to 7x7, or Unlur up to radius 4.
        """
        if not self.fits(game):
            raise ValueError(f"{game!r} cannot be solved: expected Chameleon up to size 7, or Unlur up to radius 4")
        self.game = game
        board = game.board
        stride = board.shape[1] + 1
        bits = board.rows * stride + board.cols
        self._bits: Ints = np.int64(1) << bits
        middle = int(np.flatnonzero((board.neighbours >= 0).all(axis=1))[0])
        steps = bits[board.neighbours[middle].astype(np.int64)] - bits[middle]
        rules = UNLUR if isinstance(game, Unlur) else CHAMELEON
        sides = [1 << k for k in range(6)] if rules == UNLUR else [TOP, BOTTOM, LEFT, RIGHT]
        from_the_middle = (board.rows - board.rows.mean()) ** 2 + (board.cols - board.cols.mean()) ** 2
        self._problem = Problem(
            rules=rules,
            board=int(self._bits.sum()),
            cells=self._bits[np.argsort(from_the_middle, kind="stable")],
            sides=np.array([self._bits[board.edges & side != 0].sum() for side in sides], np.int64),
            shifts=np.sort(steps[steps > 0]),
            table=np.zeros((1 << TABLE_BITS, 3), np.int64),
            history=np.zeros((2, 2, board.size), np.int64),
            counters=np.zeros(2, np.int64),
        )
        self.nodes = 0
        """Positions that the last call has looked at."""

    @staticmethod
    def fits(game: Game) -> bool:
        """Whether positions of this game are small enough for a solver."""
        return isinstance(game, (Chameleon, Unlur)) and game.board.shape[0] * (game.board.shape[1] + 1) <= MOST_BITS

    def values(self, states: States, nodes: int = MOST_NODES) -> Ints:
        """(B,) 1 where the player to move wins with best play, -1 where they lose, 0 where that is not found out.

        Args:
            states: (B,) states or views that are not over.
            nodes: Positions that may be looked at for all of them together.
        """
        check_range("nodes", nodes, 0)
        problem = self._problem_within(nodes)
        found = np.array([self._value(state, problem) for state in states], np.int64)
        self._count(problem)
        return found

    def action_values(self, states: States, nodes: int = MOST_NODES) -> Floats:
        """(B, A) 1 for actions that win, -1 for those that lose, 0 if that is not found out; nan for what is illegal.

        Args:
            states: (B,) states or views that are not over.
            nodes: Positions that may be looked at for all of them together.
        """
        check_searchable(self.game, states)
        check_range("nodes", nodes, 0)
        worth = np.full((len(states), self.game.num_actions), np.nan, np.float32)
        problem = self._problem_within(nodes)
        for row, mask in enumerate(self.game.legal_action_mask(states)):
            actions = np.flatnonzero(mask)
            worth[row, actions] = self._worths(states[row : row + 1], actions, problem)
        return worth

    def action_value(self, state: States, action: int, nodes: int = MOST_NODES) -> int:
        """1 if this legal action wins with best play, -1 if it loses, 0 if that is not found out.

        Args:
            state: (1,) a state or view that is not over.
            action: Of the player to move.
            nodes: Positions that may be looked at.
        """
        check_range("nodes", nodes, 0)
        return self._worths(state, np.array([action]), self._problem_within(nodes))[0]

    def _problem_within(self, nodes: int) -> Problem:
        """The problem, with counters that allow for so many positions."""
        counters = np.zeros(2, np.int64)
        counters[NODES] = nodes
        return self._problem._replace(counters=counters)

    def _count(self, problem: Problem) -> None:
        """Note how many positions have been looked at."""
        self.nodes = min(int(problem.counters[SPENT]), int(problem.counters[NODES]))

    def _worths(self, state: States, actions: Array, problem: Problem) -> list[int]:
        """What some legal actions in one position are worth."""
        after = np.repeat(state, len(actions))
        after["viewer"] = -1  # nothing is hidden
        self.game.step(after, actions)
        mover = int(state["to_move"][0])
        found = [self._worth(one, mover, problem) for one in after]
        self._count(problem)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return ConnectionSolver, (self.game,)  # it forgets

    def _worth(self, state: Record, mover: int, problem: Problem) -> int:
        if state["done"]:
            return int(state["returns"][mover])
        value = self._value(state, problem)
        return value if int(state["to_move"]) == mover else -value

    def _value(self, state: Record, problem: Problem) -> int:
        mover = int(state["to_move"])
        owner = int(state["black"] if problem.rules == UNLUR else state["vert"])
        if owner < 0 or problem.counters[SPENT] >= problem.counters[NODES]:  # the contract is not solved
            return UNKNOWN
        first, second = (int(self._bits[state["stones"] == mark].sum()) for mark in (1, 2))
        return int(solve(first, second, 0 if owner == mover else 1, *problem))
