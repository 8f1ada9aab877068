"""The agent `champion`: for every game the strongest player that we have.

| game | what it is |
|---|---|
| Chameleon, Unlur | the tree search with learned patterns as priors, and playouts that save bridges |
| Chameleon up to 7x7, Unlur up to radius 4 | the same, and late enough in the game a solver tries what it proposes |
| Trinim | solved exactly as soon as that fits into the budget, searched until then |
| Curio with its usual options | alpha-beta search of worlds that are drawn (`LinesAgent`) |
| Curio with others | information-set search, with a solver once all pieces are known |
| games outside the package, and Curio with options that the solver does not know | the tree search as it is |

Each is described by a card in the documentation: how it was made, what it scores, what it does not know.
"""

from __future__ import annotations

import math
from importlib.resources import as_file, files
from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option
from pbm_envs.toolbox import check_number

from ..exact import ConnectionSolver, ExactAgent, VerifiedSearchAgent
from ..exact.curio_lines import follows
from ..players.agent import Actions, Agent, Views
from ..players.search_agents import SearchAgent
from ..search import UCT, Playouts, Search
from .curio import CurioValues, LinesAgent
from .endgames import KnownWorldAgent
from .patterns import PatternPriors

PATTERNS = {"chameleon": 5.0, "unlur": 1.0}
"""Games with learned patterns, and the weight of their priors."""
SMALLEST = {"chameleon": 49, "unlur": 61}
"""Cells of the smallest boards on which priors have that weight; on smaller ones it is WEIGHT_ON_SMALL_BOARDS."""
WEIGHT_ON_SMALL_BOARDS = 0.5
LEAST_BASE = 3
"""Of Curio by lines of play: below, the solver finds what there is."""
NODES_OF_A_SIMULATION = 30
"""Positions of Curio that are looked at in the time of a simulation with a playout."""
SECONDS_OF_TWO, SECONDS_OF_THREE = 3e-7, 4e-6
"""Solving Trinim takes this times 2 ** pieces, roughly, with two and with three players, on one core."""


@final
class ChampionAgent:
    """For every game the strongest player that we have, with a budget."""

    def __init__(
        self,
        *,
        simulations: Annotated[
            int | None, Option(low=1, help="Budget of each move, in simulations. 1000 if no budget is given.")
        ] = None,
        seconds: Annotated[float | None, Option(low=1e-9, high=1e9, help="Budget of each move, in seconds.")] = None,
        threads: Annotated[
            int,
            Option(
                low=1,
                help="Threads that share the positions of a batch or, by the clock, the trees of one position. Curio's "
                "alpha-beta search uses one.",
            ),
        ] = 1,
        early_stop: Annotated[
            bool, Option(help="End a tree search when no other action can overtake the most visited one.")
        ] = True,
    ) -> None:
        """An agent that knows what to play with in each game."""
        if simulations is None and seconds is None:
            simulations = 1000
        if seconds is not None:
            check_number("seconds", seconds, 1e-9, 1e9)
        self.settings: dict[str, Any] = {
            "simulations": simulations,
            "seconds": seconds,
            "threads": threads,
            "early_stop": early_stop,
        }
        self.search = Search(**self.settings)
        """Its budget, as that of a search; ValueError for what cannot be."""
        self._player: tuple[Game, Agent] | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
        return self.player(game).act(game, views, rng)

    def player(self, game: Game) -> Agent:
        """What plays this game."""
        if self._player is None or self._player[0] != game:
            self._player = (game, self._make(game))
        return self._player[1]

    def _make(self, game: Game) -> Agent:
        if game.name == "trinim":
            return ExactAgent(**_affordable(self.settings["seconds"]), **self.settings)
        if CurioValues.fits(game) and game.options["base"] >= LEAST_BASE:
            seconds, simulations = self.settings["seconds"], self.settings["simulations"]
            nodes = None if simulations is None else simulations * NODES_OF_A_SIMULATION
            return LinesAgent(CurioValues.simple(game), nodes=nodes, seconds=seconds)
        if follows(game):
            return KnownWorldAgent(Search(**self.settings))
        if game.name not in PATTERNS:
            return SearchAgent(Search(**self.settings))
        rule = UCT(priors=load_patterns(game), prior_weight=pattern_weight(game))
        search = Search(**self.settings, selection=rule, evaluator=Playouts(save_bridges=True))
        return VerifiedSearchAgent(search) if ConnectionSolver.fits(game) else SearchAgent(search)


def pattern_weight(game: Game) -> float:
    """The weight of the priors of patterns on this board."""
    return PATTERNS[game.name] if game.board.size >= SMALLEST[game.name] else WEIGHT_ON_SMALL_BOARDS


def load_patterns(game: Game) -> PatternPriors:
    """The learned patterns that the package brings; on boards of another size without what they know of places."""
    with as_file(files(__package__) / "weights" / f"{game.name}.npz") as path:
        return PatternPriors.load(game, path)


def _affordable(seconds: float | None) -> dict[str, int]:
    """How many pieces can be solved in a move's budget."""
    if seconds is None:
        return {}
    return {
        "pieces": min(22, max(0, int(math.log2(seconds / SECONDS_OF_TWO)))),
        "pieces_of_three": min(16, max(0, int(math.log2(seconds / SECONDS_OF_THREE)))),
    }
