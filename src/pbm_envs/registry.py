"""The games: one line each. A name leads to the class of the rules; `<name>_v0` is the module of the environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import pettingzoo

from .chameleon import Chameleon
from .curio import Curio
from .game import Game
from .trinim import Trinim
from .unlur import Unlur

GAMES: dict[str, type[Game]] = {
    "chameleon": Chameleon,
    "curio": Curio,
    "trinim": Trinim,
    "unlur": Unlur,
}


def make_game(name: str, **options: Any) -> Game:
    """The rules of the game `name` with these options.

    >>> make_game("trinim", size=6)
    Trinim(size=6, num_players=2, allow_resign=False)
    """
    if name not in GAMES:
        raise ValueError(f"{name!r} is no game of pbm_envs: expected one of {', '.join(GAMES)}")
    return GAMES[name](**options)


def register() -> None:
    """Tell Gymnasium the ids `pbm/<Name>-v0`, and PettingZoo (1.27 and later) the ids `pbm/<name>-v0`."""
    for name, rules in GAMES.items():
        if f"pbm/{rules.__name__}-v0" not in gymnasium.registry:
            gymnasium.register(
                f"pbm/{rules.__name__}-v0",
                entry_point=f"pbm_envs.{name}_v0:single_env",
                vector_entry_point=f"pbm_envs.{name}_v0:vector_env",
            )
        if "register" in vars(pettingzoo) and f"pbm/{name}-v0" not in pettingzoo.aec_registry:
            pettingzoo.register("aec", f"pbm/{name}-v0", entry_point=f"pbm_envs.{name}_v0:env")
