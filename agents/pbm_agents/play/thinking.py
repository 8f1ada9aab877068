"""The agents of a board: each thinks in its own thread and returns its result as a `Thought`.

Agents choose the moves of their seats; the adviser gives hints, values of moves, and values of the whole game.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

from ..search.ending import end_searches_when
from .adviser import MoveValue, advise, can_analyse, curve, how_sure
from .processes import AgentProcesses
from .session import Session
from .start import ADVISER, Message, Start

MAX_THINKING_AGENTS = 4
"""The largest number of agents that may think at once, including those of games that were left."""
WATCHED_SECONDS = 0.2
"""Seconds between checks whether the pace of a game between agents has changed."""

Kind: TypeAlias = Literal["answer", "hint", "analysis", "values"]


@dataclass(frozen=True)
class Thought:
    """The result of an agent's thinking about a game, or the exception that it raised."""

    session: Session
    number: int
    """The number of the agent among those that its board has started."""
    plies: int
    """The length of the game when the agent began."""
    kind: Kind
    result: Any


@final
class Thinking:
    """The agents that think about the games of one board, at most one at a time about the current game."""

    def __init__(self, deliver: Callable[[Thought], None]) -> None:
        """Start without a game. `deliver` is called with each thought, in the agent's thread."""
        self.kind: Kind | Literal[""] = ""
        """The subject of the agent that thinks about the current game; "" if there is none."""
        self.pace: float | None = 1.0
        """Minimum seconds per move if only agents play; None while the game is paused."""
        self.processes: AgentProcesses | None = None
        """The processes in which agents think; None for the threads of this process."""
        self.notify: Callable[[Message], None] = lambda _: None
        """Called with messages about what those processes compile."""
        self.threads: list[threading.Thread] = []
        """Threads that may still run, including those of games that were left."""
        self._deliver = deliver
        self._session: Session | None = None
        self._started = 0
        self._seconds = math.inf
        self._closed, self._left, self._go_on = threading.Event(), threading.Event(), threading.Event()

    def begin(self, session: Session, seconds: float) -> None:
        """Start another game, whose searches end after `seconds`; stop the agents of the previous game."""
        self._left.set()
        self._left, self._go_on = threading.Event(), threading.Event()
        self._session, self._seconds, self.kind = session, seconds, ""

    def close(self) -> None:
        """Stop all agents."""
        self._closed.set()
        self._left.set()

    def think(self, kind: Kind, work: Callable[[], Any], seconds: float = math.inf) -> None:
        """Start an agent on the current game; its thought has the result of `work` or its exception.

        Args:
            kind: The subject.
            work: What the agent does, in a thread of its own.
            seconds: The time after which its searches end. Each also ends after the game's limit.
        """
        session, left, limit, until = self._session, self._left, self._seconds, time.monotonic() + seconds
        assert session is not None
        plies = session.plies
        self._started += 1
        number = self._started

        def run() -> None:
            try:
                if self.processes is not None:
                    with end_searches_when(left.is_set), self.processes.used(session, limit, until, self.notify):
                        result = work()
                else:
                    end = min(until, time.monotonic() + limit)
                    with end_searches_when(lambda: left.is_set() or time.monotonic() > end):
                        result = work()
            except Exception as error:
                result = error
            self._deliver(Thought(session, number, plies, kind, result))

        self.kind = kind
        self.threads = [thread for thread in self.threads if thread.is_alive()]
        self.threads.append(threading.Thread(target=run, daemon=True))
        self.threads[-1].start()

    def choose_at_pace(self) -> None:
        """Start the agent to move, whose move takes at least the time that the pace sets."""
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
        """Set the minimum seconds per move, also for a move that is waiting; None pauses the game."""
        self.pace = seconds
        self._go_on.set()

    def finish(self, thought: Thought) -> bool:
        """Note that an agent has finished; return whether its thought is the one that the board waits for."""
        if thought.session is not self._session or thought.number != self._started or not self.kind:
            return False
        self.kind = ""
        return True

    def stop(self, kind: Kind) -> None:
        """Stop the agent that thinks about the current game if this is its subject."""
        if self.kind == kind:
            self._left.set()
            self._left, self.kind = threading.Event(), ""

    def check_busy(self) -> None:
        """Raise ValueError while too many agents think about games that were left."""
        if sum(thread.is_alive() for thread in self.threads) >= MAX_THINKING_AGENTS:
            raise ValueError("agents are still thinking about games that you have left: try again soon")


@final
class Advice:
    """The adviser's results for a game: moves of the position, and values by ply for the person's seat."""

    def __init__(self, session: Session, start: Start, thinking: Thinking) -> None:
        self._session, self._start, self._thinking = session, start, thinking
        self._adviser, self._name = start.adviser(), start.hint or ADVISER
        self._plies = session.plies
        self._moves: list[MoveValue] = []
        self.hint: str | None = None
        """The move, once the person has asked for it in this position."""
        self.shown = False
        """True once the moves are shown."""
        self.values: dict[int, float] = {}
        """The expected return of the person's seat, by ply."""
        self.choices: dict[int, int] = {}
        """The adviser's action by ply, once the values of the whole game were requested."""

    @property
    def moves(self) -> list[MoveValue]:
        """The moves, if they are shown."""
        return self._moves if self.shown else []

    @property
    def sure(self) -> str:
        """The adviser's confidence in its hint, in words; "" if it cannot say."""
        return how_sure(self._moves) if self._moves else ""

    @property
    def can_analyse(self) -> bool:
        """True if the adviser reports values of moves."""
        return can_analyse(self._adviser)

    def forget_position(self) -> None:
        """Forget the results that depend on the position, if it has changed."""
        if self._plies == self._session.plies:
            return
        self._plies = self._session.plies
        self._moves, self.hint, self.shown = [], None, False
        self.values = {ply: value for ply, value in self.values.items() if ply <= self._session.plies}
        self.choices = {}

    def ask(self, kind: Literal["hint", "analysis", "values"], seat: int) -> None:
        """Start the adviser on the move, the moves with their values, or the values by ply for this seat.

        Raises:
            ValueError: If values are requested from an adviser that cannot report them.
        """
        session, adviser, name = self._session, self._adviser, self._name
        if not self.can_analyse:
            if kind != "hint":
                raise ValueError(f"{name!r} does not show its thinking: expected an agent that searches")
            self._thinking.think(kind, lambda: session.hint(adviser, name))
        elif kind == "values":
            self._thinking.think(kind, lambda: curve(adviser, name, session.game, session.positions, seat))
        elif not self._moves:
            self._thinking.think(kind, lambda: advise(adviser, name, session.game, session.view(session.mover)))
        else:
            self.take(kind, self._moves, seat)

    def take(self, kind: Kind, found: Any, seat: int | None) -> None:
        """Store a result of the adviser for the person in this seat."""
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
