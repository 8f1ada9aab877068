"""An agent that plays what the test wants, by name."""

import threading

import numpy as np

from pbm_envs import Game

GO = threading.Event()
"""What `Waiting` waits for."""


class Scripted:
    """Plays the first legal one of `moves`, else the first legal action."""

    def __init__(self, *moves: str) -> None:
        self.moves = moves

    def act(self, game: Game, views, rng):
        masks = game.legal_action_mask(views)
        wanted = [game.string_to_action(move) for move in self.moves]
        return np.array([next((a for a in wanted if mask[a]), mask.argmax()) for mask in masks])


class Waiting(Scripted):
    def act(self, game: Game, views, rng):
        assert GO.wait(120)
        return super().act(game, views, rng)


def dark():
    """For the board of the rules of Curio, from its far side."""
    return Scripted("b4-b3", "a4-a3")


def light():
    return Scripted("c1-c2")
