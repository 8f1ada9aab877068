"""Exact play: games, or their endings, that are solved completely."""

from .agent import ExactAgent
from .connection import ConnectionSolver
from .connection_agent import VerifiedSearchAgent
from .curio import CurioSolver
from .trinim import TrinimAgent, TrinimSolution, TrinimSolver

__all__ = [
    "ConnectionSolver",
    "CurioSolver",
    "ExactAgent",
    "TrinimAgent",
    "TrinimSolution",
    "TrinimSolver",
    "VerifiedSearchAgent",
]
