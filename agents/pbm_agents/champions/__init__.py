"""Champions: the strongest player in this package for every game, as `make_agent("champion:seconds=0.1")`."""

from .agent import ChampionAgent
from .curio import CurioValues, LinesAgent
from .patterns import PatternPriors

__all__ = ["ChampionAgent", "CurioValues", "LinesAgent", "PatternPriors"]
