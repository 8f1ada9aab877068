"""Games with persons: the session that the terminal, the page of `pbm serve` and the widget of Jupyter share."""

from .session import PERSON, Session, seats

__all__ = ["PERSON", "Session", "seats"]
