"""Exact play: games, or their endings, that are solved completely."""

from .agent import ExactAgent
from .trinim import TrinimAgent, TrinimSolution, TrinimSolver

__all__ = ["ExactAgent", "TrinimAgent", "TrinimSolution", "TrinimSolver"]
