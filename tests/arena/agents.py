"""Agents of the arena's tests, by the names `tests.arena.agents:...`."""

import os
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from pbm_agents import RandomAgent


class First:
    """The first legal action."""

    def act(self, game, views, rng):
        return game.legal_action_mask(views).argmax(axis=1)


class Slow(RandomAgent):
    """Does not answer once there are PBM_TESTS_MOST lines in the file PBM_TESTS_GAMES."""

    def act(self, game, views, rng):
        path = Path(os.environ.get("PBM_TESTS_GAMES", os.devnull))
        while path.exists() and path.read_bytes().count(b"\n") >= int(os.environ.get("PBM_TESTS_MOST", 1)):
            time.sleep(0.05)
        return super().act(game, views, rng)


def block_once():
    """Write the Ray node to the file PBM_TESTS_MARK and stop for good, unless the file is there."""
    with suppress(FileExistsError):
        with open(os.environ["PBM_TESTS_MARK"], "x") as file:
            print(os.environ.get("RAY_RAYLET_PID"), file=file)
        time.sleep(100_000)


class Blocks(RandomAgent):
    """Is random, but for the process of `block_once`, which stops in the midst of its games."""

    def act(self, game, views, rng):
        if (views["ply"] >= 2).any():
            block_once()
        return super().act(game, views, rng)


class Crashing(RandomAgent):
    """Raises for games that have come to ply 4 or 5."""

    def act(self, game, views, rng):
        if (views["ply"] >= 4).any():
            raise ZeroDivisionError("four is too much")
        return super().act(game, views, rng)


class Illegal(RandomAgent):
    """Plays the first action where that is not legal."""

    def act(self, game, views, rng):
        actions = super().act(game, views, rng)
        first = ~game.legal_action_mask(views)[:, 0]
        actions[first] = 0
        return actions


class Shapeless:
    def act(self, game, views, rng):
        return np.zeros((len(views), 2), np.int64)
