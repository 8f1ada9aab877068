"""The environments that the tests go through: those of every game of the package, without a list of their names.

A test parametrizes over NAMES; MODULES leads from a name to `pbm_envs.<name>_v0`, and SMALL to options of a short game.
"""

from importlib import import_module

from pbm_envs.registry import OURS

NAMES = tuple(game.name for game in OURS)
MODULES = {name: import_module(f"pbm_envs.{name}_v0") for name in NAMES}
SMALL = {name: dict(game.configurations[0]) for name, game in zip(NAMES, OURS, strict=True)}
"""The first configuration of each game is its smallest."""
