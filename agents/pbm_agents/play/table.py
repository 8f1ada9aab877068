"""The protocol of a board to click on: messages in, messages out.

Messages are JSON objects, the same over the web socket of `pbm serve` and in Jupyter. A person sends

    {"do": "hello", "theme": "dark"}     asks for everything again; `theme` is that of the pictures
    {"do": "play", "move": "c4x"}        or "resign"
    {"do": "undo"}                       takes back a move
    {"do": "hint"}                       asks for the adviser's move
    {"do": "heat"}                       draws the adviser's search over the position, or removes it again
    {"do": "save"}                       asks for the record
    {"do": "hide"}  {"do": "sit"}        several persons, hidden information: leave the board to another, take it
    {"do": "new", "game": "curio", "options": ["base=3"], "players": ["person", "random"], "seed": ""}

and receives {"type": "setup", ...} (games, options, agents), {"type": "position", ...} (picture, players, legal moves),
{"type": "record", "name": ..., "text": ...}, {"type": "note" or "error", "text": ...}. Until the game is over, all of
it is computed from the view of the person at the board.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Literal, final

from pbm_envs import games as known_games
from pbm_envs.records import GameRecord
from pbm_envs.render import THEMES

from ..players.search_agents import SearchAgent
from ..search import SearchResult
from .messages import belongs_to_another_person, position
from .session import PERSON, Session
from .start import SUGGESTED_AGENTS, Message, Start, game_form, parse_start, text_of

MAX_WAITING_MESSAGES = 32
"""Messages that may wait; further ones are dropped."""
MAX_THINKING_AGENTS = 4
"""Agents that may think at once, including those of games that were left."""

_log = logging.getLogger(__name__)
_warnings = threading.Lock()
"""Held while warnings are caught, since Python catches them for all threads at once."""


@dataclass(frozen=True)
class Thought:
    """The result of an agent's thinking about a game, or the exception that it raised."""

    session: Session
    kind: Literal["answer", "hint", "heat"]
    result: Any


@final
class Table:
    """One board. It handles messages in a thread of its own, and agents think in further threads."""

    def __init__(
        self, send: Callable[[Message], None], start: Start, own_agents: Collection[str] | None = None
    ) -> None:
        """Start the game and the thread.

        Args:
            send: Called with each message to the person, in another thread.
            start: The first game.
            own_agents: As in `parse_start`.
        """
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
        """Handle a message soon. If anything is wrong with it, the person gets a message that says so."""
        if self._inbox.qsize() < MAX_WAITING_MESSAGES:
            self._inbox.put(message)

    def close(self) -> None:
        """Leave the game: nothing is sent any more, and the results of agents that still think are dropped."""
        self._closed.set()
        self._inbox.put(None)

    # All that follows runs in the table's own thread.

    def _work(self) -> None:
        while True:
            message = self._inbox.get()
            if self._closed.is_set():
                return
            try:
                if isinstance(message, Thought):
                    self._use_thought(message)
                else:
                    self._handle(message)
            except (ValueError, ImportError) as error:
                self._reply("error", text=str(error))
            except Exception:
                _log.exception("a board failed at %.200r", message)
                self._reply("error", text="that failed, which is a mistake in the program: its log says more")

    def _reply(self, kind: str, **rest: Any) -> None:
        if self._greeted and not self._closed.is_set():
            self._send({"type": kind, **rest})

    def _handle(self, message: object) -> None:
        handlers: dict[str, Callable[[Message], None]] = {
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
        if not isinstance(message, dict) or not isinstance(word, str) or word not in handlers:
            raise ValueError(f"expected an object with 'do', one of {', '.join(handlers)}")
        handlers[word](message)

    def _hello(self, message: Message) -> None:
        theme = text_of(message, "theme", self._theme)
        if theme not in THEMES:
            raise ValueError(f"theme is {theme!r}: expected one of {', '.join(THEMES)}")
        self._theme, self._greeted = theme, True
        with _warnings:
            games = [game_form(name) for name in known_games()]
        agents = dict.fromkeys([PERSON, *SUGGESTED_AGENTS, *(self._own_agents or ())])
        self._reply("setup", games=games, agents=list(agents))
        self._show()

    def _play(self, message: Message) -> None:
        self._check_turn()
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
        self._check_turn()
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
        self._reply("record", name=f"{self._session.game.name}.jsonl", text=self._record.to_json() + "\n")

    def _hide(self, _: Message) -> None:
        if belongs_to_another_person(self._session, self._seat):
            self._seat = None
        self._show()

    def _sit(self, _: Message) -> None:
        if self._seat is None:
            self._seat = self._session.mover
        self._show()

    def _new(self, message: Message) -> None:
        if sum(thread.is_alive() for thread in self._threads) >= MAX_THINKING_AGENTS:
            raise ValueError("agents still think about games that you have left: expected a little patience")
        with _warnings, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = parse_start(message, self._own_agents, self._start.hint)
            self._begin(start)
        for warning in caught:
            self._reply("note", text=str(warning.message))
        self._advance()

    def _begin(self, start: Start) -> None:
        session = start.session()
        self._session, self._start = session, start
        self._thinking, self._heat, self._hint = "", None, None
        several = len(session.persons) > 1 and not session.game.perfect_information
        self._seat = None if several else session.persons[0]
        self._record = session.record()

    def _advance(self) -> None:
        """Go on after a change of the position: let an agent think, or show the position to a person."""
        session = self._session
        self._record, self._heat, self._hint = session.record(), None, None
        if session.done:
            self._seat = session.persons[0] if self._seat is None else self._seat
        elif session.mover not in session.persons:
            self._think("answer", session.choose_action)
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

    def _use_thought(self, thought: Thought) -> None:
        if thought.session is not self._session:
            return  # a game that was left
        self._thinking = ""
        if isinstance(thought.result, Exception):
            self._show()
            raise thought.result
        if thought.kind == "answer":
            self._session.finish_turn(thought.result)
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

    def _check_turn(self) -> None:
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
            self._reply("position", **now)
