"""OpenSpiel's own tree searches as agents, to measure ours against: `openspiel-mcts` and `openspiel-ismcts`.

They are `MCTSBot` and `ISMCTSBot` of `open_spiel.python.algorithms`, which search our games through our adapter (extra
`openspiel`). Only the random games at the leaves are ours: OpenSpiel's RandomRolloutEvaluator plays the same ones,
except that it also resigns, move by move in Python, which costs far more.
"""

from __future__ import annotations

from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option
from pbm_envs.toolbox import checked

from .agent import Actions, Views

Simulations = Annotated[int, Option(low=1, help="Simulations for each move.")]
Exploration = Annotated[float, Option(low=0, high=1e9, help="Weight of exploration in UCT.")]


@final
class OpenSpielMCTS:
    """OpenSpiel's `MCTSBot`, with its solver, in games of perfect information."""

    @checked
    def __init__(self, *, simulations: Simulations = 1000, c: Exploration = 2.0) -> None:
        """A bot with these settings; the defaults are those of OpenSpiel's examples."""
        _openspiel()  # ImportError that names the extra, if it is missing
        self.simulations, self.c = simulations, float(c)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`; ValueError in a game of hidden information."""
        from open_spiel.python.algorithms.mcts import MCTSBot

        if not game.perfect_information:
            raise ValueError(f"openspiel-mcts would need to see what is hidden in {game!r}: use openspiel-ismcts")
        spiel, states = _entered(game, views, rng)
        actions = np.empty(len(views), np.int64)
        for row, state in enumerate(states):
            generator = np.random.RandomState(rng.integers(2**32))
            bot = MCTSBot(spiel, self.c, self.simulations, Playouts(game, rng), random_state=generator)
            actions[row] = bot.step(state)
        return actions


@final
class OpenSpielISMCTS:
    """OpenSpiel's `ISMCTSBot`, for games with hidden information.

    Each simulation starts in a world that is drawn by `determinize`, and nodes are information states.
    """

    @checked
    def __init__(self, *, simulations: Simulations = 1000, c: Exploration = 2.0) -> None:
        """A bot with these settings; the defaults are those of OpenSpiel's examples."""
        _openspiel()  # ImportError that names the extra, if it is missing
        self.simulations, self.c = simulations, float(c)

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`; ValueError in a game of perfect information."""
        from open_spiel.python.algorithms.ismcts import ISMCTSBot

        if game.perfect_information:
            raise ValueError(f"openspiel-ismcts is for games of hidden information, not {game!r}: use openspiel-mcts")
        spiel, states = _entered(game, views, rng)
        actions = np.empty(len(views), np.int64)
        for row, state in enumerate(states):
            generator = np.random.RandomState(rng.integers(2**32))
            bot = ISMCTSBot(spiel, Playouts(game, rng), self.c, self.simulations, random_state=generator)
            bot.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.random))
            actions[row] = bot.step(state)
        return actions


@final
class Playouts:
    """An evaluator for OpenSpiel's bots: one random game, as `Game.playout` plays it; uniform priors."""

    def __init__(self, game: Game, rng: np.random.Generator) -> None:
        self.game, self.rng = game, rng

    def evaluate(self, state: Any) -> Any:
        """The returns of one random game from this state."""
        states = state.states
        self.game.playout(states, self.rng)
        return states["returns"][0]

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Every legal action with the same probability."""
        legal = state.legal_actions()
        return [(action, 1 / len(legal)) for action in legal]


def _entered(game: Game, views: Views, rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """OpenSpiel's game, and a state of it that each view's player cannot tell from the true one."""
    live = game.legal_action_mask(views).any(axis=1)
    if not live.all():
        raise ValueError(f"row {int(live.argmin())}: the game is over or the view is not the mover's")
    spiel = _openspiel().load(game)
    worlds = game.determinize(views, rng)
    return spiel, [spiel.enter(worlds[row : row + 1]) for row in range(len(worlds))]


def _openspiel() -> Any:
    from pbm_envs.adapters import openspiel

    return openspiel
