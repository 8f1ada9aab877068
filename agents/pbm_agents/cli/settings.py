"""Command-line parameters made from declared settings.

Typer reads a command from the signature of its function, so `with_settings` writes the declared options into the
signature. cyclopts and tyro read dataclasses themselves, but expect help, ranges and choices in their own docstrings
and annotations, which would be a second declaration, and the commands without settings already use Typer.
"""

import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.authoring import Option
from pbm_envs.toolbox import REQUIRED, options_of, setting

from ..arena import Run
from ..play.session import DEFAULT_AGENT

SIMPLE = (bool, int, float)

Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; can be repeated."),
]
"""The command parameter for the options of a game."""

GameName = Annotated[str, typer.Option("--game", "-g", metavar="GAME[:OPTION=VALUE,...]", help="The game.")]
Records = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="A file of records, one per line, or the folder of a tournament.")
]
GamePlayers = Annotated[
    list[str] | None,
    typer.Argument(help=f"By seat: 'person', or an agent by name (default: a person, then {DEFAULT_AGENT})."),
]


def check_one_given(**values: object) -> None:
    """Raise ValueError unless exactly one of two options has a value."""
    given = [f"--{name}" for name, value in values.items() if value is not None]
    if len(given) != 1:
        found = f"{' and '.join(given)} are both given" if given else f"neither --{' nor --'.join(values)} is given"
        raise ValueError(f"{found}: expected one of the two")


@dataclass(frozen=True)
class StartSettings:
    """Settings for the start of a game that persons play."""

    seed: int | None = setting(None, low=0, help="The same seed sets up the same game.")
    board: str | None = setting(None, help="Board text to start from, in games that have one.")
    moves: str = setting("", help="Moves played before the game starts, separated by spaces.")
    hint: str | None = setting(
        None, help=f"Agent that gives hints (default: {DEFAULT_AGENT} in the terminal, the champion on a page)."
    )


def with_settings(
    source: Any, *, flags: Mapping[str, str] | None = None, skip: Collection[str] = (), into: str = "settings"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a parameter for each declared option of `source`; the command gets their values as a dict.

    Args:
        source: The argument of `options_of`: a dataclass of settings, or a function.
        flags: Flags other than the option's name, such as `--game -g`.
        skip: Options that the command reads in another way.
        into: The command's parameter that receives the dict.
    """
    options = [option for option in options_of(source) if option.name not in skip]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(command, eval_str=True).parameters
        own = [each for name, each in parameters.items() if name != into]
        added = [_parameter(option, (flags or {}).get(option.name, "")) for option in options]

        @functools.wraps(command)
        def wrapper(**values: Any) -> None:
            settings = {}
            for option in options:
                if (value := values.pop(option.name)) is not None:
                    settings[option.name] = tuple(value) if isinstance(value, list) else value
                    if option.type in (*SIMPLE, str):
                        option.check(settings[option.name])
            command(**values, **{into: settings})

        found = sorted([*own, *added], key=lambda each: each.default is not each.empty)  # defaults come last
        keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in found]
        wrapper.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {each.name: each.annotation for each in found}
        del wrapper.__wrapped__
        return wrapper

    return decorate


def with_run(*skip: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the parameters of `Run` in `run`, except those in `skip`."""
    return with_settings(Run, flags={"accept_changes": "--accept-changes"}, skip=("progress", *skip), into="run")


def _parameter(option: Option, flags: str) -> inspect.Parameter:
    kind: Any = option.type if option.type in SIMPLE else str
    if option.many:
        kind = list[kind]
    if option.takes_none or (option.many and option.default is not REQUIRED):
        kind = kind | None
    names = flags.split() or [f"--{option.name.replace('_', '-')}"]
    if option.type is bool and not flags:
        names = [f"{names[0]}/--no-{names[0][2:]}"]
    limited = option.choices or option.high is not None
    help_text = f"{option.help} Expects {option.expected}." if limited else option.help
    default = inspect.Parameter.empty if option.default is REQUIRED else option.default
    if isinstance(default, tuple):
        default = list(default) or None
    metavar = None if option.type in SIMPLE else names[0].strip("-").upper().replace("-", "_")
    annotation = Annotated[kind, typer.Option(*names, metavar=metavar, help=help_text)]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
