"""Agents that search: `mcts` in open games, `ismcts` where states are hidden (one class), `pimc` for comparison."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.randomness import branch, seeds

from .agent import Actions, Views
from .search import Search, SearchResult
from .search.result import check_temperature
from .search.search import check_searchable

DEFAULT_SIMULATIONS = 1000
DEFAULT_WORLDS = 10


@final
class SearchAgent:
    """Plays the best action of a search; with a temperature, one drawn by visits."""

    def __init__(self, *, temperature: float = 0.0, network: str | None = None, **settings: Any) -> None:
        """`settings` of `Search`; without a budget, DEFAULT_SIMULATIONS. `network`: a file of `PolicyValueNetwork.save`
        (extra `torch`), which is then the evaluator.
        """
        check_temperature(temperature)
        self.temperature = temperature
        if network is not None:
            from .network import PolicyValueNetwork

            settings["evaluator"] = PolicyValueNetwork.load(network).evaluator()
        self.search = Search(**_with_budget(settings))

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        results = self.search.run(game, views, rng)
        if self.temperature == 0:
            return np.array([result.best for result in results], np.int64)
        return np.array([result.sample(rng, self.temperature) for result in results], np.int64)

    def analyse(self, game: Game, views: Views, rng: np.random.Generator) -> list[SearchResult]:
        """What the search makes of each position."""
        return self.search.run(game, views, rng)


@final
class PIMCAgent:
    """Perfect-information Monte Carlo (Ginsberg 2001): each of some determinized worlds is searched as if the players
    knew it, and the worlds vote by their visits. In an open game the worlds are all the same, searched with different
    seeds (root parallelism).
    """

    def __init__(self, *, worlds: int = DEFAULT_WORLDS, **settings: Any) -> None:
        """The budget is that of all `worlds` together."""
        if isinstance(worlds, bool) or not isinstance(worlds, int) or worlds < 1:
            raise ValueError(f"worlds is {worlds!r}: expected an integer from 1 up")
        settings = _with_budget(settings)
        if settings.get("simulations") is not None:
            settings["simulations"] = max(1, settings["simulations"] // worlds)
        if settings.get("seconds") is not None:
            settings["seconds"] /= worlds
        self.worlds = worlds
        self.search = Search(**settings)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        check_searchable(game, views)
        own = seeds(rng, len(views))
        rows = np.repeat(np.arange(len(views)), self.worlds)
        streams = np.empty(len(rows), np.uint64)
        branch(own, rows, streams)
        results = self.search.run(game, game.determinize(views[rows], streams), streams)
        shares = np.array([_vote(result) for result in results]).reshape(len(views), self.worlds, game.num_actions)
        return shares.sum(axis=1).argmax(axis=1)


def _vote(result: SearchResult) -> Any:
    """(A,) visits in shares; a proven win has all."""
    return result.policy(0.0 if result.proven else 1.0)


def _with_budget(settings: dict[str, Any]) -> dict[str, Any]:
    settings = {"early_stop": True} | settings
    if settings.get("simulations") is None and settings.get("seconds") is None:
        settings["simulations"] = DEFAULT_SIMULATIONS
    return settings
