"""Opponents: the agents in the other seats of games that are played from one seat.

An opponent is an agent, with `act(game, views, rng) -> actions` (views and actions (B,)); an agent with memory
(`pbm_envs.envs.memory`); or anything that `pbm_agents.as_agent` converts to an agent: a name ("random",
"mcts:simulations=50", "module:attribute"), a `Search`, a policy (a function of observations and masks), or a function
like `act`. From a list, or a mapping from names to opponents, one is drawn for each game. It plays all other seats of
the game. All games that wait for the same opponent are passed to it as one batch.

`set_opponents(agents, weights=None)` of an environment replaces them: games under way are finished by their present
opponent, and later games draw from the new ones, in proportion to `weights`. Opponents are identified by name (the key
of a mapping; a text is its own name; other agents have the name of their class, with a number if that is taken) and
numbered in order of appearance: `info["opponent"]` is that number, which never changes, and `opponent_scores()[number]`
is the learner's result against it.

Seats, draws and the opponents' random numbers come from one stream for all games, which is derived from the seed of the
first game that has one: the same seeds give the same games, but against a randomized opponent, a game in a batch
differs from the same game alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..core.checks import check_range, quoted
from ..core.game import Game
from ..core.randomness import apart_from
from ..core.state import Rng, States, as_bytes, copy_states, take_rows
from .batch import GameBatch, Rows
from .memory import AgentWithMemory, Ids, new_ids, reserve_ids

Act: TypeAlias = Callable[..., Any]
Weights: TypeAlias = "Sequence[float] | Mapping[str, float] | NDArray[np.floating[Any]] | None"
AGENTS = "pbm_envs.agents"
"""The group of entry points that make agents from names, functions and searches: `pbm_agents.as_agent`."""
RANDOM = "random"
"""The setting with which the seat is drawn for each game."""
ATTEMPTS = 100
"""The maximum number of attempts to deal a game in which the learner has a turn."""
RECENT = 100
"""The approximate number of games in the mean `OpponentScore.recent`."""


@dataclass
class OpponentScore:
    """The learner's results against one opponent."""

    name: str
    games: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0
    """The sum of scores: a win is 1; a draw 1/2, or 1/3 among three players."""
    recent: float = 0.5
    """The mean score per game, weighted towards the last hundred games; useful to choose opponents in a league."""

    @property
    def score(self) -> float:
        """The mean points per game; 1/2 before the first game."""
        return self.points / self.games if self.games else 0.5

    def add(self, points: float) -> None:
        """Add a game with `points` for the learner."""
        self.games += 1
        self.points += points
        self.wins += points == 1
        self.losses += points == 0
        self.draws += 0 < points < 1
        self.recent += (points - self.recent) / min(self.games, RECENT)


@dataclass
class Opponent:
    """An opponent that is drawn for new games, or still plays some."""

    number: int
    given: Any
    """The agent, or its name."""
    agent: Any
    act: Act

    def begin(self, game: Game, ids: Ids) -> None:
        if isinstance(self.agent, AgentWithMemory):
            self.agent.begin_games(game, ids)

    def end(self, ids: Ids) -> None:
        if isinstance(self.agent, AgentWithMemory):
            self.agent.end_games(ids)

    def answer(self, game: Game, views: States, rng: Rng, ids: Ids) -> Any:
        if isinstance(self.agent, AgentWithMemory):
            return self.act(game, views, rng, ids)
        return self.act(game, views, rng)


@final
class Opponents:
    """The other seats of `games`. `seats` (N,) are the learner's seats."""

    def __init__(self, games: GameBatch, agents: Any, seat: int | str) -> None:
        players, count = games.game.num_players, len(games.states)
        check_seat(seat, players)
        self._games, self._seat = games, seat
        self._rng = np.random.default_rng()
        self._known: list[Opponent] = []
        """The opponents to draw from and those that still play a game."""
        self._drawn: list[Opponent] = []
        self._chances: NDArray[np.float64] | None = None
        self.scores: list[OpponentScore] = []
        """The learner's results by the opponent's number."""
        self.seats = np.zeros(count, np.int8)
        self._who = np.zeros(count, np.int64)
        """(N,) the index in `_known` of each game's opponent."""
        self._ids = np.zeros((count, players), np.int64)
        """(N, P) the ids of all games and seats for agents with memory."""
        self._begun = np.zeros(count, np.bool_)
        self.set(agents)

    def __setstate__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
        reserve_ids(self._ids)

    def set(self, agents: Any, weights: Weights = None) -> None:
        """Set the opponents of all later games, as `BoardGameVectorEnv.set_opponents` describes."""
        named = self._named(agents)
        chances = _chances(weights, list(named))
        numbers = {score.name: number for number, score in enumerate(self.scores)}
        before = {one.number: one for one in self._drawn}
        drawn = []
        for name, agent in named.items():
            number = numbers.setdefault(name, len(numbers))
            same = before.get(number)
            keeps = same is not None and (same.given is agent or (isinstance(agent, str) and same.given == agent))
            drawn.append(same if same is not None and keeps else Opponent(number, agent, *_agent(agent)))
        self.scores += [OpponentScore(name) for name in list(numbers)[len(self.scores) :]]
        self._drawn, self._chances = drawn, chances
        playing = [self._known[k] for k in np.unique(self._who[self._begun]).tolist()]
        known = drawn + [one for one in playing if not any(one is other for other in drawn)]
        places = {id(one): place for place, one in enumerate(known)}
        self._who = np.array([places.get(id(one), 0) for one in self._known] or [0])[self._who]
        self._known = known

    def info(self) -> dict[str, NDArray[Any]]:
        numbers = np.array([one.number for one in self._known])
        return {"seat": self.seats.copy(), "opponent": numbers[self._who]}

    def assign_seats(self, rows: Rows, seeded: Sequence[Rng] = (), *, explicit_start: bool = False) -> None:
        """Draw seats and opponents for games that have just started, and play until it is the learner's turn.

        `seeded` are the streams of games that were given a seed; the first determines all randomness from here on. A
        game that ends before the learner's turn is dealt again, or raises ValueError if the caller chose its initial
        position (`explicit_start`).
        """
        if seeded:
            self._rng = apart_from(seeded[0], "opponents")
        states, players = self._games.states, self._games.game.num_players
        for _ in range(ATTEMPTS):
            self.end(rows)
            drawn = self._rng.integers(players, size=len(rows))
            self.seats[rows] = drawn if self._seat == RANDOM else self._seat
            if self._chances is None:
                self._who[rows] = self._rng.integers(len(self._drawn), size=len(rows))
            else:
                self._who[rows] = self._rng.choice(len(self._drawn), size=len(rows), p=self._chances)
            self._begin(rows)
            self.play_opponents()
            rows = rows[states["done"][rows]]
            if not rows.size:
                return
            if explicit_start:
                raise ValueError(f"environment {rows[0]}: the game ends before player_{self.seats[rows[0]]} has a turn")
            self._games.deal(rows)
        raise RuntimeError(f"{ATTEMPTS} games have ended before the turn of the seat {self._seat!r}")

    def play_opponents(self) -> None:
        """Play the opponents' moves until it is the learner's turn in every unfinished game."""
        game, states = self._games.game, self._games.states
        while True:
            resigned = ~states["done"] & (states["returns"][np.arange(len(states)), self.seats] != 0)
            if resigned.any():
                self._games.end(np.flatnonzero(resigned))  # A2: with three players, the others could continue
            theirs = np.flatnonzero(~states["done"] & (states["to_move"] != self.seats))
            if not theirs.size:
                return
            for k, one in enumerate(self._known):
                rows = theirs[self._who[theirs] == k]
                if not rows.size:
                    continue
                batch = take_rows(states, rows)
                players = batch["to_move"].copy()
                before = batch if self._games.history is None else copy_states(batch)
                actions = one.answer(game, game.view(batch, players), self._rng, self._ids[rows, players])
                try:
                    game.step(batch, actions)
                except ValueError as error:
                    raise ValueError(f"the opponent {quoted(one.given)} has failed: {error}") from error
                as_bytes(states)[rows] = as_bytes(batch)
                self._games.remember(rows, before, actions)

    def points(self) -> NDArray[np.float32]:
        """Return the learner's scores (N,) in games that are over: 1, 0, or an equal part for a draw."""
        returns = self._games.states["returns"]
        best = returns == returns.max(axis=1, keepdims=True)
        return (best[np.arange(len(best)), self.seats] / best.sum(axis=1)).astype(np.float32)

    def count(self, rows: Rows) -> None:
        """Add the results of these games, which have just ended, to the scores."""
        for place, points in zip(self._who[rows].tolist(), self.points()[rows].tolist(), strict=True):
            self.scores[self._known[place].number].add(points)
        self.end(rows)

    def end(self, rows: Rows) -> None:
        """Notify opponents with memory that the games in these rows are over."""
        rows = rows[self._begun[rows]]
        self._begun[rows] = False
        for one, its_rows in self._by_opponent(rows):
            one.end(self._their_ids(its_rows))

    def _begin(self, rows: Rows) -> None:
        """Notify opponents with memory that the games in these rows have started."""
        self._begun[rows] = True
        self._ids[rows] = new_ids(rows.size * self._ids.shape[1]).reshape(-1, self._ids.shape[1])
        for one, its_rows in self._by_opponent(rows):
            one.begin(self._games.game, self._their_ids(its_rows))

    def _by_opponent(self, rows: Rows) -> Iterator[tuple[Opponent, Rows]]:
        for place, one in enumerate(self._known):
            if (its_rows := rows[self._who[rows] == place]).size:
                yield one, its_rows

    def _their_ids(self, rows: Rows) -> Ids:
        """Return the ids of all seats except the learner's."""
        theirs = np.arange(self._ids.shape[1]) != self.seats[rows, None]
        return self._ids[rows][theirs]

    def _named(self, agents: Any) -> dict[str, Any]:
        """Return the opponents by name."""
        if isinstance(agents, Mapping):
            if not agents or not all(isinstance(name, str) for name in agents):
                raise ValueError(f"opponents are {quoted(agents)}: expected a mapping from names to at least one agent")
            return dict(agents)
        listed = list(agents) if isinstance(agents, (list, tuple)) else [agents]
        if not listed:
            raise ValueError("opponent is an empty list: expected at least one")
        known = {id(one.given): self.scores[one.number].name for one in self._known}
        taken, named = {score.name for score in self.scores}, dict[str, Any]()
        for agent in listed:
            name = agent if isinstance(agent, str) else known.get(id(agent), "")
            if not name or name in named:
                kind = name or getattr(agent, "__name__", type(agent).__name__)
                name, k = kind, 2
                while name in named or (name in taken and not isinstance(agent, str)):
                    name, k = f"{kind} {k}", k + 1
            named[name] = agent
        return named


def _chances(weights: Weights, names: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the probabilities (K,), or None if they are equal."""
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        if unknown := set(weights) - set(names):
            raise ValueError(f"weights name {quoted(sorted(map(str, unknown)))}: expected some of {list(names)}")
        weights = [weights.get(name, 0.0) for name in names]
    try:
        numbers = np.asarray(weights, np.float64)
    except Exception:  # NumPy raises various errors for non-numeric values
        numbers = np.zeros(0)
    if numbers.shape != (len(names),) or (numbers < 0).any() or not 0 < sum(numbers.tolist()) < np.inf:
        raise ValueError(f"weights are {quoted(weights)}: expected {len(names)} numbers from 0 up, not all 0")
    return numbers / numbers.sum()


def check_seat(seat: int | str, players: int) -> None:
    """Raise ValueError unless this is the seat of one of the players, or "random"."""
    if not isinstance(seat, str) or seat != RANDOM:
        expected = f"{', '.join(map(str, range(players)))} or {RANDOM!r}"
        check_range("seat", seat, 0, players - 1, expected)  # type: ignore[arg-type]


def single_opponent(opponent: Any) -> Opponent:
    """Return one opponent, given in any form listed in this module's docstring."""
    return Opponent(0, opponent, *_agent(opponent))


def _agent(opponent: Any) -> tuple[Any, Act]:
    """Return an agent and its method `act`."""
    if not isinstance(opponent, type) and callable(getattr(opponent, "act", None)):
        return opponent, opponent.act
    makers = entry_points(group=AGENTS)
    if not makers:
        raise ValueError(
            f"opponent is {quoted(opponent)}, and no installed package makes agents (entry points {AGENTS!r}): "
            "expected an agent with act(game, views, rng)"
        )
    agent = next(iter(makers)).load()(opponent)
    return agent, agent.act
