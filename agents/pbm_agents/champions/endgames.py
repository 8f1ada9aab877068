"""Curio once the player to move knows every piece: from there on the game has perfect information for that player."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.core.types import Array

from ..players.agent import Actions, Views
from ..players.search_agents import SearchAgent
from ..search import Search
from ..search.search import check_searchable

WORLDS = 24
"""Worlds that are drawn for a position, to see whether there is more than one."""


@final
class KnownWorldAgent:
    """Searches the world itself where only one is consistent with the view, and information sets elsewhere.

    Such a search draws no worlds and proves outcomes. It takes the opponent for somebody who knows everything too.
    """

    def __init__(self, search: Search) -> None:
        """An agent with these settings in both kinds of positions.

        Args:
            search: The settings.
        """
        self.search = search
        self._searching = SearchAgent(search), SearchAgent(search)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
        check_searchable(game, views)
        known, worlds = known_worlds(game, views, rng)
        actions = np.empty(len(views), np.int64)
        for agent, rows, positions in zip(self._searching, (~known, known), (views, worlds), strict=True):
            if rows.any():
                actions[rows] = agent.act(game, positions[rows], rng)
        return actions


def known_worlds(game: Game, views: Views, rng: np.random.Generator) -> tuple[NDArray[np.bool_], Array]:
    """(B,) whether all worlds drawn for a view of Curio are the same, and (B,) one of them."""
    worlds = game.determinize(np.repeat(views, WORLDS), rng).reshape(len(views), WORLDS)
    same = (worlds["faces"] == worlds["faces"][:, :1]).reshape(len(views), -1).all(axis=1)
    return same, np.ascontiguousarray(worlds[:, 0])
