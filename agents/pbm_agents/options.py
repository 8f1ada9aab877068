"""A game from what a person typed. What options there are, and what is allowed, is asked of the games' classes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from typing import Any

from pbm_envs import GAMES, Game, make_game

WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}
"""Values of options that are no numbers."""


def game_of(name: str, options: Sequence[str] | None) -> Game:
    """The game `name` with options as typed.

    >>> game_of("chameleon", ["size=7", "swap_rule=no"])
    Chameleon(size=7, swap_rule=False, allow_resign=False)
    """
    known = defaults(name)
    values = {}
    for text in options or []:
        option, equals, value = (part.strip() for part in text.partition("="))
        option = option.replace("-", "_")
        if not equals or option not in known:
            raise ValueError(f"{text!r} is no option of {name}: expected NAME=VALUE, NAME one of {', '.join(known)}")
        values[option] = _value(value)
    return make_game(name, **values)


def class_of(name: str) -> type[Game]:
    """The class of the game `name`; else ValueError."""
    if name not in GAMES:
        raise ValueError(f"{name!r} is no game of pbm_envs: expected one of {', '.join(GAMES)}")
    return GAMES[name]


def defaults(name: str) -> dict[str, Any]:
    """The options of the game `name` with their defaults."""
    return {option.name: option.default for option in inspect.signature(class_of(name)).parameters.values()}


def allowed(name: str, option: str) -> str:
    """What the class says that it expects, when it is given nonsense.

    >>> allowed("unlur", "radius"), allowed("curio", "face")
    ('an integer from 3 to 13', 'one of large, small, random')
    """
    kind = class_of(name)
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


def summary(thing: Any) -> str:
    """The first paragraph of a docstring, as one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _value(text: str) -> Any:
    """A flag, None, a number or a word."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text
