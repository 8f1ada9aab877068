"""An agent for the small boards of the connection games: a search proposes moves, a solver tries them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import final

import numpy as np

from pbm_envs import Game, Unlur
from pbm_envs.authoring import Record, check_range

from ..players.agent import Actions, Views, check_searchable
from ..players.search_agents import SearchAgent
from ..search import Search, SearchResult
from .connection import ConnectionSolver

NODES_A_SECOND = 2e6
"""That the solver looks at, about, on one core."""
NODES_OF_A_SIMULATION = 4
SHARE_OF_THE_SOLVER = 0.6
"""Of the seconds of a move, where the solver is asked."""
EMPTY, NODES, GROWTH = (19, 16), 10_000, 4
"""With so many nodes most positions of Chameleon and of Unlur with so many empty cells are solved, and with each cell
more it takes so many times as many."""
SHARES_OF_AN_ACTION = 1 / 4, 1
"""Of what is left of the solver's budget each action may take such a share, in each of the rounds."""
MOST_UNKNOWN = 5
"""Actions on which the budget of a round may be spent in vain."""
LEAST_NODES = 1000
"""A round more is worth it if there is time for so many."""


@final
class VerifiedSearchAgent:
    """Searches, and plays a move that a solver finds to win, or the most visited one that it does not find to lose.

    The solver is asked on boards that it fits (`ConnectionSolver.fits`), where few enough cells are empty for its share
    of the budget; elsewhere this is a `SearchAgent`.
    """

    def __init__(self, search: Search) -> None:
        """An agent with the budget of this search.

        Args:
            search: Its settings. Of `seconds` the solver takes its share; beside `simulations` it looks at
                NODES_OF_A_SIMULATION positions for each.
        """
        self.search = search
        self._searching = SearchAgent(search)
        if search.seconds is None:
            self.nodes, before = NODES_OF_A_SIMULATION * int(search.simulations or 0), search
        else:
            self.nodes = int(min(search.seconds * SHARE_OF_THE_SOLVER * NODES_A_SECOND, 1e12))
            before = replace(search, seconds=search.seconds * (1 - SHARE_OF_THE_SOLVER))
        check_range("nodes", self.nodes, 0)
        self._proposing = SearchAgent(before)
        self._solver: ConnectionSolver | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
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
        """Whether the solver is asked about this position."""
        if not self.nodes or not ConnectionSolver.fits(game) or (isinstance(game, Unlur) and view["black"] < 0):
            return False
        most = EMPTY[isinstance(game, Unlur)] + math.log(self.nodes / NODES, GROWTH)
        return int((view["stones"] == 0).sum()) <= most

    def _verified(self, game: Game, result: SearchResult) -> int:
        """An action that is found to win, else the most visited one that is not found to lose, else the most visited.

        A few of the most visited actions are tried first, each with a share of the budget, so that a win that is soon
        proven is not missed because a more visited action takes long to refute; then those of them that are left, by
        the clock for as long as there is time.
        """
        if result.proven:
            return result.best
        start = perf_counter()
        if self._solver is None or self._solver.game != game:
            self._solver = ConnectionSolver(game)
        legal, left = game.legal_action_mask(result.view)[0], self._nodes_left(result)
        order = dict.fromkeys([result.best, *np.argsort(-result.visits, kind="stable").tolist()])
        possible = [int(action) for action in order if legal[action] and action != game.resign_action]
        for share in SHARES_OF_AN_ACTION:
            if len(possible) > 1:
                possible, left = self._try(result, possible, share, left)
        while len(possible) > 1:  # the machine is faster than we think: the solver remembers, and goes on
            spent = result.seconds + perf_counter() - start
            left = 0 if self.search.seconds is None else int((self.search.seconds - spent) * NODES_A_SECOND)
            if left < LEAST_NODES:
                break
            possible, _ = self._try(result, possible, 1, left)
        return possible[0] if possible else result.best

    def _try(self, result: SearchResult, actions: Sequence[int], share: float, left: int) -> tuple[list[int], int]:
        """One round: the first of `actions` that is found to win, alone, or all that are not found to lose.

        The second result says how many nodes are left.
        """
        assert self._solver is not None
        unknown = list[int]()
        for k, action in enumerate(actions):
            if len(unknown) == MOST_UNKNOWN:
                unknown += actions[k:]
                break
            value = self._solver.action_value(result.view, action, int(share * left))
            left -= self._solver.nodes
            if value > 0:
                return [action], left
            if value == 0:
                unknown.append(action)
        return unknown, left

    def _nodes_left(self, result: SearchResult) -> int:
        """The budget of the solver, with what a search by the clock has left over."""
        if self.search.seconds is None:
            return self.nodes
        return max(self.nodes, int((self.search.seconds - result.seconds) * NODES_A_SECOND))
