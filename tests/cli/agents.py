"""Agents of one's own, by name."""


class Crash:
    def act(self, game, views, rng):
        raise RuntimeError("lost my way")
