"""Exact play: solvers of whole games or of their endings, and agents that use them."""

from .agent import ExactAgent
from .connection import ConnectionSolver, VerifiedSearchAgent
from .curio import CurioSolver, KnownWorldAgent
from .trinim import TrinimSolution, TrinimSolver

__all__ = [
    "ConnectionSolver",
    "CurioSolver",
    "ExactAgent",
    "KnownWorldAgent",
    "TrinimSolution",
    "TrinimSolver",
    "VerifiedSearchAgent",
]
