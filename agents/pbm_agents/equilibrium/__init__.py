"""Exact analysis of games for two with public moves and a hidden deal: exploitability, best responses, equilibria.

Build the public tree of a game once; then measure policies on it, and find better ones.

    tree = PublicTree.build(Curio(base=2, rows=2, cols=3, no_capture_limit=2))
    policy = cfr_plus(tree, 200)
    exploitability(tree, policy)
"""

from .agent import EquilibriumAgent, PolicyAgent
from .evaluation import (
    BestResponse,
    Bounds,
    ProbabilityAgent,
    agent_policy,
    best_response,
    expected_value,
    exploitability,
    exploitability_bounds,
    outcome_facts,
)
from .growth import TreeTooLargeError
from .mirror import MirrorAgent
from .resolving import Resolving, ResolvingAgent, resolving_policy
from .responses import ApproximateResponse, SearchResponder, TableResponder
from .sampling import ExternalSampling, OutcomeSampling
from .solvers import CFR, CFRPlus, DiscountedCFR, MirrorDescent, PredictiveCFRPlus, Trunk, cfr_plus, solve
from .tree import Policy, PublicTree

__all__ = [
    "CFR",
    "ApproximateResponse",
    "BestResponse",
    "Bounds",
    "CFRPlus",
    "DiscountedCFR",
    "EquilibriumAgent",
    "ExternalSampling",
    "MirrorAgent",
    "MirrorDescent",
    "OutcomeSampling",
    "Policy",
    "PolicyAgent",
    "PredictiveCFRPlus",
    "ProbabilityAgent",
    "PublicTree",
    "Resolving",
    "ResolvingAgent",
    "SearchResponder",
    "TableResponder",
    "TreeTooLargeError",
    "Trunk",
    "agent_policy",
    "best_response",
    "cfr_plus",
    "expected_value",
    "exploitability",
    "exploitability_bounds",
    "outcome_facts",
    "resolving_policy",
    "solve",
]
