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

from ..search.ending import end_searches_when
from .adviser import MoveValue, analyse, can_analyse, curve, how_sure
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
        """Let nobody think yet. `deliver` is called with each thought, in the agent's thread."""
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
        """Take another game, in which a search ends after so many seconds; agents stop thinking about the last one."""
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
    """What the adviser has found out about a game: moves of the position, and values by ply for the person's seat."""

    def __init__(self, session: Session, start: Start, thinking: Thinking) -> None:
        self._session, self._start, self._thinking = session, start, thinking
        self._adviser = start.adviser()
        self._moves: list[MoveValue] = []
        self.hint: str | None = None
        """The move, once somebody has asked for it in this position."""
        self.shown = False
        """Whether the moves are shown."""
        self.values: dict[int, float] = {}
        """What the person's seat can expect, by ply."""
        self.choices: dict[int, int] = {}
        """The adviser's choice, by ply, where the values of the whole game were asked for."""

    @property
    def moves(self) -> list[MoveValue]:
        """The moves, if they are shown."""
        return self._moves if self.shown else []

    @property
    def sure(self) -> str:
        """How sure the adviser is of its hint; "" if it cannot say."""
        return how_sure(self._moves) if self._moves else ""

    @property
    def can_analyse(self) -> bool:
        """Whether the adviser can say what moves are worth."""
        return can_analyse(self._adviser)

    def forget_position(self) -> None:
        """Keep only what still holds after the position has changed."""
        self._moves, self.hint, self.shown = [], None, False
        self.values = {ply: value for ply, value in self.values.items() if ply <= self._session.plies}
        self.choices = {}

    def ask(self, kind: Literal["hint", "analysis", "values"], seat: int) -> None:
        """Let the adviser find the move, the moves with their values, or the values by ply for this seat.

        Raises:
            ValueError: If the adviser cannot say what moves are worth, and more than a move is asked for.
        """
        session, adviser = self._session, self._adviser
        if not self.can_analyse:
            if kind != "hint":
                raise ValueError(f"{self._start.hint!r} does not show its thinking: expected an agent that searches")
            self._thinking.think(kind, lambda: session.hint(adviser))
        elif kind == "values":
            self._thinking.think(kind, lambda: curve(adviser, session.game, session.positions, seat))
        elif not self._moves:
            self._thinking.think(kind, lambda: analyse(adviser, session.game, session.view(session.mover)))
        else:
            self.take(kind, self._moves, seat)

    def take(self, kind: Kind, found: Any, seat: int | None) -> None:
        """Keep what the adviser has found for the person in this seat."""
        session = self._session
        if kind == "values":
            self.values.update({ply: value for ply, (value, _) in found.items()})
            self.choices = {ply: action for ply, (_, action) in found.items()}
            if session.done and seat is not None:
                self.values[session.plies] = float(session.state["returns"][0, seat])
            return
        if not isinstance(found, str):
            self._moves = found
            self.values[session.plies] = found[0].value
        if kind == "hint":
            self.hint = found if isinstance(found, str) else session.game.action_to_string(found[0].action)
        else:
            self.shown = True
