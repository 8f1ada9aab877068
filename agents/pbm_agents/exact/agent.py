"""The agent `exact`: it plays exactly where a position can be solved during the game, and searches elsewhere."""

from __future__ import annotations

from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game, Trinim
from pbm_envs.authoring import Option, Record
from pbm_envs.toolbox import checked

from ..players.agent import Actions, Views, check_searchable
from ..players.search_agents import SearchAgent
from .common import positions_after
from .trinim import TrinimSolver

EQUAL = 1e-6
"""Actions whose values differ by less than this are equally good."""


@final
class ExactAgent:
    """Plays Trinim exactly if few enough pieces are left; otherwise, and in other games, as the tree search does.

    With two players it never loses a won position of at most `pieces` pieces: by default from the first move on boards
    of size 5 and 6. Among equally good moves it prefers one that leaves the next player few good replies, so that in a
    lost position the opponent has to find one of them.
    """

    @checked
    def __init__(
        self,
        *,
        pieces: Annotated[
            int,
            Option(
                low=0,
                high=28,
                help="Solve positions of two-player Trinim with at most this many pieces left. 22 pieces take about "
                "a second and 12 MB, and each further piece doubles both.",
            ),
        ] = 22,
        pieces_of_three: Annotated[
            int,
            Option(
                low=0, high=20, help="The same for three players. 15 pieces take about a tenth of a second and 25 MB."
            ),
        ] = 16,
        **settings: Any,
    ) -> None:
        """Make an agent with these limits of the solver; `settings` are those of the search."""
        self.most_pieces = {2: pieces, 3: pieces_of_three}
        self.solver = TrinimSolver()
        self.searching = SearchAgent(**settings)
        self.search = self.searching.search

    def check_plays(self, game: Game) -> None:
        """Raise ValueError if the search evaluates leaves by a network of another game."""
        self.searching.check_plays(game)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        check_searchable(game, views)
        solved = np.array([self.solves(game, view) for view in views], np.bool_)
        actions = np.empty(len(views), np.int64)
        for row in np.flatnonzero(solved):
            actions[row] = self._best(game, views[row : row + 1], rng)
        if not solved.all():
            actions[~solved] = self.searching.act(game, views[~solved], rng)
        return actions

    def solves(self, game: Game, view: Record) -> bool:
        """Return whether this position is solved rather than searched."""
        if not isinstance(game, Trinim):
            return False
        still_in = game.num_players - int(view["out"].sum())
        return int(view["left"]) <= self.most_pieces[still_in] or self.solver.knows(game, view)

    def _best(self, game: Game, view: Views, rng: np.random.Generator) -> int:
        values = self.solver.action_values(game, view)[0]
        best = np.flatnonzero(values >= np.nanmax(values) - EQUAL)
        if len(best) == 1:
            return int(best[0])
        good_replies = [self._good_replies(game, state) for state in positions_after(game, view, best)]
        return int(rng.choice(best[np.array(good_replies) <= min(good_replies) + 1e-9]))

    def _good_replies(self, game: Game, state: Record) -> float:
        """Return the share of best replies among the next player's legal ones; 0 if the game is over."""
        if state["done"]:
            return 0.0
        values = self.solver.action_values(game, np.array([state]))[0]
        legal = values[~np.isnan(values)]
        return float(np.mean(legal >= legal.max() - EQUAL))
