"""OpenSpiel's own tree searches as agents, for comparison with ours: `openspiel-mcts` and `openspiel-ismcts`.

They are `MCTSBot` and `ISMCTSBot` of `open_spiel.python.algorithms`, which search our games through our adapter (extra
`openspiel`). Only the playouts at the leaves are ours: OpenSpiel's RandomRolloutEvaluator plays the same random games,
but it also resigns, and is far slower because it runs move by move in Python.
"""

from __future__ import annotations

from typing import Annotated, Any, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option
from pbm_envs.toolbox import checked

from .agent import Actions, Views, check_searchable


class OpenSpielMCTS:
    """OpenSpiel's `MCTSBot`, with its solver, in games of perfect information."""

    perfect_information = True
    refusal = "openspiel-mcts would need to see what is hidden in {}: use openspiel-ismcts"

    @checked
    def __init__(
        self,
        *,
        simulations: Annotated[int, Option(low=1, help="Simulations for each move.")] = 1000,
        c: Annotated[float, Option(low=0, high=1e9, help="Weight of exploration in UCT.")] = 2.0,
    ) -> None:
        """Make an agent with these settings; the defaults are those of OpenSpiel's examples."""
        _openspiel()  # raises an ImportError that names the extra, if it is missing
        self.simulations, self.c = simulations, float(c)

    def check_plays(self, game: Game) -> None:
        """Raise ValueError if the bot does not support the game."""
        if game.perfect_information is not self.perfect_information:
            raise ValueError(self.refusal.format(repr(game)))
        if not game.public_moves:
            raise ValueError(f"{game!r} hides moves: expected a game whose moves are public")

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`); raise ValueError if the bot does not support the game."""
        check_searchable(game, views)
        self.check_plays(game)
        spiel = _openspiel().load(game)
        worlds = game.determinize(views, rng)
        states = [spiel.enter(worlds[row : row + 1]) for row in range(len(worlds))]
        actions = np.empty(len(views), np.int64)
        for row, state in enumerate(states):
            generator = np.random.RandomState(rng.integers(2**32))
            actions[row] = self._bot(spiel, game, rng, generator).step(state)
        return actions

    def _bot(self, spiel: Any, game: Game, rng: np.random.Generator, generator: np.random.RandomState) -> Any:
        from open_spiel.python.algorithms.mcts import MCTSBot

        return MCTSBot(spiel, self.c, self.simulations, Playouts(game, rng), random_state=generator)


@final
class OpenSpielISMCTS(OpenSpielMCTS):
    """OpenSpiel's `ISMCTSBot`, for games with hidden information.

    Each simulation starts in a world drawn by `determinize`, and nodes are information states.
    """

    perfect_information = False
    refusal = "openspiel-ismcts is for games of hidden information, not {}: use openspiel-mcts"

    def _bot(self, spiel: Any, game: Game, rng: np.random.Generator, generator: np.random.RandomState) -> Any:
        from open_spiel.python.algorithms.ismcts import ISMCTSBot

        bot = ISMCTSBot(spiel, Playouts(game, rng), self.c, self.simulations, random_state=generator)
        bot.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.random))
        return bot


@final
class Playouts:
    """An evaluator for OpenSpiel's bots: one random game by `Game.playout`, and uniform priors."""

    def __init__(self, game: Game, rng: np.random.Generator) -> None:
        self.game, self.rng = game, rng

    def evaluate(self, state: Any) -> Any:
        """Return the returns of one random game from this state."""
        states = state.states
        self.game.playout(states, self.rng)
        return states["returns"][0]

    def prior(self, state: Any) -> list[tuple[int, float]]:
        """Return the legal actions, all with the same probability."""
        legal = state.legal_actions()
        return [(action, 1 / len(legal)) for action in legal]


def _openspiel() -> Any:
    from pbm_envs.adapters import openspiel

    return openspiel
