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
import secrets
import threading
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from queue import SimpleQueue
from typing import Any, Literal, TypeAlias, final

import numpy as np

from pbm_envs import GAMES, Game
from pbm_envs.records import DRAWN, FORFEITED, PLY_LIMIT, RESIGNED, GameRecord
from pbm_envs.render import THEMES, svg

from ..agent import Agent, Views
from ..arena import Opening
from ..mcts import SearchAgent
from ..names import KINDS, make_agent
from ..options import allowed, class_of, defaults, game_of, summary
from ..search import SearchResult
from .session import AGENT, PERSON, Session, seats

Message: TypeAlias = dict[str, Any]
AGENTS = ("random", "mcts:simulations=100", AGENT, "mcts:simulations=10000", "mcts:seconds=2", "pimc:simulations=1000")
"""What the form for a new game offers; others can be typed."""
MOST_WAITING = 32
"""Messages that wait; further ones are dropped."""
MOST_THOUGHTS = 4
"""Agents that think at once, those of games that were left included."""
FILES = {"network", "file"}
"""Kinds of agents and options of theirs that name files."""
TOLD = 5
"""Moves of which the adviser's thinking is told in numbers."""
LONGEST = 200
"""Characters of a text that a person sends."""

_log = logging.getLogger(__name__)
_warnings = threading.Lock()
"""Held by who catches warnings, which Python does for all threads at once."""


@dataclass(frozen=True)
class Start:
    """A game to play."""

    game: Game
    players: tuple[str, ...]
    """By seat: PERSON, at least once, or an agent's name."""
    seed: int | None = None
    """None: another one each time, too long to be found by trying."""
    board: str | None = None
    moves: tuple[str, ...] = ()
    hint: str | None = None
    """The adviser; None: as the first opponent that searches, else AGENT."""

    def session(self) -> Session:
        """The game, set up. ValueError if it cannot be."""
        if PERSON not in self.players:
            raise ValueError(f"players are {', '.join(self.players)}: expected {PERSON!r} among them")
        self.adviser()
        seed = secrets.randbits(63) if self.seed is None else self.seed
        return Session(self.game, self.players, Opening(seed, self.board, self.moves))

    def adviser(self) -> Agent:
        """A new one: it has seen nothing of what the opponent sees."""
        if self.hint is not None:
            return make_agent(self.hint)
        opponents = [make_agent(name) for name in self.players if name != PERSON]
        return next((agent for agent in opponents if isinstance(agent, SearchAgent)), make_agent(AGENT))


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
        """`send` is called in other threads, message by message. `own_agents`: who may play in a new game beside the
        agents that are named by numbers alone, without files and modules; None: whoever can be named.
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
        self._advance()
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
        theme = _text(message, "theme", self._theme)
        if theme not in THEMES:
            raise ValueError(f"theme is {theme!r}: expected one of {', '.join(THEMES)}")
        self._theme, self._greeted = theme, True
        with _warnings:
            games = [_form(name) for name in GAMES]
        agents = dict.fromkeys([PERSON, *AGENTS, *(self._own_agents or ())])
        self._tell("setup", games=games, agents=list(agents))
        self._show()

    def _play(self, message: Message) -> None:
        self._at_the_board()
        self._session.play(_text(message, "move"))
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
        if self._hands_over():
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
            start = self._ordered(message)
            self._begin(start)
        for warning in caught:
            self._tell("note", text=str(warning.message))
        self._advance()

    def _ordered(self, message: Message) -> Start:
        game = game_of(_text(message, "game"), _texts(message, "options"))
        players = seats(game, _texts(message, "players"))
        for name in players:
            if not (self._own_agents is None or name == PERSON or name in self._own_agents or _by_numbers(name)):
                raise ValueError(
                    f"{name!r} names a file or a module: expected it to be named where the server is started"
                )
        seed = _text(message, "seed", "").strip()
        if seed and not (seed.isascii() and seed.isdigit()):
            raise ValueError(f"seed is {seed!r}: expected an integer from 0 up, or nothing")
        return Start(game, players, int(seed) if seed else None, hint=self._start.hint)

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

    def _hands_over(self) -> bool:
        """Another person is to move than the one who sits here, and must not see what that one sees."""
        session = self._session
        return not session.done and self._seat != session.mover and session.mover in session.persons

    def _show(self) -> None:
        self._tell("position", **self._position())

    def _position(self) -> Message:
        session, seat = self._session, self._seat
        if seat is None:
            return {"curtain": f"player_{session.mover}", "game": session.game.name}
        game, view = session.game, seen(session, seat)
        own = not session.done and session.mover == seat and not self._thinking
        actions = session.legal() if own else []
        return {
            "curtain": None,
            "game": game.name,
            "options": {name: _typed(value) for name, value in game.options.items()},
            "seats": list(session.players),
            "svg": svg(game.scene(view, heat=None if self._heat is None else self._heat.visits), None, self._theme),
            "headline": self._headline(view),
            "players": [
                {
                    "name": self._name(player),
                    "role": game.role(view[0], player),
                    "to move": not session.done and session.mover == player,
                    "return": float(view["returns"][0, player]) if session.done else None,
                }
                for player in range(game.num_players)
            ],
            "moves": [{"move": move, "player": player} for move, player in session.moves],
            "legal": [_move(game, action) for action in actions if action != game.resign],
            "hint": None if self._hint is None else _move(game, game.string_to_action(self._hint)),
            "heat": None if self._heat is None else _numbers(self._heat),
            "thinking": self._thinking,
            "done": session.done,
            "hand over": self._hands_over(),
            "can undo": not self._thinking and any(player in session.persons for _, player in session.moves),
            "can save": session.done or game.perfect_information,
        }

    def _name(self, player: int) -> str:
        name = self._session.players[player]
        if name != PERSON:
            return name
        return "you" if len(self._session.persons) == 1 else f"player_{player}"

    def _headline(self, view: Views) -> str:
        session = self._session
        if not session.done:
            mover = self._name(session.mover)
            if self._thinking == "answer":
                return f"{mover} is thinking"
            return "your move" if session.mover == self._seat else f"{mover} is to move"
        returns, ending = session.state["returns"][0], self._record.ending
        if ending == PLY_LIMIT:
            return "drawn by the ply limit"
        if ending == DRAWN or returns.max() < 1:
            return "drawn"
        winner = self._name(int(returns.argmax()))
        won = "you have won" if winner == "you" else f"{winner} has won"
        if ending not in (RESIGNED, FORFEITED):
            return won
        loser = self._name(session.moves[-1][1] or 0)
        reason = self._record.forfeits[-1].reason if ending == FORFEITED else RESIGNED
        return f"{won}: {loser} {'' if reason == RESIGNED else 'forfeited by '}{reason}"


def seen(session: Session, seat: int) -> Views:
    """What the person in `seat` may see, a batch of one: their view; when the game is over, everything, from there."""
    if not session.done:
        return session.view(seat)
    state = session.state.copy()
    state["viewer"] = seat
    return state


@cache
def _form(name: str) -> Message:
    """What a person can choose in the game `name`."""
    options = []
    for option, default in defaults(name).items():
        expected = allowed(name, option)
        choices = ["true", "false"] if expected == "true or false" else []
        if expected.startswith("one of ") and isinstance(default, str):
            choices = expected.removeprefix("one of ").split(", ")
        options.append({"name": option, "default": _typed(default), "allowed": expected, "choices": choices})
    return {"name": name, "about": summary(class_of(name)), "options": options}


def _by_numbers(name: str) -> bool:
    """Whether an agent's name names no file and no module."""
    kind, _, rest = name.partition(":")
    options = {part.partition("=")[0].strip() for part in rest.split(",")}
    return (kind in KINDS or not rest) and not FILES & {kind, *options}


def _typed(value: Any) -> str:
    """The value of an option as a person types it."""
    return str(value).lower()


def _move(game: Game, action: int) -> Message:
    return {"move": game.action_to_string(action), "cells": list(game.action_cells(action))}


def _numbers(result: SearchResult) -> list[Message]:
    """The best move, then the most visited."""
    order = sorted(np.flatnonzero(result.visits).tolist(), key=lambda a: (a != result.best, -result.visits[a]))
    return [
        {
            **_move(result.game, action),
            "share": float(result.visits[action] / result.visits.sum()),
            "value": float(result.values[action]),
            "proven": bool(result.settled[action]),
        }
        for action in order[:TOLD]
    ]


def _text(message: Message, key: str, default: str | None = None) -> str:
    text = message.get(key, default)
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"{key!r} is {str(text)[:LONGEST]!r}: expected a text of at most {LONGEST} characters")
    return text


def _texts(message: Message, key: str) -> list[str]:
    texts = message.get(key, [])
    if not isinstance(texts, list) or len(texts) > LONGEST:
        raise ValueError(f"{key!r} is {str(texts)[:LONGEST]!r}: expected a list of texts")
    return [_text({key: text}, key) for text in texts]
