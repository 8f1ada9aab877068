"""The agent `exact`: it plays exactly what can be solved at once, and searches the rest."""

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
"""Actions whose values differ by less are equally good."""


@final
class ExactAgent:
    """Plays Trinim exactly if few enough pieces are left; otherwise, and in other games, as the tree search does.

    With two players no won position of at most `pieces` pieces is ever lost: size 5 from the first move, size 6 too.
    Among equally good moves it prefers one after which few of the next player's replies are good: then a lost position
    is lost only against an opponent who finds one of them.
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
                help="Pieces left up to which positions with two players of Trinim are solved. 22 take about a second "
                "and 12 MB, and each more twice as much.",
            ),
        ] = 22,
        pieces_of_three: Annotated[
            int,
            Option(low=0, high=20, help="The same with three players. 15 take about a tenth of a second, and 25 MB."),
        ] = 16,
        **settings: Any,
    ) -> None:
        """Take the limits of the solver; `settings` are those of the search."""
        self.most_pieces = {2: pieces, 3: pieces_of_three}
        self.solver = TrinimSolver()
        self.searching = SearchAgent(**settings)
        self.search = self.searching.search

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
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
        """Return the share of the next player's legal replies that are best; 0 if the game is over."""
        if state["done"]:
            return 0.0
        values = self.solver.action_values(game, np.array([state]))[0]
        legal = values[~np.isnan(values)]
        return float(np.mean(legal >= legal.max() - EQUAL))
