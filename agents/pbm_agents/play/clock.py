"""Clocks of games: the time of each player, per game or per move. The server keeps it, and pages count down.

* A player's first turn is free: rules may have to be compiled then, and an invited player may still be on the way.
* The clock runs for persons and agents alike. It goes on while a player's connection is lost, and stops only while no
  person has a board open, also over a restart of the server.
* A takeback gives no time back: afterwards nobody has more than before the move that was taken back.
* A player whose time is over leaves the game, and the record says so (`OUT_OF_TIME`).
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from .session import Session

OUT_OF_TIME = "ran out of time"
"""The reason for the forfeit of a player whose time is over."""
LONGEST, LONGEST_INCREMENT = 86_400.0, 3600.0
"""The largest numbers of seconds of a game or move, and for each move."""
SPLIT_SECOND = 0.001
"""Seconds that a timer may be early."""
SHARE, MARGIN = 0.1, 0.8
"""The largest shares of the time left in a game, and of the time of a single move, that an agent spends on a move."""
FORM = re.compile(r"(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?)|(/move))?")


@dataclass(frozen=True)
class TimeControl:
    """The time that each player has.

    >>> print(TimeControl.parse("300+5").words, "|", TimeControl.parse("30/move").words)
    5 min per game and 5 s for each move | 30 s per move
    """

    seconds: float
    increment: float = 0.0
    """Seconds that each move adds."""
    per_move: bool = False
    """Whether `seconds` is the time of a move rather than of the game."""

    @classmethod
    def parse(cls, text: str) -> TimeControl:
        """Read "300" (seconds per game), "300+5" (and 5 for each move) or "30/move"; ValueError for other texts."""
        found = FORM.fullmatch(text.strip())
        seconds, increment = (float(found[1]), float(found[2] or 0)) if found else (0.0, 0.0)
        if not (found and 1 <= seconds <= LONGEST and increment <= LONGEST_INCREMENT):
            raise ValueError(
                f"the clock is {text[:40]!r}: expected seconds per game such as 300, or 300+5 with 5 more for each "
                "move, or seconds per move such as 30/move"
            )
        return cls(seconds, increment, bool(found[3]))

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.seconds:g}" + ("/move" if self.per_move else f"+{self.increment:g}" * (self.increment > 0))

    @property
    def words(self) -> str:
        """The time in words."""
        added = f" and {_duration(self.increment)} for each move" if self.increment else ""
        return f"{_duration(self.seconds)} per {'move' if self.per_move else 'game'}{added}"


def _duration(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 60 and seconds % 30 == 0 else f"{seconds:g} s"


class Timekeeper:
    """The time by which clocks run. Tests have their own."""

    def now(self) -> float:
        """Return seconds since any moment."""
        return time.monotonic()

    def call_later(self, seconds: float, action: Callable[[], None]) -> Callable[[], None]:
        """Call `action` in another thread after `seconds`; return a function that prevents it."""
        timer = threading.Timer(seconds, action)
        timer.daemon = True
        timer.start()
        return timer.cancel


@final
class Clock:
    """The clock of one game. Its room calls it with the room's lock held."""

    def __init__(
        self, control: TimeControl, session: Session, timekeeper: Timekeeper, fall: Callable[[], None], kept: Any = None
    ) -> None:
        """Make a clock that does not run yet.

        Args:
            control: The time of each player.
            session: The game.
            timekeeper: The time.
            fall: Called in another thread as soon as the time of the player to move is over.
            kept: The times of a game that is resumed, from `keep`.
        """
        full = [control.seconds] * session.game.num_players
        self.control = control
        self._session, self._timekeeper, self._fall = session, timekeeper, fall
        self._before: list[list[float]] = kept["before"] if kept else [full] * (session.plies + 1)
        """For each ply, the seconds that each player had left before it."""
        self._left: list[float] = kept["left"] if kept else list(full)
        self._running: int | None = None
        self._since = 0.0
        self._cancel: Callable[[], None] = lambda: None

    def follow(self, *, present: bool) -> None:
        """Note that the game has changed, or that a board has come or gone.

        Args:
            present: Whether any person has a board open.
        """
        session, control, now = self._session, self.control, self._timekeeper.now()
        self._left = self._left_at(now)
        for ply in range(len(self._before) - 1, session.plies):
            mover = session.moves[ply][1]
            if control.per_move:
                self._left[mover] = control.seconds
            elif self._is_timed(mover, ply):
                self._left[mover] += control.increment
            self._before.append(list(self._left))
        if len(self._before) > session.plies + 1:
            self._left = [min(now, then) for now, then in zip(self._left, self._before[session.plies], strict=True)]
            if control.per_move:
                self._left = [control.seconds] * len(self._left)
            del self._before[session.plies + 1 :]
        runs = present and not session.done and self._is_timed(session.mover, session.plies)
        self._running, self._since = session.mover if runs else None, now
        self._cancel()
        if self._running is not None:
            self._cancel = self._timekeeper.call_later(max(0.0, self._left[self._running]), self._fall)

    def has_fallen(self) -> bool:
        """Return whether the time of the player to move is over."""
        running = self._running
        return running is not None and self._left_at(self._timekeeper.now())[running] <= SPLIT_SECOND

    def agent_seconds(self) -> float:
        """Return how long an agent to move may think at most, so that its time lasts for the game."""
        control, mover = self.control, self._session.mover
        if control.per_move:
            return MARGIN * control.seconds
        return SHARE * self._left_at(self._timekeeper.now())[mover] + MARGIN * control.increment

    def stop(self) -> None:
        """Stop for good: another game begins."""
        self._cancel()
        self._running = None

    def message(self) -> dict[str, Any]:
        """Return what pages show: the seconds that each player has left, and whose time runs."""
        left = [max(0.0, round(seconds, 2)) for seconds in self._left_at(self._timekeeper.now())]
        return {"left": left, "running": self._running, "control": str(self.control), "words": self.control.words}

    def keep(self) -> dict[str, Any]:
        """Return the times as data, for a game that is resumed."""
        return {"left": self._left_at(self._timekeeper.now()), "before": self._before}

    def _is_timed(self, seat: int, ply: int) -> bool:
        """Return whether the turn of `seat` at `ply` counts: it is not the seat's first one."""
        return any(mover == seat for _, mover in self._session.moves[self._session.given : ply])

    def _left_at(self, now: float) -> list[float]:
        left = list(self._left)
        if self._running is not None:
            left[self._running] -= now - self._since
        return left
