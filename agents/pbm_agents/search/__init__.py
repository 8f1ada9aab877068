"""Monte Carlo tree search.

`Search` has the settings, among them a selection rule (`UCT`, `PUCT`, `Gumbel` or `Selection`) and an `Evaluator` of
leaves. Its `run` returns a `SearchResult` per position, and can keep its memory in a `Workspace`.
"""

from .ending import end_searches_when
from .evaluators import ActionPriors, Evaluator, FunctionEvaluator, Playouts
from .flat import SEARCH_SETTINGS, make_search
from .result import SearchResult
from .rules import PUCT, UCT, Gumbel, Selection, register_weights
from .search import Search
from .workspace import Workspace

__all__ = [
    "PUCT",
    "SEARCH_SETTINGS",
    "UCT",
    "ActionPriors",
    "Evaluator",
    "FunctionEvaluator",
    "Gumbel",
    "Playouts",
    "Search",
    "SearchResult",
    "Selection",
    "Workspace",
    "end_searches_when",
    "make_search",
    "register_weights",
]
