"""Four abstract board games of an old play-by-mail server as reinforcement-learning environments.

    from pbm_envs import curio_v0
    env = curio_v0.env(render_mode="ansi")

`Chameleon`, `Curio`, `Trinim` and `Unlur` are the rules over batches of games; `<name>_v0` the environments.
"""

from .chameleon import Chameleon
from .curio import Curio
from .game import Game
from .randomness import sample_actions
from .registry import GAMES, make_game, register
from .symmetry import Symmetry
from .trinim import Trinim
from .unlur import Unlur
from .version import __version__

__all__ = [
    "GAMES",
    "Chameleon",
    "Curio",
    "Game",
    "Symmetry",
    "Trinim",
    "Unlur",
    "__version__",
    "make_game",
    "register",
    "sample_actions",
]

register()
