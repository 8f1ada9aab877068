"""What an agent is, and the random agent."""

from __future__ import annotations

from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game, sample_actions
from pbm_envs.envs.memory import AgentWithMemory
from pbm_envs.toolbox import quoted

Views: TypeAlias = NDArray[np.void]
Actions: TypeAlias = NDArray[np.int64]


def check_game(game: Game) -> None:
    """ValueError for what is no game."""
    if not isinstance(game, Game):
        raise ValueError(f"game is {quoted(game)}: expected a game, such as pbm_envs.Chameleon(size=7)")


def check_generator(rng: np.random.Generator) -> None:
    """ValueError for what is no generator of random numbers."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng is {quoted(rng)}: expected a numpy.random.Generator, such as numpy.random.default_rng(7)"
        )


class Agent(Protocol):
    """Plays any game of pbm_envs, many games at once, from what the players to move can know.

    An agent need not derive from this class: whatever has such a method is one. It is for one thread at a time.
    """

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action in each of some games.

        Args:
            game: The rules.
            views: (B,) positions that are not over, each as the player to move in it sees it.
            rng: What to draw from, so that games can be repeated.

        Returns:
            (B,) a legal action for each view.
        """
        ...


AnyAgent: TypeAlias = "Agent | AgentWithMemory"
"""Whatever can be asked for actions: with a memory of each game (`pbm_envs.envs.memory`) or without."""


class RandomAgent:
    """Plays every legal action with the same probability, except that it never resigns."""

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """As `Agent.act`."""
        return sample_actions(self._masks(game, views), rng)

    def probabilities(self, game: Game, views: Views) -> NDArray[np.float64]:
        """(B, A) the same for every legal action but `resign`."""
        masks = self._masks(game, views)
        return masks / masks.sum(axis=1, keepdims=True)

    @staticmethod
    def _masks(game: Game, views: Views) -> NDArray[np.bool_]:
        check_game(game)
        masks = game.legal_action_mask(views)
        if game.resign_action >= 0:
            masks[:, game.resign_action] = False
        return masks
