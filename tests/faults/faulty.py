"""Agents that cannot be made, and one that can."""

import sys

five = 5


class Exits:
    def __init__(self):
        sys.exit(3)


class Raises:
    def __init__(self):
        raise ZeroDivisionError("nothing to divide by")


class Needs:
    def __init__(self, something):
        self.something = something


class Agent:
    def act(self, game, views, rng):
        return game.legal_action_mask(views).argmax(axis=1)
