"""Who sits opposite, when games are played from one seat.

An opponent is an agent, with `act(game, views, rng) -> actions` (views and actions (B,)), such a function itself, or a
name that `pbm_agents.make_agent` knows ("random", "mcts:simulations=50", "module:attribute"). Of a list one is drawn
for each game. It plays all other seats of a game. All games that wait for the same opponent are put to it as one batch.

Seats, draws and the opponents' luck follow from the seed of the first game that is given one, as one stream for all
games: the same seeds give the same games, but against an opponent that plays at random a game is not the same beside
others as alone.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from .game import Game
from .lockstep import Lockstep, Rows
from .state import Rng, States, taken, whole

Act: TypeAlias = Callable[[Game, States, Rng], Any]
RANDOM = "random"
"""A seat, drawn for each game."""
ATTEMPTS = 100
"""At a game in which the learner's turn comes."""


@final
class Opponents:
    """The other seats of `games`. `seats` (N,) are the learner's."""

    def __init__(self, games: Lockstep, opponent: Any, seat: int | str) -> None:
        players = games.game.num_players
        if seat != RANDOM and (isinstance(seat, (bool, str)) or seat not in range(players)):
            known = ", ".join(map(str, range(players)))
            raise ValueError(f"seat is {seat!r}: expected {known} or {RANDOM!r}")
        named = list(opponent) if isinstance(opponent, (list, tuple)) else [opponent]
        if not named:
            raise ValueError("opponent is an empty list: expected at least one")
        self._acts = [_act(one) for one in named]
        self._named = named
        self._games = games
        self._seat = seat
        self._rng = np.random.default_rng()
        self.seats = np.zeros(len(games.states), np.int8)
        self._who = np.zeros(len(games.states), np.int64)

    def info(self) -> dict[str, NDArray[Any]]:
        return {"seat": self.seats.copy(), "opponent": self._who.copy()}

    def sit(self, rows: Rows, seeded: Sequence[Rng] = (), *, asked: bool = False) -> None:
        """Draw seats and opponents for games that have just started, and play until it is the learner's turn.

        `seeded`: the streams of games that were given a seed; all luck from here on follows from the first. A game that
        is over before the learner's turn is dealt again; if its start was `asked` for, ValueError.
        """
        if seeded:
            self._rng = seeded[0].spawn(1)[0]
        states, players = self._games.states, self._games.game.num_players
        for _ in range(ATTEMPTS):
            drawn = self._rng.integers(players, size=len(rows))
            self.seats[rows] = drawn if self._seat == RANDOM else self._seat
            self._who[rows] = self._rng.integers(len(self._acts), size=len(rows))
            self.answer()
            rows = rows[states["done"][rows]]
            if not rows.size:
                return
            if asked:
                raise ValueError(f"environment {rows[0]}: the game ends before player_{self.seats[rows[0]]} has a turn")
            self._games.deal(rows)
        raise RuntimeError(f"{ATTEMPTS} games have ended before the turn of the seat {self._seat!r}")

    def answer(self) -> None:
        """Play until every game is over or at the learner's turn."""
        game, states = self._games.game, self._games.states
        while True:
            resigned = ~states["done"] & (states["returns"][np.arange(len(states)), self.seats] != 0)
            if resigned.any():
                self._games.end(np.flatnonzero(resigned))  # A2: with three, the others could go on
            theirs = np.flatnonzero(~states["done"] & (states["to_move"] != self.seats))
            if not theirs.size:
                return
            for k, act in enumerate(self._acts):
                rows = theirs[self._who[theirs] == k]
                if not rows.size:
                    continue
                batch = taken(states, rows)
                actions = act(game, game.view(batch, batch["to_move"]), self._rng)
                try:
                    game.step(batch, actions)
                except ValueError as error:
                    raise ValueError(f"the opponent {self._named[k]!r} has failed: {error}") from error
                whole(states)[rows] = whole(batch)


def _act(opponent: Any) -> Act:
    if isinstance(opponent, str):
        return _make_agent(opponent).act
    act = getattr(opponent, "act", opponent)
    if isinstance(opponent, type) or not callable(act):
        raise ValueError(
            f"opponent is {opponent!r}: expected the name of an agent, an agent with act(game, views, rng), such a "
            "function, or a list of these"
        )
    return act


def _make_agent(name: str) -> Any:
    """Names are known one floor up, in pbm_agents, which this package does without until somebody gives one."""
    try:
        agents = importlib.import_module("pbm_agents")
    except ModuleNotFoundError as error:
        raise ValueError(
            f"opponent is {name!r}, a name, but there is no pbm_agents ({error}): give an agent"
        ) from error
    return agents.make_agent(name)
