"""Play two players against each other in many games at once, and measure the processor time of both."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pbm_agents import Agent

from pbm_envs import Game
from pbm_envs.authoring import States

Chooser = Callable[[States], Any]
"""Returns actions (N,) in full states (N,)."""


def chooser(agent: Agent, game: Game, rng: np.random.Generator) -> Chooser:
    """Return an agent as a chooser: it sees what the players to move know."""
    return lambda states: agent.act(game, game.view(states, states["to_move"]), rng)


def play_out(game: Game, states: States, seats: Any, pair: tuple[Chooser, Chooser]) -> tuple[list[float], list[int]]:
    """Play games (N,) to their end in place: the first chooser in `seats` (N,), the second in all others.

    Return the seconds of processor time and the number of moves of both.
    """
    seconds, moves = [0.0, 0.0], [0, 0]
    while not states["done"].all():
        for k, choose in enumerate(pair):
            rows = np.flatnonzero(~states["done"] & ((states["to_move"] == seats) == (k == 0)))
            if len(rows):
                some, start = states[rows], time.process_time()
                actions = choose(some)
                seconds[k] += time.process_time() - start
                moves[k] += len(rows)
                game.step(some, actions)
                states[rows] = some
    return seconds, moves
