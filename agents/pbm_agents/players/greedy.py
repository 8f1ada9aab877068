"""The greedy agent: looks one ply ahead, and no further."""

from __future__ import annotations

from typing import Annotated, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Option, take_rows
from pbm_envs.toolbox import checked

from .agent import Actions, Views, check_game, check_generator


@final
class GreedyAgent:
    """Plays an action that wins at once, if there is one; else any that does not lose at once, never resigning.

    In a game of hidden information it looks at `worlds` full states drawn from its view, the same ones for every
    action, and plays the action with the best mean return one ply later. Equally good actions are drawn by lot.
    """

    @checked
    def __init__(
        self,
        *,
        worlds: Annotated[int, Option(low=1, help="Worlds drawn for each view of a game of hidden information.")] = 8,
    ) -> None:
        """An agent that looks at so many worlds."""
        self.worlds = worlds

    def act(self, game: Game, views: Views, rng: np.random.Generator) -> Actions:
        """(B,) the best action one ply ahead, for each view."""
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
