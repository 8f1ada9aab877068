"""A board to click on, without the board: what the persons before it are shown, and what becomes of what they do.

Messages are JSON objects, the same over the socket of `pbm serve` and in Jupyter. A person sends

    {"do": "hello", "theme": "dark"}     everything again; `theme` is that of the pictures
    {"do": "play", "move": "c4x"}        or "resign"
    {"do": "undo"}  {"do": "hint"}       the adviser's move
    {"do": "heat"}                       the adviser's thinking, over the position; once more: without
    {"do": "save"}                       the record
    {"do": "hide"}  {"do": "sit"}        several persons, hidden pieces: leave the board, sit down before it
    {"do": "new", "game": "curio", "options": ["base=3"], "players": ["person", "random"], "seed": ""}

and is sent {"type": "setup", ...} (games, options, agents), {"type": "position", ...} (picture, players, moves, what is
legal), {"type": "record", "name": ..., "text": ...}, {"type": "note" or "error", "text": ...}. All of it is computed
from the view of who sits before the board, until the game is over.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Literal, final

from pbm_envs import GAMES
from pbm_envs.records import GameRecord
from pbm_envs.render import THEMES

from ..mcts import SearchAgent
from ..search import SearchResult
from .session import PERSON, Session
from .shown import hands_over, position
from .start import AGENTS, Message, Start, form, ordered, text_of

MOST_WAITING = 32
"""Messages that wait; further ones are dropped."""
MOST_THOUGHTS = 4
"""Agents that think at once, those of games that were left included."""

_log = logging.getLogger(__name__)
_warnings = threading.Lock()
"""Held by who catches warnings, which Python does for all threads at once."""


@dataclass(frozen=True)
class Thought:
    """What has come of thinking about a game."""

    session: Session
    kind: Literal["answer", "hint", "heat"]
    result: Any


@final
class Table:
    """One board. It obeys in a thread of its own, and agents think in further ones, so that nobody waits for them."""

    def __init__(
        self, send: Callable[[Message], None], start: Start, own_agents: Collection[str] | None = None
    ) -> None:
        """`send` is called in another thread, message by message; `own_agents` as for `ordered`."""
        self._send = send
        self._own_agents = own_agents
        self._inbox: SimpleQueue[object] = SimpleQueue()
        self._closed = threading.Event()
        self._threads: list[threading.Thread] = []
        self._greeted = False
        self._theme = "light"
        self._seat: int | None = None
        self._heat: SearchResult | None = None
        self._hint: str | None = None
        self._begin(start)
        self._advance()
        threading.Thread(target=self._work, daemon=True).start()

    @property
    def record(self) -> GameRecord:
        """The game so far, with all that is hidden."""
        return self._record

    def receive(self, message: object) -> None:
        """Obey soon. Whatever is wrong with the message, the person is told."""
        if self._inbox.qsize() < MOST_WAITING:
            self._inbox.put(message)

    def close(self) -> None:
        """Leave the game: nothing is sent any more, and what an agent comes to think of is dropped."""
        self._closed.set()
        self._inbox.put(None)

    # In the table's own thread.

    def _work(self) -> None:
        while True:
            message = self._inbox.get()
            if self._closed.is_set():
                return
            try:
                if isinstance(message, Thought):
                    self._hear(message)
                else:
                    self._obey(message)
            except (ValueError, ImportError) as error:
                self._tell("error", text=str(error))
            except Exception:
                _log.exception("a board failed at %.200r", message)
                self._tell("error", text="that failed, which is a mistake in the program: its log says more")

    def _tell(self, kind: str, **rest: Any) -> None:
        if self._greeted and not self._closed.is_set():
            self._send({"type": kind, **rest})

    def _obey(self, message: object) -> None:
        orders: dict[str, Callable[[Message], None]] = {
            "hello": self._hello,
            "play": self._play,
            "undo": self._undo,
            "hint": self._advise,
            "heat": self._advise,
            "save": self._save,
            "hide": self._hide,
            "sit": self._sit,
            "new": self._new,
        }
        word = message.get("do") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(word, str) or word not in orders:
            raise ValueError(f"expected an object with 'do', one of {', '.join(orders)}")
        orders[word](message)

    def _hello(self, message: Message) -> None:
        theme = text_of(message, "theme", self._theme)
        if theme not in THEMES:
            raise ValueError(f"theme is {theme!r}: expected one of {', '.join(THEMES)}")
        self._theme, self._greeted = theme, True
        with _warnings:
            games = [form(name) for name in GAMES]
        agents = dict.fromkeys([PERSON, *AGENTS, *(self._own_agents or ())])
        self._tell("setup", games=games, agents=list(agents))
        self._show()

    def _play(self, message: Message) -> None:
        self._at_the_board()
        self._session.play(text_of(message, "move"))
        self._advance()

    def _undo(self, _: Message) -> None:
        self._check_idle()
        self._session.undo()
        self._advance()

    def _advise(self, message: Message) -> None:
        if message["do"] == "heat" and self._heat is not None:
            self._heat = None
            self._show()
            return
        self._at_the_board()
        session, adviser = self._session, self._start.adviser()
        if message["do"] == "hint":
            self._think("hint", lambda: session.hint(adviser))
        elif isinstance(adviser, SearchAgent):
            self._think("heat", lambda: session.analyse(adviser))
        else:
            raise ValueError(f"{self._start.hint!r} does not show its thinking: expected an agent that searches")
        self._show()

    def _save(self, _: Message) -> None:
        if not (self._session.done or self._session.game.perfect_information):
            raise ValueError("the record tells what is hidden from you: expected a game that is over")
        self._tell("record", name=f"{self._session.game.name}.jsonl", text=self._record.to_json() + "\n")

    def _hide(self, _: Message) -> None:
        if hands_over(self._session, self._seat):
            self._seat = None
        self._show()

    def _sit(self, _: Message) -> None:
        if self._seat is None:
            self._seat = self._session.mover
        self._show()

    def _new(self, message: Message) -> None:
        if sum(thread.is_alive() for thread in self._threads) >= MOST_THOUGHTS:
            raise ValueError("agents still think about games that you have left: expected a little patience")
        with _warnings, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = ordered(message, self._own_agents, self._start.hint)
            self._begin(start)
        for warning in caught:
            self._tell("note", text=str(warning.message))
        self._advance()

    def _begin(self, start: Start) -> None:
        session = start.session()
        self._session, self._start = session, start
        self._thinking, self._heat, self._hint = "", None, None
        several = len(session.persons) > 1 and not session.game.perfect_information
        self._seat = None if several else session.persons[0]
        self._record = session.record()

    def _advance(self) -> None:
        """After a change of the position: an agent's turn, or a person's."""
        session = self._session
        self._record, self._heat, self._hint = session.record(), None, None
        if session.done:
            self._seat = session.persons[0] if self._seat is None else self._seat
        elif session.mover not in session.persons:
            self._think("answer", session.think)
        elif session.game.perfect_information:
            self._seat = session.mover
        self._show()

    def _think(self, kind: Literal["answer", "hint", "heat"], think: Callable[[], Any]) -> None:
        session = self._session

        def work() -> None:
            try:
                result = think()
            except Exception as error:
                result = error
            self._inbox.put(Thought(session, kind, result))

        self._thinking = kind
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        self._threads.append(threading.Thread(target=work, daemon=True))
        self._threads[-1].start()

    def _hear(self, thought: Thought) -> None:
        if thought.session is not self._session:
            return  # a game that was left
        self._thinking = ""
        if isinstance(thought.result, Exception):
            self._show()
            raise thought.result
        if thought.kind == "answer":
            self._session.answer(thought.result)
            self._advance()
            return
        if thought.kind == "hint":
            self._hint = thought.result
        else:
            self._heat = thought.result
        self._show()

    def _check_idle(self) -> None:
        if self._thinking:
            raise ValueError("an agent is thinking: expected a little patience")

    def _at_the_board(self) -> None:
        self._check_idle()
        if self._session.done:
            raise ValueError("the game is over: expected undo, save or a new game")
        if self._seat != self._session.mover:
            raise ValueError("it is not your turn")

    def _show(self) -> None:
        if self._greeted:
            now = position(
                self._session,
                self._seat,
                thinking=self._thinking,
                hint=self._hint,
                heat=self._heat,
                theme=self._theme,
            )
            self._tell("position", **now)
