"""The agent `champion`: the strongest player in this package for every game.

| game | player |
|---|---|
| Chameleon, Unlur | the tree search with learned patterns as priors, and playouts that save bridges |
| Chameleon up to 7x7, Unlur up to radius 4 | the same, in Chameleon without patterns; late, a solver checks the moves |
| all of these, with a budget in seconds | the search also keeps its tree from one move to the next |
| Trinim | the exact solution as soon as it fits into the budget, the tree search until then |
| Curio with its usual options | alpha-beta search of sampled worlds (`LinesAgent`) |
| Curio's games SOLVED | an equilibrium, solved when it is first played; advice and the page without a server search |
| Curio with other options | information-set search, with a solver once all pieces are known |
| games outside the package, and Curio with options that the solver does not support | the tree search |

Cards in the documentation describe how each was made, its results, and its limits.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import as_file, files
from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game, make_game
from pbm_envs.authoring import Option

from ..exact import ConnectionSolver, ExactAgent, KnownWorldAgent, VerifiedSearchAgent
from ..exact.curio_lines import follows
from ..players.agent import Actions, Agent, Views
from ..players.names import make_agent
from ..players.search_agents import SearchAgent
from ..search import UCT, Evaluator, Playouts, Search
from .curio import CurioValues, LinesAgent
from .patterns import PatternPriors
from .unlur import UnlurPlayouts

PATTERNS = {"chameleon": (5.0, 0.0), "unlur": (1.0, 0.5)}
"""Games with learned patterns, and the weight of their priors, the second one on boards that fit the solver."""
EXPLORATION = 0.0
"""The weight of exploration beside patterns: priors and RAVE explore enough."""
SOLVED = ("curio-ladder-1", "curio-ladder-2", "curio-ladder-3")
"""Registered games whose solution takes a few seconds at most."""
LEAST_BASE = 3
"""The smallest base of Curio that `LinesAgent` plays; with a smaller one the solver is stronger."""
NODES_OF_A_SIMULATION = 30
"""Positions of Curio that `LinesAgent` examines in the time of a simulation with a playout."""
SECONDS_OF_TWO, SECONDS_OF_THREE = 3e-7, 4e-6
"""Approximate seconds to solve Trinim on one core, divided by 2 ** pieces, with two and with three players."""


@final
class ChampionAgent:
    """The strongest player in this package for every game, with a budget."""

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
                help="Threads that share the positions of a batch or, with a budget in seconds, the trees of one "
                "position. Curio's alpha-beta search uses one.",
            ),
        ] = 1,
        early_stop: Annotated[
            bool, Option(help="End a tree search when no other action can overtake the most visited one.")
        ] = True,
    ) -> None:
        """Make an agent with this budget and these settings of its searches."""
        if simulations is None and seconds is None:
            simulations = 1000
        budget: dict[str, Any] = {"simulations": simulations, "seconds": seconds}
        self.settings = budget | {"threads": threads, "early_stop": early_stop}
        self.search = Search(**self.settings)
        self._player: tuple[Game, Agent] | None = None
        self._equilibrium: Agent | None = None

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        if game.name != "curio" or game not in _solved_games():
            return self.player(game).act(game, views, rng)
        return np.concatenate([self._solve(game, views[row : row + 1], rng) for row in range(len(views))])

    def _solve(self, game: Game, view: Views, rng: np.random.Generator) -> Actions:
        """Choose an action by the equilibrium, or by a search where no game from a set-up has the view (1,)."""
        if self._equilibrium is None:
            self._equilibrium = make_agent("equilibrium")
        try:
            return self._equilibrium.act(game, view, rng)
        except ValueError:
            return self.player(game).act(game, view, rng)

    def player(self, game: Game) -> Agent:
        """Return the agent that searches this game."""
        if self._player is None or self._player[0] != game:
            self._player = (game, self._make(game))
        return self._player[1]

    def _by_the_clock(self) -> dict[str, Any]:
        """Return further settings of the search in Chameleon and Unlur with a budget in seconds.

        It keeps its tree from one move to the next. With a budget in simulations, moves do not depend on earlier ones.
        """
        return {} if self.settings["seconds"] is None else {"reuse": True, "parallel_simulations": 1}

    def _make(self, game: Game) -> Agent:
        if game.name == "trinim":
            return ExactAgent(**_affordable(self.settings["seconds"]), **self.settings)
        if CurioValues.fits(game) and game.options["base"] >= LEAST_BASE:
            seconds, simulations = self.settings["seconds"], self.settings["simulations"]
            nodes = None if simulations is None else simulations * NODES_OF_A_SIMULATION
            return LinesAgent(CurioValues.best(game), nodes=nodes, seconds=seconds)
        if follows(game):
            return KnownWorldAgent(self.search)
        if game.name not in PATTERNS:
            return SearchAgent(self.search)
        search = Search(
            **self.settings | self._by_the_clock(),
            selection=pattern_selection(game),
            evaluator=playouts_of(game),
        )
        return VerifiedSearchAgent(search) if ConnectionSolver.fits(game) else SearchAgent(search)


@cache
def _solved_games() -> tuple[Game, ...]:
    return tuple(make_game(name) for name in SOLVED)


def pattern_selection(game: Game) -> UCT:
    """Return how the search of a game with learned patterns selects actions."""
    weight = PATTERNS[game.name][ConnectionSolver.fits(game)]
    if not weight:
        return UCT()
    return UCT(c=EXPLORATION, priors=load_patterns(game), prior_weight=weight)


def playouts_of(game: Game) -> Evaluator:
    """Return how the search of a game with learned patterns evaluates leaves."""
    return UnlurPlayouts() if game.name == "unlur" else Playouts(save_bridges=True)


def load_patterns(game: Game) -> PatternPriors:
    """Return the package's learned patterns; on boards of another size, without the weights of board positions."""
    with as_file(files(__package__) / "weights" / f"{game.name}.npz") as path:
        return PatternPriors.load(game, path)


def _affordable(seconds: float | None) -> dict[str, int]:
    """Return the numbers of pieces that can be solved within a move's budget, as settings of ExactAgent."""
    if seconds is None:
        return {}
    return {
        "pieces": min(22, max(0, int(math.log2(seconds / SECONDS_OF_TWO)))),
        "pieces_of_three": min(16, max(0, int(math.log2(seconds / SECONDS_OF_THREE)))),
    }
