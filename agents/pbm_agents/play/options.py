"""Games from what a person typed. The options and their allowed values come from the games' classes."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from typing import Any

from pbm_envs import Game, make_game, registered_games
from pbm_envs.registry import find_game, options_of

WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}
"""Values of options that are not numbers."""


def parse_game(text: str, options: Sequence[str] | None = None) -> Game:
    """Make a game from its name and its options as typed, after the name or apart from it.

    >>> parse_game("chameleon", ["size=7", "swap_rule=no"])
    Chameleon(size=7, swap_rule=False, allow_resign=False)
    >>> parse_game("trinim:size=6,num_players=3")
    Trinim(size=6, num_players=3, allow_resign=False)

    Args:
        text: A registered name, or `module:Class`; options can follow, after a colon and with commas between them.
        options: Texts of the form `NAME=VALUE`; `-` in a name is read as `_`. They count more than those in `text`.

    Raises:
        ValueError: For an unknown name, option or value.
    """
    name, _, rest = text.partition(":")
    if name not in registered_games() and "=" not in rest.partition(":")[0] and rest:
        attribute, _, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    known = defaults(name)
    values = {}
    for given in [*(rest.split(",") if rest else ()), *(options or ())]:
        option, equals, value = (part.strip() for part in given.partition("="))
        option = option.replace("-", "_")
        if not equals or option not in known:
            raise ValueError(f"{given!r} is no option of {name}: expected NAME=VALUE, NAME one of {', '.join(known)}")
        values[option] = _value(value)
    return make_game(name, **values)


def defaults(name: str) -> dict[str, Any]:
    """Return the options of the game `name` with their defaults."""
    return {option.name: option.default for option in options_of(find_game(name)).values()}


def allowed_values(name: str, option: str) -> str:
    """Return what values an option may have, in words: what the game's error message expects.

    >>> allowed_values("unlur", "radius"), allowed_values("curio", "face")
    ('an integer from 3 to 13', 'one of large, small, random')
    """
    try:
        make_game(name, **{option: "?"})
    except ValueError as error:
        expected = str(error).partition("expected ")[2].replace("True or False", "true or false")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make_game(name, **{option: None})
    except ValueError:
        return expected
    return f"{expected}, or none"


def summary(thing: Any) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _value(text: str) -> Any:
    """Read a value: a flag, None, an integer or a word."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return int(text)
    except ValueError:
        return text
