"""`pbm games`, and a game from what was typed. What options there are is asked of the games' classes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from pbm_envs import GAMES, Game, make_game

from .terminal import table

EXAMPLES = """
  pbm games
  pbm games curio
"""
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}
"""Values of options that are no numbers."""

Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; as often as needed."),
]


def games(game: Annotated[str | None, typer.Argument(help="Only this one.")] = None) -> None:
    """The games and their options.

    With defaults, and what is allowed.
    """
    for kind in GAMES.values() if game is None else [_class(game)]:
        print(f"{kind.name}: {_text(kind)}\n")
        options = inspect.signature(kind).parameters.values()
        table(
            ["option", "default", "allowed"],
            [[option.name, str(option.default).lower(), _allowed(kind, option.name)] for option in options],
        )
        print(f"\n{_text(kind.__init__)}\n")


def game_of(name: str, options: Sequence[str] | None) -> Game:
    """The game `name` with options as typed.

    >>> game_of("chameleon", ["size=7", "swap_rule=no"])
    Chameleon(size=7, swap_rule=False, allow_resign=False)
    """
    known = inspect.signature(_class(name)).parameters
    values = {}
    for text in options or []:
        option, equals, value = (part.strip() for part in text.partition("="))
        option = option.replace("-", "_")
        if not equals or option not in known:
            raise ValueError(f"{text!r} is no option of {name}: expected NAME=VALUE, NAME one of {', '.join(known)}")
        values[option] = _value(value)
    return make_game(name, **values)


def _class(name: str) -> type[Game]:
    if name not in GAMES:
        raise ValueError(f"{name!r} is no game of pbm_envs: expected one of {', '.join(GAMES)}")
    return GAMES[name]


def _value(text: str) -> Any:
    """A flag, None, a number or a word."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text


def _text(thing: Any) -> str:
    """The first paragraph of a docstring, as one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _allowed(kind: type[Game], option: str) -> str:
    """What the class says that it expects, when it is given nonsense."""
    try:
        make_game(kind.name, **{option: "?"})
    except ValueError as error:
        expected = str(error).partition("expected ")[2].replace("True or False", "true or false")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make_game(kind.name, **{option: None})
    except ValueError:
        return expected
    return f"{expected}, or none"
