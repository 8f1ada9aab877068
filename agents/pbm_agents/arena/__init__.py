"""The arena: agents play tournaments, and their games are rated."""

from .match import Opening, play_games

__all__ = ["Opening", "play_games"]
