"""`pbm games` and `pbm agents`: what there is, with options and settings."""

from collections.abc import Iterable

from pbm_envs import registered_games
from pbm_envs.authoring import Option
from pbm_envs.registry import parse_game_options
from pbm_envs.toolbox import choices_given, narrowed, nearest, options_of, summary, typed

from ..players.names import agent_kinds
from .settings import OPTIONS, argument
from .terminal import say, table


def games(game: str | None = argument(None, None, "List only this game."), options: list[str] | None = OPTIONS) -> None:
    """List the games and their options.

    For each option, shows its default, the allowed values and its meaning. If options depend on each other, only the
    values that are allowed together with the others are shown: with their defaults, or with those of --option.

    Examples:
      pbm games
      pbm games curio
      pbm games curio -o base=3 -o rows=4     # what goes with these
    """
    if options and game is None:
        raise ValueError("options are given without a game: expected 'pbm games GAME -o NAME=VALUE'")
    for name in registered_games() if game is None else [game]:
        kind, given = parse_game_options(name, options)
        kind.check_options(given)
        accepted, known = choices_given(kind, given), options_of(kind)
        shown = [narrowed(each, accepted.get(each.name, each.all_values)) for each in known]
        values = [given.get(each.name, each.default) for each in known]
        say(f"{kind.name}: {summary(kind)}\n")
        _list("option", "value" if given else "default", shown, values)
        if dependent := [each.name for each in shown if each not in known]:
            say(
                f"\nThe values of {', '.join(dependent)} depend on each other: `pbm games {kind.name} -o NAME=VALUE` "
                "shows those that are allowed with another value."
            )
        print()


def agents(kind: str | None = argument(None, None, "List the settings of this kind.")) -> None:
    """List the kinds of agents, or the settings of one.

    An agent is named by its kind and settings, such as `mcts:simulations=1000,c=1.2`, or as `module:attribute`.

    Examples:
      pbm agents
      pbm agents mcts
    """
    kinds = agent_kinds()
    if kind is None:
        table([{"agent": each.name, "meaning": each.help} for each in kinds.values()], prose=["meaning"])
        say("\n`pbm agents KIND` lists the settings of one.")
        return
    if kind not in kinds:
        raise ValueError(f"{kind!r} is not a kind of agent: expected one of {', '.join(kinds)}{nearest(kind, kinds)}")
    found = kinds[kind]
    say(f"{kind}: {found.help}\n")
    _list("setting", "default", found.settings, [each.default for each in found.settings])
    numbers = [each for each in found.settings if each.default is not None and each.type in (int, float, bool)]
    settings = ",".join(f"{each.name}={typed(each.default)}" for each in numbers[:2])
    say(f"\nExample: {kind}{':' * bool(settings)}{settings}")


def _list(what: str, heading: str, options: Iterable[Option], values: Iterable[object]) -> None:
    rows = [
        {what: each.name, heading: typed(value), "allowed": each.typed, "meaning": each.help}
        for each, value in zip(options, values, strict=True)
    ]
    table(rows, prose=["allowed", "meaning"])
