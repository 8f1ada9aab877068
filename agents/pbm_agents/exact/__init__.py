"""Exact play: games, or their endings, that are solved completely."""

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
