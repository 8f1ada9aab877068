"""The commands of a person at a board, one per message (`table` lists the messages), and the game that they change."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import final

from pbm_envs import registered_games
from pbm_envs.records import GameRecord
from pbm_envs.render import THEMES

from .branches import branch, keep, opened, rematch, resume
from .exercises import EXERCISE_ORDERS, ExerciseOrders
from .kept import KeptGames
from .limits import Limits
from .messages import belongs_to_another_person, explanation, position, symbols
from .page import board_svg, rules_html, short_rules
from .session import PERSON, Session
from .start import (
    LEVELS,
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

LONGEST_RECORD = 100_000
"""The largest number of characters in a record."""
LONGEST_PAUSE = 60
"""The largest number of seconds per move when agents play each other."""
ORDERS = ("hello", "play", "undo", "hint", "analyse", "values", "look", "branch", "rematch", "pace", "open", "pictures",
          "choices", "rules", "explain", *EXERCISE_ORDERS, "save", "hide", "sit", "new")  # fmt: skip
"""The commands that a message may name: methods of `Orders`."""
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

TAKEN = "This game continues in another tab."
_warnings = threading.Lock()
"""Held while warnings are caught, since Python catches them for all threads at once."""


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Silence warnings about options, since the page shows the same text as the game's remark."""
    with _warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@final
class Orders(ExerciseOrders):
    """A game at a board, and the commands of the person there. All of it runs in one thread."""

    def __init__(
        self,
        reply: Callable[..., None],
        start: Start,
        deliver: Callable[[Thought], None],
        records: Sequence[GameRecord],
        limits: Limits | None,
        kept: KeptGames,
    ) -> None:
        """Prepare a board without starting a game, which `begin` or the first hello does.

        Args:
            reply: Called with the type and the other fields of each message to the person.
            start: The first game.
            deliver: Called with each `Thought`, in the thread of an agent; `use_thought` takes it.
            records: Games that can be opened by number; if there are any, the first is opened instead of `start`.
            limits: The limits on agents; None for no limits.
            kept: The store of this game and of earlier games.
        """
        self._reply, self._start, self._records, self._limits, self._kept = reply, start, records, limits, kept
        self.thinking = Thinking(deliver)
        self._address: str | None = None
        self._away = False
        """True once another board has resumed the game at the address."""
        self._theme = "light"
        self._session: Session
        self._advice: Advice
        self.record: GameRecord | None = None
        """The game so far, with all hidden information; None before it has begun."""
        self._seat: int | None = None
        self._ply: int | None = None
        """The ply that is shown; None for the last one."""
        self.greeted = False
        """True once a hello has arrived."""
        self._opened = self._warned = False
        """Two flags: the game was opened from a record, and its remark has been sent."""

    def begin(self) -> None:
        """Start the first game; ValueError if a name, the board or a move is wrong."""
        if self._records:
            self._take_record(self._records[0])
        else:
            self._take(self._start, self._start.session())
        self._advance(show=False)

    def carry_out(self, message: object) -> None:
        """Carry out a message; if it is invalid, raise ValueError and change nothing."""
        word = message.get("do") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(word, str) or word not in ORDERS:
            raise ValueError(f"expected an object with 'do', one of {', '.join(ORDERS)}")
        if self.record is None and word != "hello":
            raise ValueError("there is no game yet: expected 'hello' first")
        if self._away and not (word == "hello" and message.get("resume")):
            self._reply("taken", text=TAKEN)
        elif self._exercise is not None and word not in DURING_EXERCISES:
            raise ValueError("a lesson or a puzzle is on the board: expected 'leave' first")
        else:
            getattr(self, word)(message)

    def use_thought(self, thought: Thought) -> None:
        """Play or show an agent's result, unless its game was left; raise the exception that the agent raised."""
        if not self.thinking.finish(thought) or self._away:
            return
        if isinstance(thought.result, Exception):
            self._show()
            raise thought.result
        if thought.kind == "answer":
            self._session.finish_turn(thought.result)
            self._advance(show=self._exercise is None)
        else:
            self._advice.take(thought.kind, thought.result, self._seat)
            self._show()

    @property
    def picture(self) -> str:
        """The board in SVG as its person sees it; "" while nobody may see it."""
        if self.record is None or self._seat is None:
            return ""
        return board_svg(self._session.game.scene(self._session.view(self._seat)), self._theme)

    @property
    def _on_board(self) -> tuple[Session, int | None]:
        """The game on the board, or the one of the exercise that covers it, and the seat of the person."""
        exercise = self._exercise
        return (self._session, self._seat) if exercise is None else (exercise.session, exercise.seat)

    @property
    def name(self) -> str:
        """The name of the game."""
        return self._start.game.name

    # The orders

    def hello(self, message: Message) -> None:
        theme = text_of(message, "theme", self._theme)
        if theme not in THEMES:
            raise ValueError(f"theme is {theme!r}: expected one of {', '.join(THEMES)}")
        address = text_of(message, "resume", "")
        self._theme, self.greeted = theme, True
        if address:
            self._resume(address)
        if self.record is None:
            self.begin()
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
        self.thinking.check_idle()
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
        self.thinking.check_idle()
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
        if self._seat is None or (len(session.persons) > 1 and not (session.game.perfect_information or session.done)):
            raise ValueError("what one of you knew must not show the other's pieces: expected a game that is over")
        self._begin(branch(session, self._start, self._seat, ply))

    def rematch(self, message: Message) -> None:
        self._begin(rematch(self._start, exchange=message.get("exchange") is True))

    def new(self, message: Message) -> None:
        with _no_warnings():
            start = parse_start(message, self._start.hint, self._limits)
        self._begin(start, warn=True)

    def pace(self, message: Message) -> None:
        """Set the pace of agents that play each other, or pause and resume them."""
        session, seconds = self._session, message.get("seconds")
        self.thinking.set_pace(None if seconds is None else float(number_of(message, "seconds", LONGEST_PAUSE)))
        if not self.thinking.kind and not session.persons:
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

    # Shared parts

    def _resume(self, address: str) -> None:
        """Resume a game; if that is impossible, send a note, and a new game starts instead."""
        try:
            start, session = resume(self._kept.take(address, self._leave), self._limits)
        except (ValueError, ImportError, KeyError, TypeError) as error:
            self._reply("note", text=f"The game before cannot go on: {error}")
            return
        self._address, self._away = address, False
        self._take(start, session)
        self._advance(show=False)

    def _leave(self) -> None:
        """Hand the game over to another board; called in that board's thread."""
        self._away = True
        self._reply("taken", text=TAKEN)

    def _begin(self, start: Start, *, warn: bool = False) -> None:
        """Begin another game; change nothing if its start is invalid."""
        self.thinking.check_busy()
        self._take(start, start.session())
        if warn:
            self._warn()
        self._advance()

    def _take_record(self, record: GameRecord) -> None:
        session = opened(record)
        self._take(Start(session.game, session.players), session)
        self._opened, self._ply = True, 0

    def _take(self, start: Start, session: Session) -> None:
        """Put a game on the board."""
        self._session, self._start, self._opened, self._exercise = session, start, False, None
        limits = self._limits
        named = {*start.players, start.hint} - {PERSON, None}
        limited = limits is not None and not named <= set(limits.own_agents)
        self.thinking.begin(session, limits.seconds if limits is not None and limited else math.inf)
        self._advice = Advice(session, start, self.thinking)
        self._ply, self._warned = None, False
        if session.game.perfect_information:
            self._seat = session.mover if session.mover in session.persons else (*session.persons, 0)[0]
        else:
            self._seat = None if len(session.persons) > 1 else (*session.persons, 0)[0]

    def _advance(self, *, show: bool = True) -> None:
        """Continue after a change of the position: let an agent think, or show the position to a person."""
        session = self._session
        self.record = session.record()
        self._advice.forget_position()
        if session.done:
            self._seat = session.persons[0] if self._seat is None else self._seat
        elif not session.persons:
            if self.thinking.pace is not None:
                self.thinking.choose_at_pace()
        elif session.mover not in session.persons:
            self.thinking.think("answer", session.choose_action)
        elif session.game.perfect_information:
            self._seat = session.mover
        if show:
            self._show()

    def _warn(self) -> None:
        """Send the game's remark to the person, such as that every game is a draw with these options."""
        self._warned = True
        if remark := self._session.game.remark:
            self._reply("note", text=f"{remark[:1].upper()}{remark[1:]}.")

    def _check_turn(self) -> None:
        self.thinking.check_idle()
        if self._session.done:
            raise ValueError("the game is over: expected undo, save or a new game")
        if self._seat != self._session.mover or not self._session.persons:
            raise ValueError("it is not your turn")

    def _show(self) -> None:
        if not self.greeted:
            return
        if self._exercise is not None:
            self._reply("position", **self._exercise.position(self._theme), watching=None)
            return
        session = self._session
        watching = None if session.persons else {"pace": self.thinking.pace, "opened": self._opened}
        if not self._opened:
            played = session.plies > session.given and bool(session.persons)
            self._address = self._kept.put(self._address, self._leave, keep(session, self._start))
            self._reply("kept", address=self._address, played=played, done=session.done)
        shown = position(
            session, self._seat, self._advice, self.thinking.kind, self._ply, self._theme, everything=self._opened
        )
        self._reply("position", **shown, watching=watching)
