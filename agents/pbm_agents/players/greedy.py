"""The greedy agent: looks one ply ahead, and no further."""

from __future__ import annotations

from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.core.checks import check_range
from pbm_envs.core.state import take_rows

from .agent import Actions, Views, check_game, check_generator

WORLDS = 8


@final
class GreedyAgent:
    """Plays an action that wins at once, if there is one; else any that does not lose at once, never resigning.

    In a game of hidden information it looks at `worlds` full states drawn from its view, the same ones for every
    action, and plays the action with the best mean return one ply later. Equally good actions are drawn by lot.
    """

    def __init__(self, *, worlds: int = WORLDS) -> None:
        """An agent that looks at so many worlds.

        Args:
            worlds: How many where something is hidden; one is enough where nothing is.
        """
        check_range("worlds", worlds, 1)
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
