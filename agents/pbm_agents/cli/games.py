"""`pbm games`: the games and their options."""

from typing import Annotated

import typer

from pbm_envs import registered_games
from pbm_envs.registry import find_game
from pbm_envs.toolbox import options_of, summary, typed

from .terminal import say, table

EXAMPLES = """
  pbm games
  pbm games curio
"""


def games(game: Annotated[str | None, typer.Argument(help="List only this game.")] = None) -> None:
    """List the games and their options.

    For each option, shows its default, the allowed values and its meaning.
    """
    for kind in registered_games().values() if game is None else [find_game(game)]:
        say(f"{kind.name}: {summary(kind)}\n")
        rows = [[each.name, typed(each.default), each.typed, each.help] for each in options_of(kind)]
        table(["option", "default", "allowed", "meaning"], rows, prose=["allowed", "meaning"])
        print()
