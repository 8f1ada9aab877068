"""Command-line parameters, from declared settings or from a command's signature.

Typer reads a command from the signature of its function, so `with_settings` writes the declared options into the
signature. cyclopts and tyro read dataclasses themselves, but expect help, ranges and choices in their own docstrings
and annotations, which would be a second declaration.
"""

import functools
import inspect
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.authoring import Option
from pbm_envs.toolbox import REQUIRED, options_of, setting

from ..arena import Run
from ..play.session import DEFAULT_AGENT
from .terminal import stopped

SIMPLE = (bool, int, float)


def flag(default: Any, about: str, *names: str, **more: Any) -> Any:
    """Return the default of a parameter that is an option, as of `typer.Option`."""
    return typer.Option(default, *names, help=about, **more)


def argument(default: Any, metavar: str | None, about: str) -> Any:
    """Return the default of a parameter that is given by its position, as of `typer.Argument`."""
    return typer.Argument(default, metavar=metavar, help=about)


OPTIONS = flag(None, "An option of the game; can be repeated.", "--option", "-o", metavar="NAME=VALUE")
RECORDS = argument(..., "SOURCE", "A file of records, one per line, or the folder of a tournament.")
PLAYERS = argument(None, None, f"By seat: 'person', or an agent by name (default: a person, then {DEFAULT_AGENT}).")


def check_one_given(**values: object) -> None:
    """Raise ValueError unless exactly one of two options has a value."""
    given = [f"--{name}" for name, value in values.items() if value is not None]
    if len(given) != 1:
        found = f"{' and '.join(given)} are both given" if given else f"neither --{' nor --'.join(values)} is given"
        raise ValueError(f"{found}: expected one of the two")


def check_place(path: Path, *, folder: bool = False) -> None:
    """Raise ValueError unless a file can be written to this path; with `folder`, a folder, made with its parents."""
    parents = path.absolute().parents
    place = next((each for each in (path, *(parents if folder else parents[:1])) if each.exists()), None)
    wanted = folder or place is not path
    if place is None or place.is_dir() != wanted or not os.access(place, os.W_OK):
        expected = "a folder" if folder else "a file in a folder that exists"
        raise ValueError(f"{str(path)!r} cannot be written: expected {expected}, with permission to write")


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
        parameters = inspect.signature(command).parameters
        own = [each for name, each in parameters.items() if name != into]

        @functools.wraps(command)
        def wrapper(**values: Any) -> None:
            settings = {}
            for option in options:
                if (value := values.pop(option.name)) is not None:
                    settings[option.name] = tuple(value) if isinstance(value, list) else value
                    if option.type in (*SIMPLE, str):
                        option.check(settings[option.name])
            command(**values, **{into: settings})

        added = [_parameter(option, (flags or {}).get(option.name, "")) for option in options]
        found = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *added)]
        wrapper.__signature__ = inspect.Signature(found)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {each.name: each.annotation for each in found}
        del wrapper.__wrapped__
        return wrapper

    return decorate


def with_run(*skip: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the parameters of `Run` in `run`, except those in `skip`; after Ctrl-C, say that it resumes."""
    add = with_settings(Run, flags={"accept_changes": "--accept-changes"}, skip=("progress", *skip), into="run")

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def resumable(*given: Any, **settings: Any) -> None:
            try:
                command(*given, **settings)
            except KeyboardInterrupt:
                stopped("what has been played is kept; the same command resumes it")

        return add(resumable)

    return decorate


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
    about = f"{option.help} Expects {option.expected}." if limited else option.help
    default = list(option.default) or None if isinstance(option.default, tuple) else option.default
    metavar = None if option.type in SIMPLE else names[0].strip("-").upper().replace("-", "_")
    annotation = Annotated[kind, typer.Option(*names, metavar=metavar, help=about)]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
