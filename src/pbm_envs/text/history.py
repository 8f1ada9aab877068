"""The plies of a game as one player has seen them, computed only from that player's views and `Game.seen_actions`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ..core.game import Game
from ..core.state import NO_ACTION, NOBODY, Record, States, single_record


@dataclass(frozen=True)
class SeenPly:
    """One ply as a player has seen it."""

    ply: int
    """The number of the ply, counted from 1."""
    player: int
    """The mover; NOBODY if unknown to the player."""
    action: int
    """The action; NO_ACTION if the player has not seen the move."""
    note: str = ""
    """Other information that the player saw, as text."""


@final
class History:
    """The plies that the viewer of `start`, a view, has seen since then."""

    def __init__(self, game: Game, start: States | Record) -> None:
        self.game = game
        self._last = single_record(start).copy()
        self.player = int(self._last["viewer"])
        self.plies: list[SeenPly] = []

    @property
    def ply(self) -> int:
        """The ply of the last view."""
        return int(self._last["ply"])

    @property
    def complete(self) -> bool:
        """True if no ply is missing since the start of the game."""
        return [seen.ply for seen in self.plies] == list(range(1, self.ply + 1))

    def see_turn(self, view: States | Record, action: int = NO_ACTION) -> None:
        """Add a view of a player who sees the game only at their own turns.

        Of the plies since the last view the player knows `action`, their own move if it was their turn, and the move
        just before this turn; the plies in between are missing.
        """
        after = self._of_player(view)
        before, self._last = self._last, after
        if action != NO_ACTION:
            self.plies.append(SeenPly(int(before["ply"]) + 1, self.player, action))
        if int(after["ply"]) > max([0, *(seen.ply for seen in self.plies)]) and after["last_action"] != NO_ACTION:
            opponent = 1 - self.player if self.game.num_players == 2 else NOBODY
            self.plies.append(SeenPly(int(after["ply"]), opponent, int(after["last_action"])))

    def see(self, view: States | Record, action: int = NO_ACTION, note: str | None = None) -> None:
        """Add a ply.

        Args:
            view: The player's view after the ply.
            action: The action as the player saw it, used if moves are not public (`Game.public_moves`).
            note: An event in place of a move, such as the removal of a player.
        """
        after = self._of_player(view)
        before, self._last = self._last, after
        if note is not None:
            action = NO_ACTION
        else:
            action = int(after["last_action"]) if self.game.public_moves else action
            note = self.game.move_note(before, after)
        self.plies.append(SeenPly(int(after["ply"]), int(before["to_move"]), action, note))

    def _of_player(self, view: States | Record) -> Record:
        """Return a copy of a view; ValueError unless it is this player's."""
        record = single_record(view).copy()
        if int(record["viewer"]) != self.player:
            raise ValueError(f"the view is player_{record['viewer']}'s: expected player_{self.player}'s")
        return record
