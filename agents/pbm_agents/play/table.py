"""The protocol of a board to click on: messages in, messages out.

Messages are JSON objects, the same over the web socket of `pbm serve` and in Jupyter. A person sends

    {"do": "hello", "theme": "dark"}     asks for everything again; `theme` is that of the pictures
    {"do": "hello", "resume": "..."}     goes on with the game at this address ("kept", below)
    {"do": "play", "move": "c4x"}        or "resign"
    {"do": "undo"}                       takes back a move
    {"do": "hint"}  {"do": "analyse"}    the adviser's move; its five best moves with numbers: one search for both
    {"do": "values"}                     what the adviser expects at each position of the game
    {"do": "look", "ply": 3}             shows the position after 3 moves, as this seat knew it then; the last one: null
    {"do": "branch", "ply": 3}           a new game from there, in which what was hidden then is drawn anew
    {"do": "rematch", "exchange": true}  the same again, with other seats
    {"do": "pace", "seconds": 1}         how long a move of a game of agents only takes at least; null: it waits
    {"do": "open", "record": "{...}"}    shows the game of a record, a line of JSON; or "number": 1, of those offered
    {"do": "pictures"}                   asks for the pictures of all games, for the form of a new game
    {"do": "choices", "game": "curio", "options": ["base=3"]}    asks which values of the options go with these
    {"do": "rules"}                      asks for the rules and the symbols on this board
    {"do": "save"}                       asks for the record
    {"do": "hide"}  {"do": "sit"}        several persons, hidden information: leave the board to another, take it
    {"do": "new", "game": "curio", "options": ["base=3"], "players": ["person", "random"], "seed": ""}

and receives {"type": "setup", ...} (games, options, agents), {"type": "position", ...} (picture, players, legal moves),
{"type": "kept", "address": ...} (where the game is kept), {"type": "preparing", ...} (rules are being compiled: how
many kernels of how many), {"type": "pictures", "svg": {...}}, {"type": "choices", "choices": {...}},
{"type": "rules", ...}, {"type": "record", "name": ..., "text": ...}, {"type": "note" or "error", "text": ...}. Until
the game is over, all of it is computed from the view of the person at the board.
"""

from __future__ import annotations

import logging
import math
import threading
import warnings
from collections.abc import Callable, Collection, Sequence
from queue import SimpleQueue
from typing import Any, Literal, final

from pbm_envs import registered_games
from pbm_envs.records import GameRecord
from pbm_envs.render import THEMES

from ..common.faults import InfrastructureError
from .ahead import Preparing
from .branches import branch, go_on, keep, opened, rematch
from .kept import KeptGames
from .limits import Limits
from .markdown import html
from .messages import Shown, belongs_to_another_person, position, symbols
from .pictures import board_svg
from .session import PERSON, Session
from .start import (
    SUGGESTED_AGENTS,
    Message,
    Start,
    form_choices,
    form_picture,
    game_form,
    number_of,
    parse_start,
    text_of,
    texts_of,
)
from .thinking import Advice, Thinking, Thought

MAX_WAITING_MESSAGES = 32
"""Messages that may wait; further ones are dropped."""
LONGEST_RECORD = 100_000
"""Characters of a record."""
LONGEST_PAUSE = 60
"""Seconds for a move of agents that play each other."""

_log = logging.getLogger(__name__)
_warnings = threading.Lock()
"""Held while warnings are caught, since Python catches them for all threads at once."""


@final
class Table:
    """One board. It handles messages in a thread of its own, and agents think in further threads (`thinking`)."""

    def __init__(
        self,
        send: Callable[[Message], None],
        start: Start,
        own_agents: Collection[str] | None = None,
        *,
        records: Sequence[GameRecord] = (),
        at_once: bool = True,
        limits: Limits = Limits(),  # noqa: B008  immutable
        kept: KeptGames | None = None,
    ) -> None:
        """Start the game and the thread.

        Args:
            send: Called with each message to the person, in another thread.
            start: The first game.
            own_agents: As in `parse_start`.
            records: Games that can be opened by number; the first one is, instead of `start`.
            at_once: Whether the game begins now, and errors are raised here; else when somebody says hello.
            limits: What agents that are not among `own_agents` may ask for.
            kept: Where the game is kept, and games before it are found.

        Raises:
            ValueError: If the game begins now, and a name, the board or a move is wrong.
        """
        self._limits = limits
        self._kept = KeptGames() if kept is None else kept
        self._address: str | None = None
        self._player = object()
        """What plays the game at the address."""
        self._send = send
        self._own_agents = own_agents
        self._records = records
        self._inbox: SimpleQueue[object] = SimpleQueue()
        self._closed = threading.Event()
        self._thinking = Thinking(self._inbox.put)
        self._greeted = False
        self._theme = "light"
        self._start = start
        self._session: Session | None = None
        self._found: Advice | None = None
        self._record: GameRecord | None = None
        self._seat: int | None = None
        self._ply: int | None = None
        """The ply that is looked at; None for the last one."""
        self._opened = False
        """Whether the game is that of a record."""
        self._warned = False
        self._working = False
        """Whether a message is being handled."""
        self._preparing = Preparing(start.game.name, self._prepare, self._somebody_waits)
        if at_once:
            self._first()
            self._advance()
        threading.Thread(target=self._work, daemon=True).start()

    @property
    def record(self) -> GameRecord:
        """The game so far, with all that is hidden; ValueError before it has begun."""
        if self._record is None:
            raise ValueError("the game has not begun: expected somebody at the board")
        return self._record

    @property
    def picture(self) -> str:
        """The board as the person before it sees it, as SVG; "" while nobody may see it."""
        session, seat = self._session, self._seat
        if session is None or seat is None:
            return ""
        return board_svg(session.game.scene(session.game.view(session.position(session.plies), seat)), self._theme)

    def receive(self, message: object) -> None:
        """Handle a message soon. If anything is wrong with it, the person gets a message that says so."""
        if self._inbox.qsize() < MAX_WAITING_MESSAGES:
            self._inbox.put(message)

    def close(self) -> None:
        """Leave the game: nothing is sent any more, and agents that still think stop."""
        self._closed.set()
        self._preparing.close()
        self._thinking.close()
        self._inbox.put(None)

    def _somebody_waits(self) -> bool:
        return self._working or bool(self._thinking.kind)

    def _prepare(self, message: Message) -> None:
        """Say that rules are being compiled: in whatever thread does it."""
        if not self._closed.is_set():
            self._send(message)

    # All that follows runs in the table's own thread.

    def _work(self) -> None:
        while True:
            message = self._inbox.get()
            if self._closed.is_set():
                return
            self._working = True
            try:
                if isinstance(message, Thought):
                    self._use_thought(message)
                else:
                    self._handle(message)
            except (ValueError, ImportError, InfrastructureError) as error:
                self._reply("error", text=str(error))
            except Exception:
                _log.exception("a board failed at %.200r", message)
                self._reply("error", text="that failed, which is a mistake in the program: its log says more")
            finally:
                self._working = False

    def _reply(self, kind: str, **rest: Any) -> None:
        if self._greeted and not self._closed.is_set():
            self._send({"type": kind, **rest})

    def _handle(self, message: object) -> None:
        handlers: dict[str, Callable[[Message], None]] = {
            "hello": self._hello,
            "play": self._play,
            "undo": self._undo,
            "hint": self._advise,
            "analyse": self._advise,
            "values": self._expect,
            "look": self._look,
            "branch": self._branch,
            "rematch": self._rematch,
            "pace": self._set_pace,
            "open": self._open,
            "pictures": self._pictures,
            "choices": self._choices,
            "rules": self._rules,
            "save": self._save,
            "hide": self._hide,
            "sit": self._sit,
            "new": self._new,
        }
        word = message.get("do") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(word, str) or word not in handlers:
            raise ValueError(f"expected an object with 'do', one of {', '.join(handlers)}")
        handlers[word](message)

    @property
    def _game(self) -> Session:
        if self._session is None:
            raise ValueError("there is no game yet: expected 'hello' first")
        return self._session

    @property
    def _advice(self) -> Advice:
        if self._found is None:
            raise ValueError("there is no game yet: expected 'hello' first")
        return self._found

    def _hello(self, message: Message) -> None:
        theme = text_of(message, "theme", self._theme)
        if theme not in THEMES:
            raise ValueError(f"theme is {theme!r}: expected one of {', '.join(THEMES)}")
        address = text_of(message, "resume", "")
        self._theme, self._greeted = theme, True
        if address:
            self._resume(address)
        if self._session is None:
            self._first()
            self._advance(show=False)
        if not self._warned:
            self._warn()
        with _warnings, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            games = [game_form(name) for name in registered_games()]
        agents = dict.fromkeys([PERSON, *SUGGESTED_AGENTS, *(self._own_agents or ())])
        self._reply("setup", games=games, agents=list(agents), records=[_line(record) for record in self._records])
        self._show()

    def _first(self) -> None:
        if self._records:
            self._show_record(self._records[0])
        else:
            self._begin(self._start, self._start.session())

    def _resume(self, address: str) -> None:
        """Go on with a game; a game that cannot go on is left for a new one, with a word."""
        try:
            start, session = go_on(self._kept.take(address, self._player), self._own_agents, self._limits)
        except (ValueError, ImportError, KeyError, TypeError) as error:
            self._reply("note", text=f"The game before cannot go on: {error}")
            return
        self._address = address
        self._begin(start, session)
        self._advance(show=False)

    def _play(self, message: Message) -> None:
        self._check_turn()
        self._game.play(text_of(message, "move"))
        self._advance()

    def _undo(self, _: Message) -> None:
        self._thinking.check_idle()
        self._game.undo()
        self._advance()

    def _advise(self, message: Message) -> None:
        """Show the adviser's move, or show or hide its numbers."""
        kind: Literal["hint", "analysis"] = "hint" if message["do"] == "hint" else "analysis"
        if kind == "analysis" and self._advice.shown:
            self._advice.shown = False
        else:
            self._check_turn()
            self._ply = None
            self._advice.ask(kind, self._seat)
        self._show()

    def _expect(self, _: Message) -> None:
        self._thinking.check_idle()
        self._advice.expect(self._seat)
        if self._seat is not None:
            self._show()

    def _look(self, message: Message) -> None:
        """Show an earlier position; an agent that thinks goes on."""
        plies = self._game.plies
        ply = plies if message.get("ply") is None else number_of(message, "ply", plies)
        self._ply = None if ply == plies else ply
        self._show()

    def _branch(self, message: Message) -> None:
        self._thinking.check_busy()
        session = self._game
        ply = number_of(message, "ply", session.plies)
        if self._seat is None or (len(session.persons) > 1 and not (session.game.perfect_information or session.done)):
            raise ValueError("what one of you knew must not show the other's pieces: expected a game that is over")
        start = branch(session, self._start, self._seat, ply)
        self._begin(start, start.session())
        self._advance()

    def _rematch(self, message: Message) -> None:
        self._thinking.check_busy()
        start = rematch(self._start, exchange=message.get("exchange") is True)
        self._begin(start, start.session())
        self._advance()

    def _set_pace(self, message: Message) -> None:
        """Set the pace of agents that play each other, or let them wait and go on."""
        session, seconds = self._game, message.get("seconds")
        self._thinking.set_pace(None if seconds is None else float(number_of(message, "seconds", LONGEST_PAUSE)))
        if not self._thinking.kind and not session.persons:
            self._advance()
        else:
            self._show()

    def _open(self, message: Message) -> None:
        if "number" in message:
            self._show_record(self._records[number_of(message, "number", len(self._records) - 1)])
        else:
            self._show_record(GameRecord.from_json(text_of(message, "record", None, LONGEST_RECORD)))
        self._advance()

    def _show_record(self, record: GameRecord) -> None:
        session = opened(record)
        start = Start(session.game, session.players, record.seed, record.board, record.moves[: record.opening])
        self._begin(start, session, opened=True)

    def _choices(self, message: Message) -> None:
        """Tell the form which values still go together with those that have been chosen."""
        game = text_of(message, "game")
        self._reply("choices", game=game, choices=form_choices(game, texts_of(message, "options")))

    def _pictures(self, _: Message) -> None:
        with _warnings, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._reply("pictures", svg={name: form_picture(name, self._theme) for name in registered_games()})

    def _rules(self, _: Message) -> None:
        session = self._game
        self._reply(
            "rules",
            title=session.game.wording.title,
            html=html(session.game.rules_page()),
            symbols=symbols(session, self._seat, self._theme),
        )

    def _save(self, _: Message) -> None:
        session = self._game
        if not (session.done or session.game.perfect_information):
            raise ValueError("the record tells what is hidden from you: expected a game that is over")
        self._reply("record", name=f"{session.game.name}.jsonl", text=self.record.to_json() + "\n")

    def _hide(self, _: Message) -> None:
        if belongs_to_another_person(self._game, self._seat):
            self._seat = None
        self._show()

    def _sit(self, _: Message) -> None:
        if self._seat is None:
            self._seat = self._game.mover
        self._show()

    def _new(self, message: Message) -> None:
        self._thinking.check_busy()
        with _warnings, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a remark of the game says so
            start = parse_start(message, self._own_agents, self._start.hint, self._limits)
        self._preparing.game = start.game.name
        self._begin(start, start.session())
        self._warn()
        self._advance()

    def _warn(self) -> None:
        """Tell the person what they should know of the game, such as that every game is a draw with these options."""
        self._warned = True
        if remark := self._game.game.remark:
            self._reply("note", text=f"{remark[:1].upper()}{remark[1:]}.")

    def _begin(self, start: Start, session: Session, *, opened: bool = False) -> None:
        """Take a game to the board. Nothing is changed if its start was wrong, since the session has been made."""
        self._session, self._start, self._opened = session, start, opened
        self._thinking.begin(session, self._patience)
        self._found = Advice(session, start, self._thinking)
        self._ply, self._warned = None, False
        several = len(session.persons) > 1 and not session.game.perfect_information
        self._seat = None if several else (*session.persons, 0)[0]
        if not several and session.game.perfect_information and session.mover in session.persons:
            self._seat = session.mover
        if opened:
            self._ply = 0

    def _advance(self, *, show: bool = True) -> None:
        """Go on after a change of the position: let an agent think, or show the position to a person."""
        session = self._game
        self._record = session.record()
        self._advice.forget_position()
        if session.done:
            self._seat = session.persons[0] if self._seat is None else self._seat
        elif session.persons and session.mover not in session.persons:
            self._thinking.think("answer", session.choose_action)
        elif session.persons:
            if session.game.perfect_information:
                self._seat = session.mover
        elif self._thinking.pace is not None:
            self._thinking.choose_at_pace()
        if show:
            self._show()

    @property
    def _patience(self) -> float:
        """The seconds after which a search ends, whatever its budget."""
        named = {*self._start.players, *([self._start.hint] if self._start.hint else [])} - {PERSON}
        return math.inf if self._own_agents is None or named <= set(self._own_agents) else self._limits.seconds

    def _use_thought(self, thought: Thought) -> None:
        if not self._thinking.finish(thought):
            return
        if isinstance(thought.result, Exception):
            self._show()
            raise thought.result
        if thought.kind == "answer":
            self._game.finish_turn(thought.result)
            self._advance()
            return
        self._advice.take(thought.kind, thought.result, self._seat)
        self._show()

    def _check_turn(self) -> None:
        self._thinking.check_idle()
        if self._game.done:
            raise ValueError("the game is over: expected undo, save or a new game")
        if self._seat != self._game.mover or not self._game.persons:
            raise ValueError("it is not your turn")

    def _show(self) -> None:
        if not self._greeted:
            return
        session, advice = self._game, self._advice
        shown = Shown(
            thinking=self._thinking.kind,
            hint=advice.hint,
            analysis=advice.analysis,
            values=[advice.values.get(ply) for ply in range(session.plies + 1)] if advice.values else [],
            ply=self._ply,
            theme=self._theme,
            everything=self._opened,
        )
        watching = None if session.persons else {"pace": self._thinking.pace, "opened": self._opened}
        if not self._opened:
            played = session.plies > session.given and bool(session.persons)
            self._address = self._kept.put(self._address, self._player, keep(session, self._start))
            self._reply("kept", address=self._address, played=played, done=session.done)
        self._reply("position", **position(session, self._seat, shown), watching=watching)


def _line(record: GameRecord) -> Message:
    """Return what a list of records says of one."""
    return {
        "game": record.game,
        "agents": list(record.agents),
        "returns": list(record.returns),
        "plies": record.plies,
        "ending": record.ending,
    }
