"""Agents for the games of pbm_envs. They see views, never states, and use only the public names of pbm_envs."""

from .arena.evaluation import Evaluation, evaluate
from .players.agent import Agent, RandomAgent
from .players.kinds import agent_kinds, register_agent
from .players.names import as_agent, as_policy, make_agent
from .players.policy import PolicyAgent
from .players.search_agents import PIMCAgent, SearchAgent
from .search import Evaluator, FunctionEvaluator, Playouts, Search, SearchResult, Workspace

__all__ = [
    "Agent",
    "Evaluation",
    "Evaluator",
    "FunctionEvaluator",
    "PIMCAgent",
    "Playouts",
    "PolicyAgent",
    "RandomAgent",
    "Search",
    "SearchAgent",
    "SearchResult",
    "Workspace",
    "agent_kinds",
    "as_agent",
    "as_policy",
    "evaluate",
    "make_agent",
    "register_agent",
]
