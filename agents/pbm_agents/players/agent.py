"""The agent interface, and the random and the greedy agent."""

from __future__ import annotations

from typing import Annotated, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game, sample_actions
from pbm_envs.authoring import Option, take_rows
from pbm_envs.envs.memory import AgentWithMemory
from pbm_envs.toolbox import check_game, checked, quoted

Views: TypeAlias = NDArray[np.void]
Actions: TypeAlias = NDArray[np.int64]


def check_searchable(game: Game, views: Views) -> None:
    """Raise ValueError unless all views are of games that are not over, seen by the player to move."""
    check_game(game)
    searchable = game.legal_action_mask(views).any(axis=1)
    if not searchable.all():
        row = int(searchable.argmin())
        raise ValueError(f"row {row} cannot be searched: expected a game that is not over, seen by the player to move")


def check_generator(rng: np.random.Generator) -> None:
    """Raise ValueError unless `rng` is a NumPy generator."""
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng is {quoted(rng)}: expected a numpy.random.Generator, such as numpy.random.default_rng(7)"
        )


class Agent(Protocol):
    """Plays any game of pbm_envs, in batches, from the views of the players to move.

    An agent need not derive from this class: any object with such a method is one. It serves one thread at a time.
    """

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action in each game of a batch.

        Args:
            game: The rules.
            views: (B,) positions that are not over, each as its player to move sees it.
            rng: The source of all randomness, so that games can be reproduced.

        Returns:
            (B,) a legal action for each view.
        """
        ...


AnyAgent: TypeAlias = "Agent | AgentWithMemory"
"""An agent with a memory of each game (`pbm_envs.envs.memory`) or without."""


def draw(weights: NDArray[np.float64], rng: np.random.Generator) -> Actions:
    """Return actions (B,) drawn in proportion to `weights` (B, A)."""
    sums = weights.cumsum(axis=1)
    return (sums > sums[:, -1:] * rng.random((len(weights), 1))).argmax(axis=1)


class RandomAgent:
    """Plays every legal action with the same probability, except that it never resigns."""

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        return sample_actions(self._masks(game, views), rng)

    def probabilities(self, game: Game, views: Views) -> NDArray[np.float64]:
        """Return (B, A) equal probabilities of all legal actions except `resign`."""
        masks = self._masks(game, views)
        return masks / masks.sum(axis=1, keepdims=True)

    @staticmethod
    def _masks(game: Game, views: Views) -> NDArray[np.bool_]:
        check_game(game)
        masks = game.legal_action_mask(views)
        if game.resign_action >= 0:
            masks[:, game.resign_action] = False
        return masks


@final
class GreedyAgent:
    """Plays an action that wins at once, or else one that does not lose at once, if there is any. It never resigns.

    With hidden information it draws `worlds` full states from its view, the same ones for every action, and plays the
    action with the best mean return one ply later. Ties are broken at random.
    """

    @checked
    def __init__(
        self,
        *,
        worlds: Annotated[int, Option(low=1, help="Worlds drawn for each view of a game of hidden information.")] = 8,
    ) -> None:
        self.worlds = worlds

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """Choose an action for each view (see `Agent.act`)."""
        check_game(game)
        check_generator(rng)
        masks = game.legal_action_mask(views)
        worlds = 1 if game.perfect_information else self.worlds
        scores = np.full(masks.shape, -np.inf)
        rows, actions = np.nonzero(masks)
        for _ in range(worlds):
            states = take_rows(game.determinize(views, rng), rows)
            game.step(states, actions)
            scores[rows, actions] = np.where(np.isinf(scores[rows, actions]), 0, scores[rows, actions])
            scores[rows, actions] += states["returns"][np.arange(len(rows)), views["to_move"][rows]]
        if game.resign_action >= 0:
            alone = masks.sum(axis=1) == 1
            scores[~alone, game.resign_action] = -np.inf
        best = scores == scores.max(axis=1, keepdims=True)
        return np.where(best, rng.random(best.shape), -1).argmax(axis=1)
