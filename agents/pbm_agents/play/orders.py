"""The commands of a person at a board, one per message (`table` lists the messages), and the game that they change."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from pbm_envs import registered_games
from pbm_envs.authoring import NOBODY
from pbm_envs.records import GameRecord
from pbm_envs.render import THEMES

from .board import Board
from .branches import branch
from .exercises import EXERCISE_ORDERS
from .messages import belongs_to_another_person, explanation, symbols
from .page import rules_html, short_rules
from .rooms import HERE, WATCH
from .session import PERSON
from .start import (
    LEVELS,
    Message,
    form_choices,
    form_picture,
    game_form,
    number_of,
    parse_start,
    text_of,
    texts_of,
)

LONGEST_RECORD = 100_000
"""The largest number of characters in a record."""
LONGEST_PAUSE = 60
"""The largest number of seconds per move when agents play each other."""
ORDERS = ("hello", "play", "undo", "hint", "analyse", "values", "look", "branch", "rematch", "pace", "open", "pictures",
          "choices", "rules", "explain", *EXERCISE_ORDERS, "save", "hide", "sit", "new", "invite", "conceal", "agree",
          "decline")  # fmt: skip
"""The commands that a message may name: methods of `Orders`."""
ORDERS_OF_A_GAME = ("play", "undo", "hint", "analyse", "values", "look", "branch", "rematch", "pace", "explain", "save",
                    "hide", "sit", "invite", "conceal", "agree", "decline")  # fmt: skip
"""The commands about the game on the board. They are refused if they name an earlier game by its number ("round")."""
DURING_EXERCISES = (
    "hello",
    "play",
    "branch",
    "explain",
    "rules",
    "pictures",
    "choices",
    "new",
    "open",
    *EXERCISE_ORDERS,
)
"""The commands that are accepted while a lesson or a puzzle covers the game."""

_warnings = threading.Lock()
"""Held while warnings are caught, since Python catches them for all threads at once."""


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Silence warnings about options, since the page shows the same text as the game's remark."""
    with _warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@final
class Orders(Board):
    """The commands of the person at a board, each a method that is named in ORDERS."""

    def carry_out(self, message: object) -> None:
        """Carry out a message; if it is invalid, raise ValueError and change nothing."""
        word = message.get("do") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(word, str) or word not in ORDERS:
            raise ValueError(f"expected an object with 'do', one of {', '.join(ORDERS)}")
        if self.record is None and word != "hello":
            raise ValueError("there is no game yet: expected 'hello' first")
        if word == "hello":
            self._greet(message)
        with self._room.lock:
            self._check_clock()
            if self._room.start is not self._start:
                self.refresh(self._room)
            number = self._room.round
            if self._exercise is None and word in ORDERS_OF_A_GAME and message.get("round", number) != number:
                raise ValueError("another game has begun meanwhile: look at the board, and choose again")
            if self._exercise is not None and word not in DURING_EXERCISES:
                raise ValueError("a lesson or a puzzle is on the board: expected 'leave' first")
            getattr(self, word)(message)

    # The orders

    def _greet(self, message: Message) -> None:
        """Begin a game, or enter that of a link."""
        theme = text_of(message, "theme", self._theme)
        if theme not in THEMES:
            raise ValueError(f"theme is {theme!r}: expected one of {', '.join(THEMES)}")
        address = text_of(message, "resume", "")
        self._theme, self.greeted = theme, True
        if address:
            self._resume(address)
        if self.record is None:
            self.begin()

    def hello(self, _: Message) -> None:
        if not self._warned:
            self._warn()
        with _no_warnings():
            games = [game_form(name) for name in registered_games()]
        own = self._limits.own_agents if self._limits else ()
        agents = list(dict.fromkeys([PERSON, "random", *LEVELS.values(), *own]))
        records = [
            {name: getattr(record, name) for name in ("game", "agents", "returns", "plies", "ending")}
            for record in self._records
        ]
        self._reply("setup", games=games, agents=agents, records=records)
        self._show()

    def play(self, message: Message) -> None:
        if self._exercise is not None:
            self._exercise.play(text_of(message, "move"))
            self._show()
            return
        self._check_turn()
        self._session.play(text_of(message, "move"))
        self._advance()

    def undo(self, _: Message) -> None:
        self.thinking.stop("values")
        self._check_idle()
        if not self._waits_for_consent({"what": "undo"}):
            self._session.undo()
            self._advance()

    def hint(self, message: Message) -> None:
        self._check_turn()
        self._ply = None
        self._advice.ask("hint" if message["do"] == "hint" else "analysis", self._session.mover)
        self._show()

    def analyse(self, message: Message) -> None:
        if self._advice.shown:
            self._advice.shown = False
            self._show()
        else:
            self.hint(message)

    def values(self, _: Message) -> None:
        self._check_idle()
        if self._seat is not None:
            self._advice.ask("values", self._seat)
            self._show()

    def look(self, message: Message) -> None:
        """Show an earlier position without interrupting an agent that thinks."""
        plies = self._session.plies
        ply = plies if message.get("ply") is None else number_of(message, "ply", plies)
        self._ply = None if ply == plies else ply
        self._show()

    def branch(self, message: Message) -> None:
        if self._exercise is not None:
            self._begin(self._exercise.play_on())
            return
        session = self._session
        ply = number_of(message, "ply", session.plies)
        if self._seat == NOBODY and not session.done:
            raise ValueError("you only watch, and do not know all that the players know: expected a game that is over")
        if self._seat is None or (len(session.persons) > 1 and not (session.game.perfect_information or session.done)):
            raise ValueError("a new game must not show the other's pieces to one of you: expected a game that is over")
        self._begin(branch(session, self._start, self._seat, ply))

    def rematch(self, message: Message) -> None:
        exchange = message.get("exchange") is True
        if not self._waits_for_consent({"what": "rematch", "exchange": exchange}):
            self._rematch(exchange)

    def agree(self, _: Message) -> None:
        """Consent to what another person has requested."""
        request = self._request()
        if request["what"] == "rematch":
            self._rematch(request["exchange"])
        else:
            self._room.session.at_board(self._room.seats(request["role"])).undo()
            self._advance()

    def decline(self, _: Message) -> None:
        """Refuse what another person has requested, or withdraw one's own request."""
        if self._room.request is None or not self._session.persons:
            raise ValueError("nothing was requested of you")
        self._room.request = None
        self._room.wake_others(self)
        self._show()

    def invite(self, message: Message) -> None:
        """Send the link of a seat, which another person then takes, or of spectators."""
        session = self._session
        if not session.persons:
            raise ValueError("you only watch: expected the link of a player")
        if message.get("view") is not None:
            seat = self._own_side(message, "view")
            self._room.show_side(seat, shown=True)
            self._reply("link", seat=None, view=seat, address=self._room.side_address(seat))
            self._show()
            self._room.wake_others(self)
            return
        if not session.game.public_moves and message.get("seat") is None:
            raise ValueError("spectators cannot follow a game with hidden moves: expected a seat")
        if message.get("seat") is None:
            self._reply("link", seat=None, view=None, address=self._room.address(WATCH))
            return
        seat = number_of(message, "seat", session.game.num_players - 1)
        if self.role != HERE or seat not in session.persons or len(session.persons) < 2:
            raise ValueError(f"'seat' is {seat}: expected one of two or more persons at this screen")
        self._reply("link", seat=seat, view=None, address=self._room.invite(seat))
        session.persons = self._room.seats(self.role)
        if self._seat not in session.persons:
            self._seat = session.persons[0] if len(session.persons) == 1 else None
        self._advance(changed=False)
        self._room.wake_others(self)

    def conceal(self, message: Message) -> None:
        """Stop showing the side of the person at this board to spectators."""
        self._room.show_side(self._own_side(message, "seat"), shown=False)
        self._show()
        self._room.wake_others(self)

    def _own_side(self, message: Message, key: str) -> int:
        """Return the seat of the person at this board; ValueError for another one, whose side they may not show."""
        session = self._session
        seat = number_of(message, key, session.game.num_players - 1)
        if session.game.perfect_information:
            raise ValueError("nothing is hidden in this game: spectators see all of it")
        if seat != self._seat or seat not in session.persons:
            raise ValueError(f"{key!r} is {seat}: expected your own seat, since you can show only your own side")
        return seat

    def new(self, message: Message) -> None:
        with _no_warnings():
            start = parse_start(message, self._start.hint, self._limits)
        self._begin(start, warn=True)

    def pace(self, message: Message) -> None:
        """Set the pace of agents that play each other, or pause and resume them."""
        if PERSON in self._session.players:
            raise ValueError("a person plays: expected a game between agents")
        seconds = message.get("seconds")
        pace = None if seconds is None else float(number_of(message, "seconds", LONGEST_PAUSE))
        for member in self._room.members:
            member.thinking.set_pace(pace)
        if self._room.thinker is None and not self._session.done:
            self._advance()
        else:
            self._show()

    def open(self, message: Message) -> None:
        if "number" in message:
            self._take_record(self._records[number_of(message, "number", len(self._records) - 1)])
        else:
            self._take_record(GameRecord.from_json(text_of(message, "record", None, LONGEST_RECORD)))
        self._advance()

    def choices(self, message: Message) -> None:
        """Send the form the values that are compatible with those already chosen."""
        game = text_of(message, "game")
        self._reply("choices", game=game, choices=form_choices(game, texts_of(message, "options")))

    def pictures(self, _: Message) -> None:
        """Draw the games one by one in a separate thread, since that may compile their rules."""

        def draw(theme: str) -> None:
            for name in registered_games():
                with _no_warnings():
                    svg = form_picture(name, theme)
                self._reply("pictures", svg={name: svg})

        threading.Thread(target=draw, args=(self._theme,), daemon=True).start()

    def rules(self, _: Message) -> None:
        session, seat = self._on_board
        game, shown = session.game, symbols(session, seat, self._theme)
        short = short_rules(game, self._theme)
        html = "" if short else rules_html(game.rules_page())
        self._reply("rules", title=game.wording.title, rules=short, html=html, symbols=shown)

    def explain(self, message: Message) -> None:
        """Say what can be done with a piece, or why no move leads from one cell to another."""
        session, seat = self._on_board
        if seat is not None:
            self._reply("explained", **explanation(session, seat, message.get("cells")))

    def save(self, _: Message) -> None:
        session = self._session
        if not (session.done or session.game.perfect_information):
            raise ValueError("the record reveals what is hidden from you: expected a game that is over")
        self._reply("record", name=f"{session.game.name}.jsonl", text=session.record().to_json() + "\n")

    def hide(self, _: Message) -> None:
        if belongs_to_another_person(self._session, self._seat):
            self._seat = None
        self._show()

    def sit(self, _: Message) -> None:
        if self._seat is None:
            self._seat = self._session.mover
        self._show()
