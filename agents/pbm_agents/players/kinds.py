"""Kinds of agents: each has a name, and settings that are declared once (`pbm_envs.core.options.Option`).

`register_agent` adds a kind. Installed packages add kinds through entry points of the group `pbm_agents.agents`.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any

from pbm_envs.authoring import Option
from pbm_envs.toolbox import options_of, quoted, summary

GROUP = "pbm_agents.agents"
"""Entry points of installed packages: `name = "package.module:AgentClass"`, or an AgentKind there."""
TYPED = (bool, int, float, str, object)
"""Types of settings that can be written in an agent's name."""


@dataclass(frozen=True)
class AgentKind:
    """A kind of agent that has a name."""

    name: str
    maker: Callable[..., Any] | str
    """A function that is called with settings by name and returns an agent, or an object that `as_agent` accepts. Text,
    `module:attribute`, is imported when it is needed."""
    more_settings: tuple[Option, ...] = ()
    """Settings that the maker accepts as `**settings`, in addition to those that it declares."""
    text: str = ""
    """A description in one sentence; "" for the first paragraph of the maker's docstring."""
    web_settings: frozenset[str] | None = None
    """The settings that users of a web page may choose. None: a web page may not use this kind at all."""

    @cached_property
    def make(self) -> Callable[..., Any]:
        """The maker, imported."""
        if not isinstance(self.maker, str):
            return self.maker
        module, _, attribute = self.maker.partition(":")
        found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
        return found

    @cached_property
    def settings(self) -> tuple[Option, ...]:
        """The settings, each with its type, default, allowed values and help."""
        more = {option.name: option for option in self.more_settings}
        own = [option for option in options_of(self.make) if option.type in TYPED and option.name not in more]
        return (*self.more_settings, *own)

    @property
    def help(self) -> str:
        """A description of the kind, in a sentence or two."""
        return self.text or summary(self.make)


_registered: dict[str, AgentKind] = {}


def register_agent(
    name: str,
    make: Callable[..., Any] | str,
    *,
    settings: Collection[Option] = (),
    web_settings: Collection[str] | None = None,
    help: str = "",  # noqa: A002
) -> AgentKind:
    """Register a kind of agent under a name, which then works wherever agents are named.

    >>> from typing import Annotated
    >>> from pbm_agents import RandomAgent, make_agent, register_agent
    >>> class Cautious(RandomAgent):
    ...     '''Plays at random, after a while.'''
    ...     def __init__(self, *, patience: Annotated[int, Option(low=0, help="Moves to wait.")] = 3):
    ...         self.patience = patience
    >>> register_agent("cautious", Cautious).settings[0].expected
    'an integer from 0 up'
    >>> make_agent("cautious:patience=5").patience
    5

    Args:
        name: Lower-case letters, digits and hyphens.
        make: A class of agents, or a function that makes one, called with settings by name; or its `module:attribute`.
        settings: Settings that `make` accepts as `**settings`, in addition to those that `options_of` reads from it.
        web_settings: The settings that users of a web page may choose; exclude any that names a file, for example.
            None: a web page may not use this kind.
        help: A description in one sentence. "" selects the first paragraph of the docstring of `make`.

    Raises:
        ValueError: If the name is taken or not valid, or if `web_settings` contains a name that is not a setting.
    """
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"the kind of agent is named {quoted(name)}: expected lower-case letters, digits and hyphens")
    if not callable(make) and not (isinstance(make, str) and re.fullmatch(r"[\w.]+:\w+", make)):
        raise ValueError(f"make is {quoted(make)}: expected a class, a function or its module:attribute")
    allowed = None if web_settings is None else frozenset(web_settings)
    kind = AgentKind(name, make, tuple(settings), help, allowed)
    if allowed and not isinstance(make, str):
        names = [setting.name for setting in kind.settings]
        if unknown := sorted(allowed - set(names)):
            expected = ", ".join(names) or "none"
            raise ValueError(f"web_settings name {unknown[0]!r}: expected settings of {name}: {expected}")
    return _register(kind)


def agent_kinds() -> Mapping[str, AgentKind]:
    """Return all kinds by name: built-in ones first, then registered ones and those of installed packages."""
    _load_entry_points()
    return MappingProxyType(dict(_registered))


def _register(kind: AgentKind) -> AgentKind:
    known = _registered.get(kind.name)
    if known is not None and _origin(known.maker) != _origin(kind.maker):
        raise ValueError(f"there is an agent named {kind.name!r}: expected another name for {_origin(kind.maker)}")
    _registered[kind.name] = kind  # a reloaded module registers the same kind again
    return kind


def _origin(maker: Any) -> str:
    if isinstance(maker, str):
        return maker
    return f"{getattr(maker, '__module__', '')}.{getattr(maker, '__qualname__', repr(maker))}"


@cache
def _load_entry_points() -> None:
    """Register the kinds of installed packages, once per process; skip a broken package with a warning."""
    for point in entry_points(group=GROUP):
        try:
            found = point.load()
            if isinstance(found, AgentKind):
                _register(found)
            else:
                register_agent(point.name, found)
        except Exception as error:  # importing a package may raise anything
            warnings.warn(
                f"the agent {point.name!r} ({point.value}) is left out: {type(error).__name__}: {error}", stacklevel=3
            )
