"""Monte Carlo tree search: settings and runs (`Search`), the memory that they work in (`Workspace`), what a run has
found out (`SearchResult`), and what evaluates leaves (`Evaluator`).
"""

from .defaults import register_weights
from .ending import end_searches_when
from .evaluators import ActionPriors, Evaluator, FunctionEvaluator, Playouts
from .result import SearchResult
from .search import Search
from .workspace import Workspace

__all__ = [
    "ActionPriors",
    "Evaluator",
    "FunctionEvaluator",
    "Playouts",
    "Search",
    "SearchResult",
    "Workspace",
    "end_searches_when",
    "register_weights",
]
