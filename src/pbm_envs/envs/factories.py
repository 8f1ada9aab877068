"""Environments of any game: by its rules, or by its registered name with its options among the settings.

env = make_aec_env("chameleon", size=7, render_mode="ansi")     # as chameleon_v0.env(size=7, render_mode="ansi")
envs = make_vector_env(MyGame(size=4), 1024)

Every factory, and so every registered id, takes `wrap`, a function or class that wraps the environment:

envs = gymnasium.make_vec("pbm/Chameleon-v0", num_envs=64, wrap=RecordEpisodeStatistics)
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any, TypeVar

from ..core.game import Game
from ..core.printable import quoted
from ..registry import make_game
from .aec import BoardGameAECEnv
from .single import SingleSeatEnv
from .vector import BoardGameVectorEnv

Env = TypeVar("Env")


def make_raw_env(game: Game | str, **settings: Any) -> BoardGameAECEnv:
    """The PettingZoo environment without wrappers: an illegal action raises ValueError and changes nothing.

    Args:
        game: The rules, or the name of a registered game.
        settings: Those of `BoardGameAECEnv`; with a name, also the options of the game.
    """
    return make_env(BoardGameAECEnv, game, settings)


def make_aec_env(game: Game | str, **settings: Any) -> BoardGameAECEnv:
    """The PettingZoo environment with the checks of PettingZoo's usual wrappers: an illegal action ends the game.

    Args:
        game: The rules, or the name of a registered game.
        settings: Those of `BoardGameAECEnv`; with a name, also the options of the game.
    """
    return make_raw_env(game, **settings, illegal_action="terminate")


def make_vector_env(game: Game | str, num_envs: int, **settings: Any) -> BoardGameVectorEnv:
    """Many games at once, as a Gymnasium vector environment.

    Args:
        game: The rules, or the name of a registered game.
        num_envs: How many games.
        settings: Those of `BoardGameVectorEnv`; with a name, also the options of the game.
    """
    return make_env(BoardGameVectorEnv, game, {"num_envs": num_envs, **settings})


def make_single_env(game: Game | str, **settings: Any) -> SingleSeatEnv:
    """One seat against an opponent, as a Gymnasium environment.

    Args:
        game: The rules, or the name of a registered game.
        settings: Those of `SingleSeatEnv`; with a name, also the options of the game.
    """
    return make_env(SingleSeatEnv, game, settings)


def make_env(env_class: Callable[..., Env], game: Game | str, settings: dict[str, Any]) -> Env:
    """Make an environment, with the settings that it does not know itself as options of the game, and wrap it."""
    known = signature(env_class).parameters.keys()
    wrap: Callable[[Env], Env] | None = settings.pop("wrap", None)
    if wrap is not None and not callable(wrap):
        raise ValueError(f"wrap is {quoted(wrap)}: expected a function or class that wraps the environment")
    options = {name: value for name, value in settings.items() if name not in known}
    if isinstance(game, Game):
        if options:
            raise ValueError(
                f"{next(iter(options))!r} is no setting: expected some of {', '.join(sorted(known - {'game'}))}, wrap"
            )
        rules = game
    else:
        rules = make_game(game, **options)
    env = env_class(rules, **{name: value for name, value in settings.items() if name in known})
    return env if wrap is None else wrap(env)
