"""Curio once the player to move knows every piece: from there on the game has perfect information for that player."""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import NO_ACTION
from pbm_envs.toolbox import Array

from ..exact import CurioSolver
from ..players.agent import Actions, Views, check_searchable
from ..players.search_agents import SearchAgent
from ..search import Search

WORLDS = 24
"""Worlds that are drawn for a position, to see whether there is more than one."""


NODES_A_SECOND = 1.5e5
"""That the solver looks at, about, on one core."""
SHARE_OF_THE_SOLVER = 0.2
"""Of the seconds of a move, where the solver is asked."""
SIMULATIONS_OF_A_NODE = 4


@final
class KnownWorldAgent:
    """Where only one world is consistent with the view, plays a win that a solver finds, or searches that world.

    Elsewhere it searches information sets. The search of one world draws no worlds and proves outcomes. It takes the
    opponent for somebody who knows everything too.
    """

    def __init__(self, search: Search) -> None:
        """An agent with these settings in both kinds of positions.

        Args:
            search: The settings. Of `seconds` the solver takes its share; beside `simulations` it looks at a position
                for every SIMULATIONS_OF_A_NODE of them.
        """
        self.search = search
        known = search
        if search.seconds is None:
            self.nodes = int(search.simulations or 0) // SIMULATIONS_OF_A_NODE
        else:
            self.nodes = int(min(search.seconds * SHARE_OF_THE_SOLVER * NODES_A_SECOND, 1e12))
            known = replace(search, seconds=search.seconds * (1 - SHARE_OF_THE_SOLVER))
        self._searching = SearchAgent(search), SearchAgent(known)
        self._solver: CurioSolver | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
        check_searchable(game, views)
        known, worlds = known_worlds(game, views, rng)
        actions = np.full(len(views), NO_ACTION, np.int64)
        for row in np.flatnonzero(known):
            actions[row] = self._winning(game, worlds[row : row + 1])
        searched = ~known, known & (actions == NO_ACTION)
        for agent, rows, positions in zip(self._searching, searched, (views, worlds), strict=True):
            if rows.any():
                actions[rows] = agent.act(game, positions[rows], rng)
        return actions

    def _winning(self, game: Game, world: Array) -> int:
        """An action that wins by force, or NO_ACTION if none is found."""
        if self._solver is None or self._solver.game != game:
            self._solver = CurioSolver(game)
        found = self._solver.winning_action(world, nodes=self.nodes)
        return NO_ACTION if found is None else found


def known_worlds(game: Game, views: Views, rng: np.random.Generator) -> tuple[NDArray[np.bool_], Array]:
    """(B,) whether all worlds drawn for a view of Curio are the same, and (B,) one of them."""
    worlds = game.determinize(np.repeat(views, WORLDS), rng).reshape(len(views), WORLDS)
    same = (worlds["faces"] == worlds["faces"][:, :1]).reshape(len(views), -1).all(axis=1)
    return same, np.ascontiguousarray(worlds[:, 0])
