"""Games that several boards share: each board has a role, and each role a link that nobody can guess."""

from __future__ import annotations

import hmac
import math
import secrets
import threading
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import Any, Protocol, final

from pbm_envs.authoring import NOBODY

from .branches import keep, resume
from .clock import OUT_OF_TIME, Clock
from .kept import KeptGames
from .limits import Limits
from .session import Session
from .start import Message, Start
from .thinking import Thinking

HERE, WATCH, VIEW = "here", "watch", "view"
"""The roles of the board at which the game began, and of spectators, who see what all players can see. Another board
plays one seat, and its role is that seat's number at the first game, such as "1". Spectators of that player's side have
the role "view1"; they see it while the player allows it."""


class Member(Protocol):
    """A board in a room."""

    role: str
    thinking: Thinking

    def wake(self, room: Room) -> None:
        """Note that the room has changed; called in the thread of another board."""


@final
class Room:
    """A game, and the boards at which it is played. `lock` is held while the game changes or is read."""

    def __init__(self, start: Start, session: Session, kept: KeptGames | None) -> None:
        """Open a room for a game. It is kept in `kept`; None for the game of a record."""
        self.start, self.session = start, session
        self.lock = threading.RLock()
        self.members: list[Member] = []
        self.thinker: Member | None = None
        """The board whose agent thinks about the next move."""
        self.request: Message | None = None
        """A takeback or rematch that waits for the consent of the others: "what", "role", and "exchange"."""
        self.round = 1
        """The number of the game among those of this room, which pages send back with their orders."""
        self.touched = -math.inf
        """When a person last did something at one of the boards, by the server's clock."""
        self.changed = True
        """Whether the game differs from the file in which it is kept."""
        self._kept = kept
        self._key: str | None = None
        self._secret = secrets.token_urlsafe(16)
        self._invited: list[str] = []
        """The roles that play at other boards."""
        self._shown: list[str] = []
        """The roles of players who show their side to spectators."""
        self._turned = 0
        """How often the players have moved to the next seat."""
        self.clock: Clock | None = None
        self._set_clock()

    @classmethod
    def enter(cls, address: str, kept: KeptGames, limits: Limits | None) -> tuple[Room, str]:
        """Return the room and the role of a link.

        Raises:
            ValueError: If the link is wrong, the game cannot be resumed, or one of its agents may not play here.
        """
        key, _, rest = address.partition(".")
        role, _, code = rest.partition(".")
        with kept.lock:
            room: Room | None = kept.rooms.get(key)
            if room is None:
                data = kept.take(key)
                room = cls(*resume(data), kept)
                room._key, room.changed = key, False
                room._secret, room._invited, room._turned = data["secret"], data["invited"], data["turned"]
                room._shown = data.get("shown", [])
                room._set_clock(data.get("times"))
            if not hmac.compare_digest(code.encode(), room._code(role).encode()):
                raise ValueError("the link is wrong")
            if limits is not None:
                for name in room.start.players:
                    limits.check(name, room.start.game)
            kept.rooms[key] = room
        return room, role

    def address(self, role: str) -> str:
        """Store the game if it has changed, and return the link of a role; "" for the game of a record."""
        if self._kept is None:
            return ""
        if self.changed:
            secret = {"secret": self._secret, "invited": self._invited, "turned": self._turned}
            secret |= {"shown": self._shown, "times": self.clock and self.clock.keep()}
            self._key = self._kept.put(self._key, keep(self.session, self.start) | secret)
            self._kept.rooms[self._key] = self
            self.changed = False
        return f"{self._key}.{role}.{self._code(role)}"

    def seats(self, role: str) -> list[int]:
        """Return the seats of persons at the boards with this role."""
        if role == HERE:
            return [seat for seat in self.session.persons if self._role_of(seat) not in self._invited]
        return [seat for seat in self.session.persons if self._role_of(seat) == role]

    def invite(self, seat: int) -> str:
        """Give a seat to another board and return its link."""
        role = self._role_of(seat)
        if role not in self._invited:
            self._invited.append(role)
        self.changed = True
        return self.address(role)

    def show_side(self, seat: int, *, shown: bool) -> None:
        """Let spectators see the side of a player, or no longer."""
        role = self._role_of(seat)
        if shown != (role in self._shown):
            (self._shown.append if shown else self._shown.remove)(role)
            self.changed = True

    def side_address(self, seat: int) -> str:
        """Return the link of spectators of a player's side."""
        return self.address(VIEW + self._role_of(seat))

    def shown(self, seats: Sequence[int]) -> list[int]:
        """Return those of the seats whose side spectators may see."""
        return [seat for seat in seats if self._role_of(seat) in self._shown]

    def seat_watched(self, role: str) -> int:
        """Return the seat whose side spectators with this role see; NOBODY if they see what all players can see."""
        return next((k for k in self.shown(self.session.persons) if role == VIEW + self._role_of(k)), NOBODY)

    def absent(self) -> list[int]:
        """Return the seats of persons who have no board open."""
        present = {seat for member in list(self.members) for seat in self.seats(member.role)}
        return [seat for seat in self.session.persons if seat not in present]

    def replace(self, start: Start, *, exchange: bool) -> None:
        """Begin another game in the room, with the players at the next seats if `exchange`."""
        self.start, self.session, self.thinker, self.request, self.changed = start, start.session(), None, None, True
        self._turned += exchange
        self.round += 1
        self._set_clock()

    def follow_clock(self) -> None:
        """Let the clock run as the position and the boards that are open ask for it."""
        if self.clock is not None:
            self.clock.follow(present=any(self.seats(member.role) for member in self.members))

    def flag_fell(self) -> bool:
        """Remove the player to move from the game if that player's time is over; return whether it is."""
        if self.clock is None or not self.clock.has_fallen():
            return False
        self.session.forfeit(OUT_OF_TIME)
        if self.thinker is not None:
            self.thinker.thinking.stop("answer")
            self.thinker = None
        return True

    def wake_all(self) -> None:
        """Tell all boards that a player's time is over."""
        for member in list(self.members):
            member.wake(self)

    def wake_others(self, member: Member) -> None:
        """Tell the other boards that the game has changed."""
        for other in list(self.members):
            if other is not member:
                other.wake(self)

    def leave(self, member: Member) -> None:
        """Take a board out of the room; if its agent was thinking, another board goes on."""
        if member in self.members:
            self.members.remove(member)
        if self.thinker is member:
            self.thinker = None
        if self.clock is not None:
            self.follow_clock()
            self.changed = True
            self.address(HERE)
        self.wake_others(member)

    def _set_clock(self, kept: Any = None) -> None:
        if self.clock is not None:
            self.clock.stop()
        control, self.clock = self.start.clock, None
        if control is not None and self._kept is not None:
            self.clock = Clock(control, self.session, self._kept.timekeeper, self.wake_all, kept)
        self.follow_clock()

    def _role_of(self, seat: int) -> str:
        return str((seat - self._turned) % self.session.game.num_players)

    def _code(self, role: str) -> str:
        digest: Any = hmac.digest(self._secret.encode(), role.encode(), "sha256")
        return urlsafe_b64encode(digest[:12]).decode()
