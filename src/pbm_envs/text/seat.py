"""One seat of a game in words, against opponents who answer at once: what single-player text libraries ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import numpy as np

from ..core.game import Game
from ..envs.memory import new_ids
from ..envs.opponents import RANDOM, single_opponent
from .dialogue import ATTEMPTS, Outcome, TextGame
from .prompts import FULL, PromptStyle


@final
class TextSeat:
    """A TextGame in which all other seats are played by an agent."""

    def __init__(
        self,
        game: Game,
        opponent: Any = "random",
        seat: int | str = RANDOM,
        *,
        style: PromptStyle = FULL,
        attempts: int = ATTEMPTS,
        disguise: int | None = None,
    ) -> None:
        """Take a seat.

        Args:
            game: the rules.
            opponent: an agent, or its name (`pbm_envs.envs.opponents`).
            seat: which player the seat is, or "random", drawn for each game.
            style: how much is told.
            attempts: as in TextGame.
            disguise: as in TextGame.
        """
        seats = range(game.num_players)
        if seat != RANDOM and (isinstance(seat, (bool, str)) or seat not in seats):
            raise ValueError(f"seat is {seat!r}: expected {', '.join(map(str, seats))} or {RANDOM!r}")
        self.table = TextGame(game, style, attempts=attempts, disguise=disguise)
        self._opponent = single_opponent(opponent)
        self._ids = new_ids(game.num_players)
        """What an agent with memory knows the seats of the game by."""
        self._seat = seat
        self._rng = np.random.default_rng()
        self.seat = 0

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a game and play up to the seat's first turn.

        Args:
            seed: of the set-up, the seat and the opponents.
            options: as in `TextGame.reset`.
        """
        if seed is not None:
            self._rng = np.random.default_rng(seed).spawn(1)[0]
        self.table.reset(seed, options)
        self._opponent.end(self._ids)
        self._ids = new_ids(len(self._ids))
        self._opponent.begin(self.table.game, self._ids)
        self.seat = int(self._rng.integers(self.table.game.num_players)) if self._seat == RANDOM else int(self._seat)
        self._opponents()

    @property
    def done(self) -> bool:
        """The game is over, or the seat has left a game that goes on."""
        return self.table.done or self.reward != 0

    @property
    def reward(self) -> float:
        """The seat's return; 0 before its end."""
        return self.table.returns[self.seat]

    def system_prompt(self) -> str:
        """The rules and the form of an answer."""
        return self.table.system_prompt()

    def prompt(self) -> str:
        """The position as the seat sees it."""
        return self.table.prompt(self.seat)

    def legal_moves(self) -> list[str]:
        """The seat's legal moves as they are called in prompts, sorted."""
        words, game = self.table.words, self.table.game
        mask = game.legal_action_mask(self.table.view(self.seat))[0]
        return sorted(words.moves[words.displayed_action(action)] for action in np.flatnonzero(mask).tolist())

    def answer(self, answer: str) -> Outcome:
        """What has become of the seat's answer; if it was played, the opponents have answered too."""
        if self.done:
            raise RuntimeError("the game is over: call reset()")
        outcome = self.table.answer(answer)
        self._opponents()
        return outcome

    def _opponents(self) -> None:
        table = self.table
        while not self.done and table.to_move != self.seat:
            ids = self._ids[table.to_move : table.to_move + 1]
            [action] = self._opponent.answer(table.game, table.view(table.to_move), self._rng, ids)
            table.play(int(action))
