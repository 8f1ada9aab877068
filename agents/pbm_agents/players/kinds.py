"""Kinds of agents: each has a name, and settings with a type, a default and a line of help.

A kind is declared once, by `register_agent`, where also stands which of its settings somebody may choose on a web page.
The settings are read from the signature and the docstring of what makes the agent. Installed packages bring kinds by
entry points of the group `pbm_agents.agents`.
"""

from __future__ import annotations

import inspect
import re
import types
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pbm_envs.core.printable import quoted

GROUP = "pbm_agents.agents"
"""Entry points of installed packages: `name = "package.module:AgentClass"`, or an AgentKind there."""
REQUIRED: Final = inspect.Parameter.empty
"""The default of a setting that has none."""
EXPECTED: Mapping[type, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    object: "a value",
}


@dataclass(frozen=True)
class Setting:
    """One setting of a kind of agent."""

    name: str
    type: type
    """bool, int, float or str; object for one without annotation, which takes any of them."""
    default: Any
    """REQUIRED if there is none."""
    help: str = ""

    def parse(self, text: str) -> Any:
        """The value that a text means; ValueError if it means none.

        >>> Setting("simulations", int, None).parse("100")
        100
        >>> Setting("simulations", int, None).parse("2.5")
        Traceback (most recent call last):
        ValueError: expected an integer
        """
        if self.default is None and text.lower() == "none":
            return None
        if self.type is str:
            return text
        if self.type in (bool, object) and text.lower() in ("true", "false"):
            return text.lower() == "true"
        for number in {int: (int,), float: (int, float), object: (int, float)}.get(self.type, ()):
            try:
                return number(text)
            except ValueError:
                continue
        if self.type is object:
            return text
        raise ValueError(f"expected {EXPECTED[self.type]}")


@dataclass(frozen=True)
class AgentKind:
    """A kind of agent that has a name."""

    name: str
    make: Callable[..., Any]
    """Called with settings by name, gives an agent, or what `as_agent` makes one of."""
    settings: tuple[Setting, ...] = ()
    help: str = ""
    web_settings: frozenset[str] | None = None
    """The settings that somebody on a web page may choose; None: a page may not name the kind at all."""


_registered: dict[str, AgentKind] = {}


def register_agent(
    name: str,
    make: Callable[..., Any],
    *,
    settings: Collection[Setting] | None = None,
    web_settings: Collection[str] | None = None,
) -> AgentKind:
    """Give a kind of agent a name, which then works wherever agents are named.

    >>> from pbm_agents import RandomAgent, make_agent, register_agent
    >>> class Cautious(RandomAgent):
    ...     '''Plays at random, after a while.'''
    ...     def __init__(self, *, patience: int = 3):
    ...         self.patience = patience
    >>> register_agent("cautious", Cautious).settings
    (Setting(name='patience', type=<class 'int'>, default=3, help=''),)
    >>> make_agent("cautious:patience=5").patience
    5

    Args:
        name: Lower-case letters, digits and hyphens.
        make: A class of agents, or a function that makes one; called with settings by name.
        settings: None: as `settings_of` reads them from `make`.
        web_settings: Those that somebody on a web page may choose: nothing that names a file, say. None: a web page may
            not name this kind.

    Raises:
        ValueError: If the name is taken or no name, or a web setting is none of the settings.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"the kind of agent is named {quoted(name)}: expected lower-case letters, digits and hyphens")
    known = tuple(settings_of(make) if settings is None else settings)
    names = [setting.name for setting in known]
    if web_settings is not None and (unknown := sorted(set(web_settings) - set(names))):
        raise ValueError(f"web_settings name {unknown[0]!r}: expected settings of {name}: {', '.join(names) or 'none'}")
    allowed = None if web_settings is None else frozenset(web_settings)
    return _register(AgentKind(name, make, known, _summary(make), allowed))


def agent_kinds() -> Mapping[str, AgentKind]:
    """Every known kind by name: those of this package first, then registered ones and those of installed packages."""
    _load_entry_points()
    return MappingProxyType(dict(_registered))


def settings_of(make: Callable[..., Any]) -> tuple[Setting, ...]:
    """The settings of a class or function: its parameters with annotations, defaults and help.

    The help is in its docstring, under `Args:` or `Attributes:`.

    >>> from pbm_agents.players.greedy import GreedyAgent
    >>> [(setting.name, setting.type.__name__, setting.default) for setting in settings_of(GreedyAgent)]
    [('worlds', 'int', 8)]
    """
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # written in C
        return ()
    source: Any = vars(make).get("__init__", make) if isinstance(make, type) else make
    try:
        hints = get_type_hints(source)
    except Exception:  # an annotation that only a type checker can read
        hints = {}
    described = _described(make) | _described(source)
    return tuple(
        Setting(each.name, _type(hints.get(each.name), each.default), each.default, described.get(each.name, ""))
        for each in parameters
        if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)
    )


def _register(kind: AgentKind) -> AgentKind:
    known = _registered.get(kind.name)
    if known is not None and _origin(known.make) != _origin(kind.make):
        raise ValueError(f"there is an agent named {kind.name!r}: expected another name for {_origin(kind.make)}")
    _registered[kind.name] = kind  # a module that is reloaded brings the same kind anew
    return kind


def _origin(make: Any) -> str:
    return f"{getattr(make, '__module__', '')}.{getattr(make, '__qualname__', repr(make))}"


@cache
def _load_entry_points() -> None:
    """Once a process. A package that is broken is left out with a warning: the others work."""
    for point in entry_points(group=GROUP):
        try:
            found = point.load()
            if isinstance(found, AgentKind):
                _register(found)
            else:
                register_agent(point.name, found)
        except Exception as error:  # whatever other people's code raises when it is imported
            warnings.warn(
                f"the agent {point.name!r} ({point.value}) is left out: {type(error).__name__}: {error}", stacklevel=3
            )


def _type(hint: Any, default: Any) -> type:
    """bool, int, float, str, or object for any of them."""
    if get_origin(hint) in (Union, types.UnionType):
        members = [member for member in get_args(hint) if member is not type(None)]
        simple = {member for member in members if member in EXPECTED}
        hint = float if simple == {int, float} else str if str in simple else next(iter(simple), None)
    elif get_origin(hint) is Literal:
        hint = type(get_args(hint)[0])
    if hint in EXPECTED:
        return hint
    return type(default) if type(default) in EXPECTED else object


def _summary(thing: Any) -> str:
    """The first paragraph of a docstring, as one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _described(thing: Any) -> dict[str, str]:
    """What the docstring says of each argument or attribute (Google style)."""
    found: dict[str, list[str]] = {}
    section, current = "", ""
    for line in (inspect.getdoc(thing) or "").splitlines():
        if heading := re.fullmatch(r"(\w+):", line):
            section = heading[1]
        elif section in ("Args", "Attributes"):
            if entry := re.fullmatch(r" {4}(\w+): (.*)", line):
                current = entry[1]
                found[current] = [entry[2]]
            elif line.startswith(" " * 8) and current:
                found[current].append(line.strip())
            elif line.strip():
                section = ""
    return {name: " ".join(lines) for name, lines in found.items()}
