"""Monte Carlo tree search: settings and runs (`Search`), what a run found (`SearchResult`), what judges leaves."""

from .evaluators import Evaluator, Network, Playouts
from .result import SearchResult
from .search import Search

__all__ = ["Evaluator", "Network", "Playouts", "Search", "SearchResult"]
