"""Factories of environments for any game, given as a `Game`, or by its registered name with its options as settings.

env = make_aec_env("chameleon", size=7, render_mode="ansi")     # as chameleon_v0.env(size=7, render_mode="ansi")
envs = make_vector_env(MyGame(size=4), 1024)

Every factory, and so every registered id, accepts `wrap`, a function or class that wraps the environment:

envs = gymnasium.make_vec("pbm/Chameleon-v0", num_envs=64, wrap=RecordEpisodeStatistics)
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

from ..core.checks import quoted
from ..core.game import Game
from ..registry import make_game
from .aec import BoardGameAECEnv
from .single import SingleSeatEnv
from .vector import BoardGameVectorEnv

Env = TypeVar("Env")


def make_raw_env(game: Game | str, **settings: Any) -> BoardGameAECEnv:
    """Make the PettingZoo environment in which illegal actions raise ValueError and change nothing.

    Args:
        game: The rules, or the name of a registered game.
        settings: The settings of the environment's class, here `BoardGameAECEnv`; with a name, also the game's options.
    """
    return make_env(BoardGameAECEnv, game, settings)


def make_aec_env(game: Game | str, **settings: Any) -> BoardGameAECEnv:
    """Make the PettingZoo environment with the checks of its usual wrappers: an illegal action ends the game."""
    return make_raw_env(game, **settings, illegal_action="terminate")


def make_vector_env(game: Game | str, num_envs: int, **settings: Any) -> BoardGameVectorEnv:
    """Make a Gymnasium vector environment, `BoardGameVectorEnv`, of `num_envs` games."""
    return make_env(BoardGameVectorEnv, game, {"num_envs": num_envs, **settings})


def make_single_env(game: Game | str, **settings: Any) -> SingleSeatEnv:
    """Make a Gymnasium environment, `SingleSeatEnv`, in which the learner plays one seat against an opponent."""
    return make_env(SingleSeatEnv, game, settings)


def make_env(env_class: Callable[..., Env], game: Game | str, settings: dict[str, Any]) -> Env:
    """Make an environment and wrap it; settings that its class does not declare are options of the game."""
    known = signature(env_class).parameters.keys()
    wrap: Callable[[Env], Env] | None = settings.pop("wrap", None)
    if wrap is not None and not callable(wrap):
        raise ValueError(f"wrap is {quoted(wrap)}: expected a function or class that wraps the environment")
    options = {name: value for name, value in settings.items() if name not in known}
    if isinstance(game, Game) and options:
        allowed = ", ".join(sorted(known - {"game"}))
        raise ValueError(f"{next(iter(options))!r} is not a setting: expected some of {allowed}, wrap")
    rules = game if isinstance(game, Game) else make_game(game, **options)
    env = env_class(rules, **{name: value for name, value in settings.items() if name in known})
    return env if wrap is None else wrap(env)
