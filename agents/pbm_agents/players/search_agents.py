"""Agents that search: `mcts` and `ismcts` (one class for games with and without hidden information), and `pimc`."""

from __future__ import annotations

from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option, seeds
from pbm_envs.toolbox import branch, check_number, checked

from ..search import Evaluator, Search, SearchResult, Workspace, make_search
from .agent import Actions, Views, check_searchable

DEFAULT_SIMULATIONS = 1000
TEMPERATURE = "0 plays the best action. Above 0, draws an action in proportion to `visits ** (1 / temperature)`."
NETWORK = (
    "File of a network that evaluates leaves: `.pt` from `PolicyValueNetwork.save` (extra `torch`), `.onnx` from "
    "`export_onnx` (extra `onnx`), or `.npz`, a small network, which needs no extra."
)


@final
class SearchAgent:
    """Plays the best action of a search, or, with a temperature, an action drawn by visits.

    The agent keeps a `Workspace`, so with `reuse=True` each move starts from the tree of the last one. Use it in one
    thread at a time. A pickled or copied agent has an empty workspace.
    """

    def __init__(
        self,
        search: Search | None = None,
        *,
        temperature: Annotated[float, Option(low=0, help=TEMPERATURE)] = 0.0,
        network: Annotated[str | None, Option(help=NETWORK)] = None,
        **settings: Any,
    ) -> None:
        """Make an agent that searches with these settings.

        Args:
            search: The settings as a `Search`. None reads them from `settings`.
            temperature: See `TEMPERATURE`.
            network: See `NETWORK`.
            settings: The settings of `make_search`, where early_stop is True by default. Without a budget, simulations
                is 1000.
        """
        check_number("temperature", temperature, 0)
        if search is not None and (settings or network is not None):
            raise ValueError(f"a Search and {', '.join([*settings] or ['network'])}: expected one of the two")
        self.temperature = temperature
        if network is not None:
            settings["evaluator"] = _network(network)
        self.search = make_search(**_with_budget(settings)) if search is None else search
        self.workspace = Workspace()

    def check_plays(self, game: Game) -> None:
        """Raise ValueError if the search evaluates leaves by a network of another game."""
        check_network(self.search, game)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        results = self.analyse(game, views, rng)
        if self.temperature == 0:
            return np.array([result.best for result in results], np.int64)
        return np.array([result.sample(rng, self.temperature) for result in results], np.int64)

    def analyse(self, game: Game, views: Views, rng: np.random.Generator) -> list[SearchResult]:
        """Return the search result of each position."""
        return self.search.run(game, views, rng, workspace=self.workspace)


@final
class PIMCAgent:
    """Perfect-information Monte Carlo (Ginsberg 2001).

    Worlds are drawn, each is searched as if the players knew it, and the worlds vote with their visits. With perfect
    information all worlds are the same, searched with different seeds (root parallelization).
    """

    @checked
    def __init__(
        self,
        *,
        worlds: Annotated[int, Option(low=1, help="Worlds drawn for each position.")] = 10,
        **settings: Any,
    ) -> None:
        """Make an agent that searches `worlds` worlds for each move.

        Args:
            worlds: Worlds drawn for each position.
            settings: The settings of `make_search`, with SearchAgent's defaults. All worlds share the budget.
        """
        settings = _with_budget(settings)
        if settings.get("simulations") is not None:
            settings["simulations"] = max(1, settings["simulations"] // worlds)
        if settings.get("seconds") is not None:
            settings["seconds"] /= worlds
        self.worlds = worlds
        self.search = make_search(**settings)
        self.workspace = Workspace()

    def check_plays(self, game: Game) -> None:
        """Raise ValueError if the search evaluates leaves by a network of another game."""
        check_network(self.search, game)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        check_searchable(game, views)
        own = seeds(rng, len(views))
        rows = np.repeat(np.arange(len(views)), self.worlds)
        streams = np.empty(len(rows), np.uint64)
        branch(own, rows, streams)
        results = self.search.run(game, game.determinize(views[rows], streams), streams, workspace=self.workspace)
        votes = np.array([result.policy(0.0 if result.proven else 1.0) for result in results])
        return votes.reshape(len(views), self.worlds, game.num_actions).sum(axis=1).argmax(axis=1)


def check_network(search: Search, game: Game) -> None:
    """Raise ValueError if the search evaluates leaves by a network of another game."""
    own = getattr(search.evaluator, "game", None)
    if own not in (None, game):
        raise ValueError(f"the evaluator is for positions of {own!r}, not of {game!r}")


def _network(file: str) -> Evaluator:
    """Return the evaluator for a network's file, by its extension."""
    if file.endswith(".npz"):
        from ..learning.small_network import SmallNetwork

        return SmallNetwork.load(file)
    if file.endswith(".onnx"):
        from ..learning.onnx_evaluator import OnnxEvaluator

        return OnnxEvaluator(file)
    from ..learning.network import PolicyValueNetwork

    return PolicyValueNetwork.load(file).evaluator()


def _with_budget(settings: dict[str, Any]) -> dict[str, Any]:
    settings = {"early_stop": True} | settings
    if settings.get("simulations") is None and settings.get("seconds") is None:
        settings["simulations"] = DEFAULT_SIMULATIONS
    return settings
