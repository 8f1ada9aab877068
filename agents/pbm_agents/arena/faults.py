"""Batches that faults of the infrastructure have left unplayed."""

from __future__ import annotations

from typing import final

from pbm_envs.records import GameRecord

from ..common.faults import InfrastructureError
from .schedule import Unplayed

MOST_IN_A_ROW = 3
"""Batches that faults end one after another, after which nothing more is played."""
MOST_NAMED = 5


@final
class Faults:
    """What has been left unplayed in a folder."""

    def __init__(self, most_in_a_row: int = MOST_IN_A_ROW) -> None:
        """Give up after so many unplayed batches in a row."""
        self._most, self._in_a_row = most_in_a_row, 0
        self._unplayed: list[Unplayed] = []

    def take(self, result: list[GameRecord] | Unplayed) -> list[GameRecord]:
        """Return the games of a batch; none if a fault has left it unplayed.

        Raises:
            InfrastructureError: Too many batches in a row were left unplayed.
        """
        if not isinstance(result, Unplayed):
            self._in_a_row = 0
            return result
        self._unplayed.append(result)
        self._in_a_row += 1
        if self._in_a_row >= self._most:
            self.check()
        return []

    def check(self) -> None:
        """Raise InfrastructureError if games are unplayed; it says which, and why."""
        if not self._unplayed:
            return
        by_reason: dict[str, list[str]] = {}
        for one in self._unplayed:
            games = f"{one.number} to {one.number + one.count - 1}" if one.count > 1 else str(one.number)
            by_reason.setdefault(f"{one.agent}: {one.reason}", []).append(games)
        parts = [
            f"games {', '.join(games[:MOST_NAMED])}{', ...' * (len(games) > MOST_NAMED)} ({reason})"
            for reason, games in sorted(by_reason.items())
        ]
        raise InfrastructureError(
            f"{sum(one.count for one in self._unplayed)} games are unplayed, and nobody has forfeited them: "
            f"{'; '.join(parts[:MOST_NAMED])}. After the repair the same command plays them"
        )
