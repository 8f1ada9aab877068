"""`pbm games`: the games and their options."""

from typing import Annotated

import typer

from pbm_envs import registered_games
from pbm_envs.registry import parse_game_options
from pbm_envs.toolbox import choices_given, narrowed, options_of, summary, typed

from .settings import Options
from .terminal import say, table

EXAMPLES = """
  pbm games
  pbm games curio
  pbm games curio -o base=3 -o rows=4     # what goes with these
"""


def games(
    game: Annotated[str | None, typer.Argument(help="List only this game.")] = None, options: Options = None
) -> None:
    """List the games and their options.

    For each option, shows its default, the allowed values and its meaning. If options depend on each other, only the
    values that are allowed together with the others are shown: with their defaults, or with those of --option.
    """
    if options and game is None:
        raise ValueError("options are given without a game: expected 'pbm games GAME -o NAME=VALUE'")
    for name in registered_games() if game is None else [game]:
        kind, given = parse_game_options(name, options)
        kind.check_options(given)
        accepted = choices_given(kind, given)
        shown = [narrowed(each, accepted.get(each.name, each.all_values)) for each in options_of(kind)]
        say(f"{kind.name}: {summary(kind)}\n")
        rows = [
            [each.name, typed(given.get(each.name, each.default)), allowed.typed, each.help]
            for each, allowed in zip(options_of(kind), shown, strict=True)
        ]
        table(["option", "value" if given else "default", "allowed", "meaning"], rows, prose=["allowed", "meaning"])
        if dependent := [each.name for each in shown if each not in options_of(kind)]:
            say(
                f"\nThe values of {', '.join(dependent)} depend on each other: `pbm games {kind.name} -o NAME=VALUE` "
                "shows those that are allowed with another value."
            )
        print()
