"""The registry of games: ours, those that programs register, and those of installed packages."""

from __future__ import annotations

import importlib
import inspect
import re
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from operator import attrgetter
from types import MappingProxyType
from typing import Any, TypeVar

import gymnasium
import pettingzoo

from .core.checks import printable, quoted
from .core.game import Game
from .core.options import REQUIRED, check_names, nearest, options_of, parse_options
from .games.chameleon import Chameleon
from .games.curio import Curio
from .games.trinim import Trinim
from .games.unlur import Unlur

GROUP = "pbm_envs.games"
"""The entry-point group; an entry is `name = "package.module:GameClass"`."""
OURS: tuple[type[Game], ...] = (Chameleon, Curio, Trinim, Unlur)
_registered: dict[str, type[Game]] = {}

GameClass = TypeVar("GameClass", bound=type[Game])


def registered_games() -> Mapping[str, type[Game]]:
    """Return the class of every known game by name, in order of registration, ours first.

    >>> list(registered_games())[:4]
    ['chameleon', 'curio', 'trinim', 'unlur']
    """
    _load_entry_points()
    return MappingProxyType(dict(_registered))


def register_game(game_class: GameClass) -> GameClass:
    """Register a game by its name for `make_game`, records, tournaments, `pbm`, networks and environment ids.

    Can be used as a decorator. An installed package can declare an entry point in the group `pbm_envs.games` instead.

    Args:
        game_class: A subclass of `Game` with a `name` in lower case, and defaults for all its options.

    Raises:
        ValueError: If the class is not a game, or another class has the name.
    """
    name = getattr(game_class, "name", None)
    if not isinstance(game_class, type) or not issubclass(game_class, Game):
        raise ValueError(f"{quoted(game_class)} is not a game: expected a class derived from Game")
    if inspect.isabstract(game_class):
        missing = ", ".join(sorted(game_class.__abstractmethods__))
        raise ValueError(f"{game_class.__name__} is not complete: expected the methods {missing}")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(
            f"the name of {game_class.__name__} is {quoted(name)}: expected lower-case letters, digits and _"
        )
    known = _registered.get(name)
    if known is not None and (known.__module__, known.__qualname__) != (game_class.__module__, game_class.__qualname__):
        raise ValueError(
            f"the name {name!r} belongs to {known.__module__}.{known.__qualname__}: expected another for "
            f"{game_class.__module__}.{game_class.__qualname__}"
        )
    without_default = [option.name for option in options_of(game_class) if option.default is REQUIRED]
    if without_default:
        raise ValueError(
            f"{game_class.__name__} has no default for {without_default[0]!r}: expected one for each option"
        )
    _registered[name] = game_class  # reloading a module registers the same class again
    _register_ids(name, game_class)
    return game_class


def make_game(name: str, **options: Any) -> Game:
    """Return the rules of a game with these options, which override those implied by the name.

    >>> make_game("trinim", size=6)
    Trinim(size=6, num_players=2, allow_resign=False)

    Args:
        name: A registered name, one of its named sets of options such as `curio-ladder-3`, or `module:Class` for a game
            of your own.
        options: Keyword arguments of the class.
    """
    game_class = find_game(name)
    check_names(name, options, options_of(game_class))
    return game_class(**{**_named_options(name), **options})


def parse_game(text: str, options: Sequence[str] | None = None) -> Game:
    """Make a game from text: its name, and options given after the name or separately.

    >>> parse_game("chameleon", ["size=7", "swap_rule=no"])
    Chameleon(size=7, swap_rule=False, allow_resign=False)
    >>> parse_game("trinim:size=6,num_players=3")
    Trinim(size=6, num_players=3, allow_resign=False)

    Args:
        text: A registered name, or `module:Class`; options can follow after a colon, separated by commas.
        options: Texts of the form `NAME=VALUE`; `-` in a name is read as `_`. They override those in `text`.
    """
    game_class, given = parse_game_options(text, options)
    return game_class(**given)


def parse_game_options(text: str, options: Sequence[str] | None = None) -> tuple[type[Game], dict[str, Any]]:
    """Return the class of a game and the options that are given, from the arguments of `parse_game`."""
    name, _, rest = text.partition(":")
    if name not in registered_games() and "=" not in rest.partition(":")[0] and rest:
        attribute, _, rest = rest.partition(":")
        name = f"{name}:{attribute}"
    game_class = find_game(name)
    given = dict(_named_options(name))
    for texts in (rest.split(",") if rest else (), options or ()):
        given |= parse_options(name, texts, options_of(game_class))
    return game_class, given


def make_registered_game(name: str, options: Mapping[str, Any]) -> Game:
    """Return a game as `make_game` does, for names from untrusted records and messages; import nothing."""
    if _registered_class(name) is None:
        raise ValueError(_unknown(name, "; import any other game first, as `pbm --import MODULE` does"))
    return make_game(name, **options)


def find_game(name: str) -> type[Game]:
    """Return the class of a registered name, of a named set of options, or of `module:Class`."""
    if (registered := _registered_class(name)) is not None:
        return registered
    if isinstance(name, str):
        module, colon, attribute = name.partition(":")
        if "=" in attribute:
            game = name.partition("=")[0].rpartition(":")[0]
            options = printable(name[len(game) + 1 :].replace(",", ", "), 100)
            raise ValueError(f"{quoted(name)} has options in the name: expected make_game({quoted(game)}, {options})")
        if colon:
            return _own_game(name, module, attribute)
    raise ValueError(_unknown(name, ", or module:Class"))


def _registered_class(name: str) -> type[Game] | None:
    """Return the class of a registered name or of a named set of options, or None."""
    if isinstance(name, str):
        if name in _registered or name in registered_games():
            return _registered[name]
        game, _, options = name.partition("-")
        if game in _registered and options in _registered[game].named_options:
            return _registered[game]
    return None


def _unknown(name: str, otherwise: str) -> str:
    """Return the error for a name that is not registered; `otherwise`, its end, says what else is possible."""
    named = (f"{game}-{options}" for game, its in _registered.items() for options in its.named_options)
    known = registered_games()
    return f"{quoted(name)} is not a game of pbm_envs: expected one of {', '.join(known)}{otherwise}" + nearest(
        name, [*known, *named]
    )


def _named_options(name: str) -> Mapping[str, Any]:
    """Return the options implied by a name that `find_game` accepts."""
    game, _, options = name.partition("-")
    return _registered[game].named_options.get(options, {}) if game in _registered else {}


def _own_game(name: str, module: str, attribute: str) -> type[Game]:
    try:
        found = attrgetter(attribute)(importlib.import_module(module))
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"{quoted(name)} is not a game: {error}") from None
    return register_game(found)


@cache
def _load_entry_points() -> None:
    """Register the games of installed packages, once per process; skip a broken one with a warning."""
    for point in entry_points(group=GROUP):
        try:
            register_game(point.load())
        except Exception as error:  # importing third-party code can raise anything
            warnings.warn(
                f"the game {point.name!r} ({point.value}) is left out: {type(error).__name__}: {error}", stacklevel=3
            )


def _register_ids(name: str, game_class: type[Game]) -> None:
    """Register `pbm/<Name>-v0` with Gymnasium and `pbm/<name>-v0` with PettingZoo (1.27 and later).

    Both also get `pbm/<name>-<options>-v0` for each named set of options.
    """
    factories = "pbm_envs.envs.factories"
    named = [f"{name}-{options}" for options in game_class.named_options]
    for title, game in [(game_class.__name__, name), *((text, text) for text in named)]:
        if f"pbm/{title}-v0" not in gymnasium.registry:
            gymnasium.register(
                f"pbm/{title}-v0",
                entry_point=f"{factories}:make_single_env",
                vector_entry_point=f"{factories}:make_vector_env",
                order_enforce=False,  # the environment does so itself, and a wrapper would accept any attribute
                disable_env_checker=True,
                kwargs={"game": game},
            )
        if "register" in vars(pettingzoo) and f"pbm/{game}-v0" not in pettingzoo.aec_registry:
            pettingzoo.register("aec", f"pbm/{game}-v0", entry_point=f"{factories}:make_aec_env", kwargs={"game": game})


for _game_class in OURS:
    register_game(_game_class)
