"""The weights of a search where it is not told any, by the game's name.

The table is a registry: a game of another package enters its own weights with `register_weights`.
"""

from __future__ import annotations

from typing import NamedTuple

from pbm_envs.toolbox import check_number


class Weights(NamedTuple):
    """The numbers in the formulas of selection."""

    c: float
    """Weight of exploration in UCT."""
    rave: float
    """Equivalence parameter of RAVE (Gelly & Silver 2011); 0: without."""


OTHER_GAMES = Weights(c=1.0, rave=0)
"""For games that are not in the table, and for a formula (with RAVE, without) that a game's entry is not for."""

_weights = {
    "chameleon": Weights(c=0.05, rave=1000),
    "curio": Weights(c=0.6, rave=0),
    "trinim": Weights(c=0.5, rave=0),
    "unlur": Weights(c=0.1, rave=1000),
}
"""As `benchmarks/tune_search.py` has found them best."""


def register_weights(game_name: str, *, c: float, rave: float = 0.0) -> None:
    """Enter the weights that a search of this game uses by default, in place of those it had.

    Args:
        game_name: `Game.name`.
        c: Weight of exploration in UCT, or in UCT with RAVE.
        rave: Equivalence parameter of RAVE; 0: plain UCT is best.

    >>> register_weights("my_game", c=0.7)
    >>> default_weights("my_game"), default_weights("another_game")
    (Weights(c=0.7, rave=0.0), Weights(c=1.0, rave=0))
    """
    check_number("c", c, 0, 1e9)
    check_number("rave", rave, 0, 1e9)
    _weights[game_name] = Weights(c, rave)


def default_weights(game_name: str) -> Weights:
    """The registered weights of this game, else OTHER_GAMES."""
    return _weights.get(game_name, OTHER_GAMES)
