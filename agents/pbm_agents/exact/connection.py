"""Exact solutions of Chameleon, and of Unlur after the contract: small boards, and late positions of larger ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from time import perf_counter
from typing import Any, final

import numpy as np

from pbm_envs import Chameleon, Game, Unlur
from pbm_envs.authoring import Ints, Record, States, check_range
from pbm_envs.toolbox import BOTTOM, LEFT, RIGHT, TOP, Floats

from ..players.agent import Actions, Views, check_searchable
from ..players.search_agents import SearchAgent
from ..search import Search, SearchResult
from .common import divide_budget, positions_after
from .connection_kernels import CHAMELEON, NODES, SPENT, TABLE_BITS, UNKNOWN, UNLUR, Problem, solve

MOST_BITS = 62
MOST_NODES = 10_000_000
NODES_A_SECOND = 2e6
"""Approximate speed of the solver on one core."""
NODES_OF_A_SIMULATION = 4
SHARE_OF_THE_SOLVER = 0.6
"""The solver's share of the seconds of a move in which it is used."""
EMPTY, NODES_FOR_EMPTY, GROWTH = (19, 16), 10_000, 4
"""NODES_FOR_EMPTY nodes solve most positions of Chameleon and of Unlur with EMPTY empty cells; each further cell takes
GROWTH times as many nodes."""
SHARES_OF_AN_ACTION = 1 / 4, 1
"""For each round, the share of the solver's remaining budget that one action may take."""
MOST_UNKNOWN = 5
"""The number of actions without a result after which a round ends."""
LEAST_NODES = 1000
"""The least remaining budget, in nodes, for a further round."""


@final
class ConnectionSolver:
    """Computes the winner of positions of a connection game, and of each move there.

    It keeps a table of positions between calls (24 MiB).

    >>> game = Chameleon(size=3)
    >>> states = game.init(1, np.random.default_rng(7))
    >>> np.nanmax(ConnectionSolver(game).action_values(states))  # no opening wins: the opponent may swap
    np.float32(-1.0)
    """

    def __init__(self, game: Game) -> None:
        """Make a solver for a game: Chameleon up to 7x7, or Unlur up to radius 4."""
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

    @property
    def nodes(self) -> int:
        """The number of positions that the last call examined."""
        return int(self._problem.counters[[SPENT, NODES]].min())

    @staticmethod
    def fits(game: Game) -> bool:
        """Return whether the board of this game is small enough for the solver."""
        return isinstance(game, (Chameleon, Unlur)) and game.board.shape[0] * (game.board.shape[1] + 1) <= MOST_BITS

    def values(self, states: States, nodes: int = MOST_NODES) -> Ints:
        """Return (B,) 1 where the player to move wins with best play, -1 where they lose, 0 where nodes run out.

        Args:
            states: (B,) states or views that are not over.
            nodes: The budget, in positions, for all states together.
        """
        self._begin(nodes)
        return np.array([self._value(state) for state in states], np.int64)

    def action_values(self, states: States, nodes: int = MOST_NODES) -> Floats:
        """Return (B, A) 1 for actions that win, -1 for those that lose, 0 if unknown, nan if illegal (see `values`)."""
        check_searchable(self.game, states)
        found = np.full((len(states), self.game.num_actions), np.nan, np.float32)
        self._begin(nodes)
        for row, mask in enumerate(self.game.legal_action_mask(states)):
            for action in np.flatnonzero(mask).tolist():
                found[row, action] = self._action_value(states[row : row + 1], action)
        return found

    def action_value(self, state: States, action: int, nodes: int = MOST_NODES) -> int:
        """Return the value of one legal action in a position (1,), as in `action_values`."""
        self._begin(nodes)
        return self._action_value(state, action)

    def __reduce__(self) -> tuple[Any, ...]:
        return ConnectionSolver, (self.game,)  # without the table

    def _begin(self, nodes: int) -> None:
        check_range("nodes", nodes, 0)
        self._problem.counters[SPENT], self._problem.counters[NODES] = 0, nodes

    def _action_value(self, state: States, action: int) -> int:
        mover, after = int(state["to_move"][0]), positions_after(self.game, state, np.array([action]))[0]
        if after["done"]:
            return int(after["returns"][mover])
        value = self._value(after)
        return value if int(after["to_move"]) == mover else -value

    def _value(self, state: Record) -> int:
        problem, mover = self._problem, int(state["to_move"])
        owner = int(state["black"] if problem.rules == UNLUR else state["vert"])
        if owner < 0 or problem.counters[SPENT] >= problem.counters[NODES]:  # before the contract nothing is solved
            return UNKNOWN
        first, second = (int(self._bits[state["stones"] == mark].sum()) for mark in (1, 2))
        return int(solve(first, second, 0 if owner == mover else 1, *problem))


@final
class VerifiedSearchAgent:
    """Searches, and plays a move that a solver proves to win, or the most visited one that it does not prove to lose.

    The solver is used on boards that fit it (`ConnectionSolver.fits`), if few enough cells are empty for its share of
    the budget; elsewhere this is a `SearchAgent`.
    """

    def __init__(self, search: Search) -> None:
        """Make an agent from the settings of its search, whose budget is that of a whole move (`divide_budget`)."""
        self.search = search
        before, self.nodes = divide_budget(search, NODES_OF_A_SIMULATION, SHARE_OF_THE_SOLVER, NODES_A_SECOND)
        self._searching, self._proposing = SearchAgent(search), SearchAgent(before)
        self._solver: ConnectionSolver | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        check_searchable(game, views)
        late = np.array([self.can_help(game, view) for view in views], np.bool_)
        actions = np.empty(len(views), np.int64)
        if not late.all():
            actions[~late] = self._searching.act(game, views[~late], rng)
        if late.any():
            results = self._proposing.analyse(game, views[late], rng)
            actions[late] = [self._verified(game, result) for result in results]
        return actions

    def can_help(self, game: Game, view: Record) -> bool:
        """Return whether the solver is used in this position."""
        if not self.nodes or not ConnectionSolver.fits(game) or (isinstance(game, Unlur) and view["black"] < 0):
            return False
        most = EMPTY[isinstance(game, Unlur)] + math.log(self.nodes / NODES_FOR_EMPTY, GROWTH)
        return int((view["stones"] == 0).sum()) <= most

    def _verified(self, game: Game, result: SearchResult) -> int:
        """Return an action proven to win, else the most visited one not proven to lose, else the most visited one.

        The first round gives each of the most visited actions only a share of the budget, so that an easily proven win
        is not missed because a more visited action takes long to refute. The next round spends the rest of the budget;
        by the clock, further rounds follow while there is time.
        """
        if result.proven:
            return result.best
        start = perf_counter()
        if self._solver is None or self._solver.game != game:
            self._solver = ConnectionSolver(game)
        legal, left = game.legal_action_mask(result.view)[0], self.nodes
        if self.search.seconds is not None:  # the search may have ended early
            left = max(left, int((self.search.seconds - result.seconds) * NODES_A_SECOND))
        order = dict.fromkeys([result.best, *np.argsort(-result.visits, kind="stable").tolist()])
        possible = [int(action) for action in order if legal[action] and action != game.resign_action]
        for share in SHARES_OF_AN_ACTION:
            if len(possible) > 1:
                possible, left = self._try(self._solver, result, possible, share, left)
        while len(possible) > 1:  # a faster machine has time left, and the solver keeps its table
            spent = result.seconds + perf_counter() - start
            left = 0 if self.search.seconds is None else int((self.search.seconds - spent) * NODES_A_SECOND)
            if left < LEAST_NODES:
                break
            possible, _ = self._try(self._solver, result, possible, 1, left)
        return possible[0] if possible else result.best

    @staticmethod
    def _try(
        solver: ConnectionSolver, result: SearchResult, actions: Sequence[int], share: float, left: int
    ) -> tuple[list[int], int]:
        """Run one round.

        Returns:
            Only the first action that is proven to win, or all that are not proven to lose; and the nodes left.
        """
        unknown = list[int]()
        for k, action in enumerate(actions):
            if len(unknown) == MOST_UNKNOWN:
                unknown += actions[k:]
                break
            value = solver.action_value(result.view, action, int(share * left))
            left -= solver.nodes
            if value > 0:
                return [action], left
            if value == 0:
                unknown.append(action)
        return unknown, left
