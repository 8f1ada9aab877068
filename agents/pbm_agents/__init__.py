"""Agents for the games of pbm_envs. They see views, never states, and use only the public names of pbm_envs."""

from .agent import Agent, RandomAgent, as_policy
from .evaluation import Evaluation, PolicyAgent, evaluate
from .mcts import PIMCAgent, SearchAgent
from .names import make_agent
from .search import Search, SearchResult

__all__ = [
    "Agent",
    "Evaluation",
    "PIMCAgent",
    "PolicyAgent",
    "RandomAgent",
    "Search",
    "SearchAgent",
    "SearchResult",
    "as_policy",
    "evaluate",
    "make_agent",
]
