"""Agents by name, the same everywhere: `kind` or `kind:option=value,option=value`.

| name | agent |
|---|---|
| `random` | every legal action with the same probability |
| `mcts:simulations=1000` | tree search; in Curio information-set search |
| `mcts:seconds=0.5,c=1.2` | the same by the clock |
| `ismcts:simulations=400` | another name of `mcts`, for Curio |
| `pimc:worlds=10,simulations=1000` | determinized trees that vote |
| `network:file=network.pt,temperature=0` | a trained network, without search (extra `torch`) |
| `mcts:simulations=100,network=network.pt` | the same tree search with the network's priors and values |
| `openspiel-mcts:simulations=1000,c=2` | OpenSpiel's MCTS, in open games (extra `openspiel`) |
| `openspiel-ismcts:simulations=1000,c=2` | OpenSpiel's ISMCTS, in Curio |
| `package.module:attribute` | your own: an agent, or what makes one when called without arguments |

The options of `mcts`, `ismcts` and `pimc` are those of `Search` that are numbers or flags; `temperature` and `network`,
or `worlds`. A file's name cannot contain a comma.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from .agent import Agent, RandomAgent
from .mcts import PIMCAgent, SearchAgent
from .openspiel import OpenSpielISMCTS, OpenSpielMCTS
from .search import Search


def network_agent(*, file: str = "network.pt", temperature: float = 0.0) -> Agent:
    """PyTorch is imported when a network is asked for."""
    from .network import NetworkAgent, PolicyValueNetwork

    return NetworkAgent(PolicyValueNetwork.load(file), temperature)


KINDS: dict[str, Callable[..., Agent]] = {
    "random": RandomAgent,
    "mcts": SearchAgent,
    "ismcts": SearchAgent,
    "pimc": PIMCAgent,
    "network": network_agent,
    "openspiel-mcts": OpenSpielMCTS,
    "openspiel-ismcts": OpenSpielISMCTS,
}
FILES = ("file", "network")
"""Options that are not numbers or flags."""
LONGEST = 300
"""Characters of what other people's code says that a message repeats."""


def agent_options(kind: str) -> dict[str, Any]:
    """The options of a kind of agent by name, with their defaults."""
    parameters = inspect.signature(KINDS[kind]).parameters.values()
    own = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        return own
    settings = {setting.name: setting.default for setting in fields(Search) if setting.init}
    del settings["evaluator"]
    return settings | own


def make_agent(name: str) -> Agent:
    """The agent of this name.

    >>> make_agent("mcts:seconds=0.5,c=1.2")  # doctest: +ELLIPSIS
    <pbm_agents.mcts.SearchAgent object at ...>
    >>> make_agent("mtcs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: 'mtcs' is no agent: expected random, mcts, ..., openspiel-ismcts or module:attribute
    """
    kind, _, rest = name.partition(":") if isinstance(name, str) else ("", "", "")
    if kind not in KINDS:
        if rest:
            return _own(name, kind, rest)
        raise ValueError(f"{name!r} is no agent: expected {', '.join(KINDS)} or module:attribute")
    known, options = agent_options(kind), {}
    for part in rest.split(",") if rest else []:
        option, equals, text = (piece.strip() for piece in part.partition("="))
        if option not in known or not equals:
            expected = ", ".join(known) if known else "none"
            raise ValueError(f"{part!r} in {name!r}: expected option=value with one of the options: {expected}")
        if option in options:
            raise ValueError(f"{option!r} is given twice in {name!r}")
        options[option] = text if option in FILES else _value(text, part, name)
    return KINDS[kind](**options)


def _value(text: str, part: str, name: str) -> bool | int | float:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ValueError(f"{part!r} in {name!r}: expected a number, true or false after the =")


def _own(name: str, module: str, attribute: str) -> Agent:
    """What the user's own module holds, or makes."""
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        if isinstance(found, type) or not callable(getattr(found, "act", None)):
            found = found()
    except (Exception, SystemExit) as error:  # whatever other people's code does
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]
        raise ValueError(f"{name!r} is no agent: expected {', '.join(KINDS)} or module:attribute ({reason})") from error
    if not callable(getattr(found, "act", None)):
        raise ValueError(f"{name!r} made {repr(found)[:LONGEST]}: expected an agent, with act(game, views, rng)")
    return found
