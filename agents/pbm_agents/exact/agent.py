"""The agent `exact`: what can be solved at once is solved, and the rest is searched."""

from __future__ import annotations

from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option
from pbm_envs.toolbox import checked

from ..players.agent import Actions, Views, check_searchable
from ..players.search_agents import SearchAgent
from .trinim import MOST_PIECES, MOST_PIECES_OF_THREE, TrinimAgent, TrinimSolver


@final
class ExactAgent:
    """Plays Trinim exactly, and what is too large for that, or another game, as the tree search does.

    With two players no won position of at most `pieces` pieces is ever lost: size 5 from the first move, size 6 too.
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
                help="Pieces left up to which positions of two players of Trinim are solved. 22 take about a second "
                "and 12 MB, and each more twice as much.",
            ),
        ] = MOST_PIECES,
        pieces_of_three: Annotated[
            int,
            Option(low=0, high=20, help="The same of three players. 15 take about a tenth of a second, and 25 MB."),
        ] = MOST_PIECES_OF_THREE,
        **settings: Any,
    ) -> None:
        """An agent that solves positions of so many pieces; `settings` are those of the search for all others."""
        self.trinim = TrinimAgent(TrinimSolver(), pieces, pieces_of_three)
        self.searching = SearchAgent(**settings)
        self.search = self.searching.search

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
        check_searchable(game, views)
        solved = np.array([self.trinim.solves(game, view) for view in views], np.bool_)
        actions = np.empty(len(views), np.int64)
        if solved.any():
            actions[solved] = self.trinim.act(game, views[solved], rng)
        if not solved.all():
            actions[~solved] = self.searching.act(game, views[~solved], rng)
        return actions
