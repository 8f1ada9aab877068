"""`pbm games`, and the argument with which commands take the options of a game."""

from __future__ import annotations

from typing import Annotated

import typer

from pbm_envs import registered_games
from pbm_envs.registry import find_game

from ..play.options import allowed_values, defaults, summary
from .terminal import say, table

EXAMPLES = """
  pbm games
  pbm games curio
"""

Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; can be repeated."),
]


def games(game: Annotated[str | None, typer.Argument(help="Only this one.")] = None) -> None:
    """List the games and their options.

    With defaults and allowed values.
    """
    for kind in registered_games().values() if game is None else [find_game(game)]:
        say(f"{kind.name}: {summary(kind)}\n")
        table(
            ["option", "default", "allowed"],
            [
                [name, str(value).lower(), allowed_values(kind.name, name)]
                for name, value in defaults(kind.name).items()
            ],
            prose=["allowed"],
        )
        say(f"\n{summary(kind.__init__)}\n")
