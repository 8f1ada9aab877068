"""A board: what a person sees of the game in a room, and what happens to it there."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pbm_envs.records import GameRecord

from .branches import opened, rematch
from .exercises import ExerciseOrders
from .kept import KeptGames
from .limits import Limits
from .messages import position
from .page import board_svg
from .rooms import HERE, VIEW, WATCH, Room
from .session import PERSON, Session
from .start import Message, Start
from .thinking import Advice, Thinking, Thought


class Board(ExerciseOrders):
    """A board. All of it runs in one thread.

    The game is in a `Room`, which other boards may share.
    """

    def __init__(
        self,
        reply: Callable[..., None],
        start: Start,
        deliver: Callable[[Thought | Room], None],
        records: Sequence[GameRecord],
        limits: Limits | None,
        kept: KeptGames,
    ) -> None:
        """Prepare a board without starting a game, which `begin` or the first hello does.

        Args:
            reply: Called with the type and the other fields of each message to the person.
            start: The first game.
            deliver: Called with each `Thought`, in the thread of an agent, and with the room when another board has
                changed the game; `use_thought` and `refresh` take them.
            records: Games that can be opened by number; if there are any, the first is opened instead of `start`.
            limits: The limits on agents; None for no limits.
            kept: The store of this game and of earlier games.
        """
        self._reply, self._start, self._records, self._limits, self._kept = reply, start, records, limits, kept
        self.thinking = Thinking(deliver)
        self._deliver = deliver
        self._room: Room
        self.role = HERE
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

    def use_thought(self, thought: Thought) -> None:
        """Play or show an agent's result, unless its game was left; raise the exception that the agent raised."""
        with self._room.lock:
            self._check_clock()
            if not self.thinking.finish(thought):
                return
            if self._room.thinker is self and thought.kind == "answer":
                self._room.thinker = None
            if isinstance(thought.result, Exception):
                self._show()
                raise thought.result
            if thought.kind == "answer":
                self._session.finish_turn(thought.result)
                self._advance(show=self._exercise is None)
            else:
                if thought.plies == self._session.plies:
                    self._advice.take(thought.kind, thought.result, self._seat)
                self._show()

    def wake(self, room: Room) -> None:
        """Note that another board has changed the game in the room."""
        self._deliver(room)

    def refresh(self, room: Room) -> None:
        """Show what another board has changed."""
        with room.lock:
            if room is not self._room or self.record is None:
                return
            if room.start is not self._start or self._watches_another_side():
                self._sit_down()
            self._session.persons = room.seats(self.role)
            self._check_clock()
            self._advance(show=self._exercise is None, changed=False)

    def close(self) -> None:
        """Leave the game; called in the thread of the board."""
        self.thinking.close()
        self._leave()

    def _leave(self) -> None:
        if self.record is not None:
            with self._room.lock:
                self._room.leave(self)

    @property
    def picture(self) -> str:
        """The board in SVG as its person sees it; "" while nobody may see it."""
        if self.record is None or self._seat is None:
            return ""
        return board_svg(self._session.game.scene(self._session.seen(self._session.plies, self._seat)), self._theme)

    @property
    def room(self) -> Room | None:
        """The room in which the game is played; None before it has begun."""
        return None if self.record is None else self._room

    @property
    def _on_board(self) -> tuple[Session, int | None]:
        """The game on the board, or the one of the exercise that covers it, and the seat of the person."""
        exercise = self._exercise
        return (self._session, self._seat) if exercise is None else (exercise.session, exercise.seat)

    @property
    def name(self) -> str:
        """The name of the game."""
        return self._start.game.name

    def _resume(self, address: str) -> None:
        """Enter the room of a link; if that is impossible, send a note, and a new game starts instead."""
        try:
            room, role = Room.enter(address, self._kept, self._limits)
        except (ValueError, ImportError, KeyError, TypeError) as error:
            self._reply("note", text=f"The earlier game cannot be resumed: {error}")
            return
        if self.record is None or (room, role) != (self._room, self.role):
            self._leave()
            with room.lock:
                self._enter(room, role)
                self._advance(show=False, changed=False)

    def _begin(self, start: Start, *, warn: bool = False) -> None:
        """Begin another game; change nothing if its start is invalid."""
        self.thinking.check_busy()
        self._take(start, start.session())
        if warn:
            self._warn()
        self._advance()

    def _take_record(self, record: GameRecord) -> None:
        session = opened(record)
        self._take(Start(session.game, session.players), session, kept=False)
        self._opened, self._ply = True, 0

    def _take(self, start: Start, session: Session, *, kept: bool = True) -> None:
        """Put a game on the board, in a room of its own."""
        self._leave()
        self._enter(Room(start, session, self._kept if kept else None), HERE)

    def _enter(self, room: Room, role: str) -> None:
        """Enter a room; another one has been left before."""
        self._room, self.role, self._exercise = room, role, None
        room.members.append(self)
        room.follow_clock()
        self._sit_down()
        room.wake_others(self)

    def _sit_down(self) -> None:
        """Show the game of the room."""
        start, session = self._room.start, self._room.session.at_board(self._room.seats(self.role))
        self._session, self._start, self._opened = session, start, False
        limits = self._limits
        named = {*start.players, start.hint} - {PERSON, None}
        limited = limits is not None and not named <= set(limits.own_agents)
        self.thinking.begin(session, limits.seconds if limits is not None and limited else math.inf)
        self._advice = Advice(session, start, self.thinking)
        self._ply, self._warned = None, False
        own = session.persons
        if session.game.perfect_information:
            self._seat = session.mover if session.mover in own else (*own, 0)[0]
        elif not own and self._room.session.persons:
            self._seat = self._room.seat_watched(self.role)
        else:
            self._seat = None if len(own) > 1 else (*own, 0)[0]

    def _watches_another_side(self) -> bool:
        """Return whether a player has started or stopped showing their side to this spectator."""
        watches = not self._session.persons and bool(self._room.session.persons)
        hidden = not self._session.game.perfect_information
        return watches and hidden and self._seat != self._room.seat_watched(self.role)

    def _check_clock(self) -> None:
        """Remove the player to move from the game if that player's time is over."""
        if self._room.start is self._start and self._room.flag_fell():
            self._advance(show=self._exercise is None)

    def _rematch(self, exchange: bool) -> None:
        if self._others():
            self._room.replace(rematch(self._start, exchange=exchange), exchange=exchange)
            self._sit_down()
            self._advance()
        else:
            self._begin(rematch(self._start, exchange=exchange))

    def _others(self) -> list[int]:
        """Return the seats of persons at other boards."""
        return [seat for seat in self._room.session.persons if seat not in self._session.persons]

    def _waits_for_consent(self, request: Message) -> bool:
        """Request something of the persons at other boards; return False if there are none."""
        if not self._session.persons and PERSON in self._session.players:
            raise ValueError("you only watch this game")
        if not self._others():
            return False
        self._room.request = request | {"role": self.role}
        self._room.wake_others(self)
        self._show()
        return True

    def _request(self) -> Message:
        """Return what another person requests of the person at this board; ValueError if there is nothing."""
        request = self._room.request
        if request is None or request["role"] == self.role or not self._session.persons:
            raise ValueError("nothing was requested of you")
        self._check_idle()
        return request

    def _advance(self, *, show: bool = True, changed: bool = True) -> None:
        """Continue after a change of the position: let an agent think, or show the position to a person.

        Args:
            show: Whether to send the position.
            changed: Whether this board has changed the game, so that the other boards must hear of it.
        """
        session, room = self._session, self._room
        self.record = session.record()
        self._advice.forget_position()
        if self._ply is not None and self._ply >= session.plies:
            self._ply = None  # the position that was shown has been taken back
        if changed:
            room.changed, room.request = True, None
            room.follow_clock()
        if session.done:
            self._seat = session.persons[0] if self._seat is None else self._seat
        elif PERSON not in session.players:
            if self.thinking.pace is not None and room.thinker is None:
                room.thinker = self
                self.thinking.choose_at_pace()
        elif session.players[session.mover] != PERSON:
            if room.thinker is None:
                room.thinker = self
                seconds = math.inf if room.clock is None else room.clock.agent_seconds()
                self.thinking.think("answer", session.choose_action, seconds)
        elif session.game.perfect_information and session.mover in session.persons:
            self._seat = session.mover
        if show:
            self._show()
        if changed:
            room.wake_others(self)

    def _warn(self) -> None:
        """Send the game's remark to the person, such as that every game is a draw with these options."""
        self._warned = True
        if remark := self._session.game.remark:
            self._reply("note", text=f"{remark[:1].upper()}{remark[1:]}.")

    def _check_idle(self) -> None:
        if self.thinking.kind or self._room.thinker is not None:
            raise ValueError("an agent is thinking: wait for its move")

    def _check_turn(self) -> None:
        self._check_idle()
        if self._session.done:
            raise ValueError("the game is over: expected undo, save or a new game")
        if self._seat != self._session.mover or not self._session.persons:
            raise ValueError("it is not your turn")

    def _show(self) -> None:
        if not self.greeted:
            return
        session, room = self._session, self._room
        request = room.request and {"what": room.request["what"], "mine": room.request["role"] == self.role}
        table = {
            "role": self.role,
            "watches": self.role == WATCH or self.role.startswith(VIEW),
            "request": request,
            "absent": room.absent(),
            "others": self._others(),
            "shown": room.shown(session.persons),
        }
        if self._exercise is not None:
            shown = self._exercise.position(self._theme)
            self._reply("position", **shown, watching=None, table=table | {"absent": []}, clock=None, round=room.round)
            return
        played_by_agents = self._opened or PERSON not in session.players
        watching = {"pace": self.thinking.pace, "opened": self._opened} if played_by_agents else None
        if address := room.address(self.role):
            played = session.plies > session.given and bool(session.persons)
            self._reply("kept", address=address, played=played, done=session.done)
        thinking = self.thinking.kind or ("answer" if room.thinker else "")
        shown = position(session, self._seat, self._advice, thinking, self._ply, self._theme, everything=self._opened)
        clock = room.clock and room.clock.message()
        self._reply("position", **shown, watching=watching, table=table, clock=clock, round=room.round)
