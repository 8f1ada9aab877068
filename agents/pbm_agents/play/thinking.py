"""How a board asks agents: each thinks in a thread of its own, and what it has found comes back as a `Thought`.

Agents choose the moves of their seats; the adviser gives hints, numbers of a position, and values of the whole game.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from ..players.search_agents import SearchAgent
from ..search import SearchResult
from ..search.ending import end_searches_when
from .session import Session
from .start import Start

MAX_THINKING_AGENTS = 4
"""Agents that may think at once, including those of games that were left."""
WATCHED_SECONDS = 0.2
"""Between two looks whether the pace of a game of agents has changed."""

Kind: TypeAlias = Literal["answer", "hint", "analysis", "values"]


@dataclass(frozen=True)
class Thought:
    """The result of an agent's thinking about a game, or the exception that it raised."""

    session: Session
    kind: Kind
    result: Any


@final
class Thinking:
    """The agents that think about the games of one board. About the current game one thinks at a time."""

    def __init__(self, deliver: Callable[[Thought], None]) -> None:
        """Let nobody think yet; `deliver` is called with each thought, in the thread of the agent."""
        self.kind: Kind | Literal[""] = ""
        """What an agent thinks about, in the current game; "" while none does."""
        self.pace: float | None = 1.0
        """Seconds that a move of a game of agents only takes at least; None: the game waits."""
        self.threads: list[threading.Thread] = []
        """Those that may still run, with those of games that were left."""
        self._deliver = deliver
        self._session: Session | None = None
        self._seconds = math.inf
        self._closed, self._left, self._go_on = threading.Event(), threading.Event(), threading.Event()

    def begin(self, session: Session, seconds: float) -> None:
        """Take another game: agents that think about the one before stop.

        Args:
            session: The game.
            seconds: After so many a search ends, whatever its budget.
        """
        self._left.set()
        self._left, self._go_on = threading.Event(), threading.Event()
        self._session, self._seconds, self.kind = session, seconds, ""

    def close(self) -> None:
        """Let all agents stop."""
        self._closed.set()
        self._left.set()

    def think(self, kind: Kind, work: Callable[[], Any]) -> None:
        """Let an agent think about the current game: the thought has what `work` returns or raises."""
        session, left, until = self._session, self._left, time.monotonic() + self._seconds
        assert session is not None

        def run() -> None:
            try:
                with end_searches_when(lambda: left.is_set() or time.monotonic() > until):
                    result = work()
            except Exception as error:
                result = error
            self._deliver(Thought(session, kind, result))

        self.kind = kind
        self.threads = [thread for thread in self.threads if thread.is_alive()]
        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def choose_at_pace(self) -> None:
        """Let the agent to move choose, and wait until the move has taken as long as the pace says."""
        session, left, go_on = self._session, self._left, self._go_on
        assert session is not None

        def choose() -> Any:
            started = time.monotonic()
            choice = session.choose_action()
            while not (self._closed.is_set() or left.is_set()):
                pace = self.pace
                rest = WATCHED_SECONDS if pace is None else started + pace - time.monotonic()
                if rest <= 0:
                    break
                go_on.wait(min(rest, WATCHED_SECONDS))
                go_on.clear()
            return choice

        self.think("answer", choose)

    def set_pace(self, seconds: float | None) -> None:
        """Let a move of agents take so long; one that waits looks at it at once."""
        self.pace = seconds
        self._go_on.set()

    def finish(self, thought: Thought) -> bool:
        """Note that an agent has finished; whether that was about the current game, and not one that was left."""
        if thought.session is not self._session:
            return False
        self.kind = ""
        return True

    def check_idle(self) -> None:
        """ValueError while an agent thinks about the current game."""
        if self.kind:
            raise ValueError("an agent is thinking: expected a little patience")

    def check_busy(self) -> None:
        """ValueError while too many agents think about games that were left."""
        if sum(thread.is_alive() for thread in self.threads) >= MAX_THINKING_AGENTS:
            raise ValueError("agents still think about games that you have left: expected a little patience")


@final
class Advice:
    """What the adviser has found out about a game: the hint and the numbers of the position, and values by ply."""

    def __init__(self, session: Session, start: Start, thinking: Thinking) -> None:
        """Nothing yet about this game, of which `start` names the adviser."""
        self._session, self._start, self._thinking = session, start, thinking
        self._found: SearchResult | None = None
        self.hint: str | None = None
        """The move, once somebody has asked for it in this position."""
        self.shown = False
        """Whether the numbers are shown."""
        self.values: dict[int, float] = {}
        """What the person's seat can expect, by ply."""

    @property
    def analysis(self) -> SearchResult | None:
        """The numbers, if they are shown."""
        return self._found if self.shown else None

    def forget_position(self) -> None:
        """Keep only what is still so after a change of the position."""
        self._found, self.hint, self.shown = None, None, False
        self.values = {ply: value for ply, value in self.values.items() if ply <= self._session.plies}

    def ask(self, kind: Literal["hint", "analysis"], seat: int | None) -> None:
        """Find the move or the numbers; both are of one search, which is made once for a position.

        Args:
            kind: Which of the two.
            seat: Of the person at the board.

        Raises:
            ValueError: For the numbers of an adviser that does not search.
        """
        session, adviser = self._session, self._start.adviser()
        if isinstance(adviser, SearchAgent):
            if self._found is None:
                self._thinking.think(kind, lambda: session.analyse(adviser))
            else:
                self.take(kind, self._found, seat)
        elif kind == "hint":
            self._thinking.think(kind, lambda: session.hint(adviser))
        else:
            raise self._no_search()

    def expect(self, seat: int | None) -> None:
        """Search every position in which this seat was to move; with perfect information, every position.

        Args:
            seat: Of the person at the board; for None nothing is searched.

        Raises:
            ValueError: For an adviser that does not search.
        """
        session, adviser = self._session, self._start.adviser()
        if not isinstance(adviser, SearchAgent):
            raise self._no_search()
        if seat is not None:
            self._thinking.think("values", lambda: session.values(adviser, seat))

    def take(self, kind: Kind, found: Any, seat: int | None) -> None:
        """Keep what the adviser has found: a search or the hint itself, or values by ply.

        Args:
            kind: What it was asked for.
            found: Its answer.
            seat: Of the person at the board.
        """
        if kind == "values":
            self.values.update(found)
            return
        if not isinstance(found, str):
            self._found = found
            self.values[self._session.plies] = float(found.value[seat or 0])
        if kind == "hint":
            self.hint = found if isinstance(found, str) else found.game.action_to_string(found.best)
        else:
            self.shown = True

    def _no_search(self) -> ValueError:
        return ValueError(f"{self._start.hint!r} does not show its thinking: expected an agent that searches")
