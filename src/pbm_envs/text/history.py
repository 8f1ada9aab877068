"""What one player has seen of a game, ply by ply: computed from that player's views and `Game.seen_actions` alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from ..core.game import Game
from ..core.state import NO_ACTION, NOBODY, copy_states, single_record
from ..core.types import Record, States


@dataclass(frozen=True)
class SeenPly:
    """One ply as a player has seen it."""

    ply: int
    """Counted from 1."""
    player: int
    """Who has played; NOBODY if the player cannot tell."""
    action: int
    """NO_ACTION if the player has not seen the move."""
    note: str = ""
    """What else there was to see."""


@final
class History:
    """The plies that the viewer of `start`, a view, sees from there on."""

    def __init__(self, game: Game, start: States | Record) -> None:
        self.game = game
        self._last = single_record(start).copy()
        self.player = int(self._last["viewer"])
        self.plies: list[SeenPly] = []

    @property
    def ply(self) -> int:
        """That of the last view."""
        return int(self._last["ply"])

    @property
    def complete(self) -> bool:
        """No ply is missing, from the first of the game on."""
        return [seen.ply for seen in self.plies] == list(range(1, self.ply + 1))

    @classmethod
    def of_game(cls, game: Game, start: States, actions: Sequence[int], player: int) -> History:
        """What `player` has seen of a game.

        Args:
            game: the rules.
            start: (1,) the full state before the first move; it is left as it is.
            actions: of everybody, in order.
            player: whose views are taken.
        """
        states = copy_states(start)
        history = cls(game, game.view(states, player))
        for action in actions:
            [seen] = game.seen_actions(states, [action], player)
            game.step(states, [action])
            history.see(game.view(states, player), int(seen))
        return history

    def see_turn(self, view: States | Record, action: int = NO_ACTION) -> None:
        """The view of a player who is shown the game only at their own turns.

        Of what was played since the last view, the player knows `action`, their own, and the move before this turn;
        plies between these leave nothing to be told.

        Args:
            view: the position now.
            action: what the player has played at the last view, if that was their turn.
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
            action: What the player saw of the move, if the view does not say it (`Game.public_moves`).
            note: What happened instead of a move, such as that somebody was removed.
        """
        after = self._of_player(view)
        before, self._last = self._last, after
        forfeited = note is not None
        shown = int(after["last_action"]) if self.game.public_moves else action
        self.plies.append(
            SeenPly(
                ply=int(after["ply"]),
                player=int(before["to_move"]),
                action=NO_ACTION if forfeited else shown,
                note=note if note is not None else self.game.move_note(before, after),
            )
        )

    def _of_player(self, view: States | Record) -> Record:
        """A copy; ValueError unless it is this player's."""
        record = single_record(view).copy()
        if int(record["viewer"]) != self.player:
            raise ValueError(f"the view is player_{record['viewer']}'s: expected player_{self.player}'s")
        return record
