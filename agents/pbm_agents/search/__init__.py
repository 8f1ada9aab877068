"""Monte Carlo tree search: settings and runs (`Search`), selection rules (`UCT`, `PUCT`, `Gumbel`, or a `Selection` of
your own), evaluators of leaves (`Evaluator`), memory kept between runs (`Workspace`) and results (`SearchResult`).
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
