"""`pbm games`, and how the commands take the options of a game."""

from __future__ import annotations

from typing import Annotated

import typer

from pbm_envs import GAMES

from ..options import allowed, class_of, defaults, summary
from .terminal import table

EXAMPLES = """
  pbm games
  pbm games curio
"""

Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; as often as needed."),
]


def games(game: Annotated[str | None, typer.Argument(help="Only this one.")] = None) -> None:
    """The games and their options.

    With defaults, and what is allowed.
    """
    for kind in GAMES.values() if game is None else [class_of(game)]:
        print(f"{kind.name}: {summary(kind)}\n")
        table(
            ["option", "default", "allowed"],
            [[name, str(value).lower(), allowed(kind.name, name)] for name, value in defaults(kind.name).items()],
        )
        print(f"\n{summary(kind.__init__)}\n")
