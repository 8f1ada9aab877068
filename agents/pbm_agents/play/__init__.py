"""Games of persons against agents: the session that the terminal, the web page and the Jupyter widget share."""

from .session import PERSON, Session, seats

__all__ = ["PERSON", "Session", "seats"]
