"""Four abstract board games of an old play-by-mail server as reinforcement-learning environments.

    from pbm_envs import curio_v0
    env = curio_v0.env(render_mode="ansi")

`Chameleon`, `Curio`, `Trinim` and `Unlur` are the rules over batches of games; `<name>_v0` are the environments.
"""

from .core.game import Game
from .core.randomness import sample_actions
from .core.symmetry import Symmetry
from .games.chameleon import Chameleon
from .games.curio import Curio
from .games.trinim import Trinim
from .games.unlur import Unlur
from .registry import make_game, register_game, registered_games
from .server_log import read_server_log
from .version import __version__

__all__ = [
    "Chameleon",
    "Curio",
    "Game",
    "Symmetry",
    "Trinim",
    "Unlur",
    "__version__",
    "make_game",
    "read_server_log",
    "register_game",
    "registered_games",
    "sample_actions",
]
