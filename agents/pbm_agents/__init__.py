"""Agents for the games of pbm_envs. They see views, never states, and use only the public names of pbm_envs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .arena.evaluation import Evaluation, evaluate
    from .common.faults import InfrastructureError
    from .players.agent import Agent, RandomAgent
    from .players.names import agent_kinds, as_agent, as_policy, make_agent, register_agent
    from .players.policy import PolicyAgent
    from .players.search_agents import PIMCAgent, SearchAgent
    from .search import (
        PUCT,
        UCT,
        Evaluator,
        FunctionEvaluator,
        Gumbel,
        Playouts,
        Search,
        SearchResult,
        Selection,
        Workspace,
    )

__all__ = [
    "PUCT",
    "UCT",
    "Agent",
    "Evaluation",
    "Evaluator",
    "FunctionEvaluator",
    "Gumbel",
    "InfrastructureError",
    "PIMCAgent",
    "Playouts",
    "PolicyAgent",
    "RandomAgent",
    "Search",
    "SearchAgent",
    "SearchResult",
    "Selection",
    "Workspace",
    "agent_kinds",
    "as_agent",
    "as_policy",
    "evaluate",
    "make_agent",
    "register_agent",
]

_MODULES = dict.fromkeys(__all__, ".search") | {
    "Agent": ".players.agent",
    "Evaluation": ".arena.evaluation",
    "InfrastructureError": ".common.faults",
    "PIMCAgent": ".players.search_agents",
    "PolicyAgent": ".players.policy",
    "RandomAgent": ".players.agent",
    "SearchAgent": ".players.search_agents",
    "agent_kinds": ".players.names",
    "as_agent": ".players.names",
    "as_policy": ".players.names",
    "evaluate": ".arena.evaluation",
    "make_agent": ".players.names",
    "register_agent": ".players.names",
}
"""The modules of the public names, which are imported on first use so that `pbm --help` does not wait."""


def __getattr__(name: str) -> Any:
    """Import and return a public name."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
