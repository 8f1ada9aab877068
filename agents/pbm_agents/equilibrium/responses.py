"""Approximate best responses to an agent whose policy is known or can be queried.

`SearchResponder` is information-set Monte Carlo tree search against a known policy (ISMCTS-BR; Timbers et al. 2022).
It weights each world by the likelihood of the agent's moves in it. In the search the agent follows its policy, and only
the responder's own choices are searched. If the rest of the game is small, the exact best response to the belief
replaces the search. `TableResponder` learns a table of its information states from simulated games before it plays,
which finds nearly the best response in games whose reached states can be listed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, TypeAlias, final

import numpy as np

from pbm_envs import Game, sample_actions
from pbm_envs.authoring import States, check_range, copy_states, take_rows
from pbm_envs.toolbox import Array, as_bytes

from ..common.progress import NoBar, progress_bar
from ..players.agent import Agent
from .evaluation import MemoizedAgent, agent_policy, best_response
from .growth import GIBIBYTE, TreeTooLargeError, check_two_players, count_set_ups, set_ups, with_views
from .lookahead import same_views
from .response_table import ResponseTable
from .tree import PublicTree

Play: TypeAlias = Callable[[int, int], Array]
"""Called with (seat, games): plays up to that number of games in the seat, and returns the responder's returns."""
ALL_WORLDS = 20_000
"""Maximum number of set-ups that a belief enumerates; with more, it consists of `particles` random worlds."""
TRIED = 16
"""Number of games in which the agent's speed is measured."""
LEAST_SIMULATIONS = 50
"""Minimum number of simulations for which there must be time if the agent plays them to their ends."""
FOLLOWING = 0.3
"""Share of a turn's time for updating the belief."""
SIMULTANEOUS = 16
"""Maximum number of simulations of a game that are under way at once."""
CHUNK = 16
"""Number of worlds for which the agent is queried at a time."""


@final
@dataclass(frozen=True)
class ApproximateResponse:
    """The responder's results over games in both seats."""

    values: tuple[float, float]
    """Mean returns as player_0 and as player_1."""
    errors: tuple[float, float]
    """Their standard errors."""
    games: int

    @property
    def exploitability(self) -> float:
        """The mean over both seats: a lower bound of the agent's exploitability, up to sampling error."""
        return sum(self.values) / 2

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of `exploitability`."""
        half = 1.96 * float(np.hypot(*self.errors)) / 2
        return self.exploitability - half, self.exploitability + half


@dataclass(frozen=True)
class Responder(ABC):
    """A responder to an agent whose policy is known or can be queried."""

    game: Game
    agent: Agent

    @abstractmethod
    def prepare(self, games: int, rng: np.random.Generator, bar: Any) -> Play:
        """Train or prepare to search, and return the play function; `bar` counts the games, `games` in each seat."""

    def run(self, games: int, rng: np.random.Generator, progress: bool = False) -> ApproximateResponse:
        """Play `games` games in each seat against the agent itself, whatever the responder's model of it.

        `progress` shows a bar (extra `cli`). Raises ValueError if the game is not for two, or a number is too small.
        """
        check_range("games", games, 2)
        check_two_players(self.game)
        won: list[list[float]] = [[], []]
        with progress_bar(progress, total=2 * games, unit=" games", unit_scale=True) as bar:
            play = self.prepare(games, rng, bar)
            for seat, returns in enumerate(won):
                while len(returns) < games:
                    some = play(seat, games - len(returns))
                    returns += some.tolist()
                    bar.update(len(some))
        means = [float(np.mean(returns)) for returns in won]
        errors = [float(np.std(returns, ddof=1) / np.sqrt(games)) for returns in won]
        return ApproximateResponse((means[0], means[1]), (errors[0], errors[1]), games)


@final
@dataclass(frozen=True)
class SearchResponder(Responder):
    """A responder by information-set search, with its settings."""

    simulations: int = 400
    """Number of simulations per move of the responder."""
    c: float = 1.0
    """Exploration weight of UCT."""
    particles: int = 2_000
    """Number of worlds in a belief, if there are too many to keep all."""
    samples: int = 16
    """Number of actions sampled at each view from an agent without `probabilities`."""
    batch: int = 64
    """Number of simultaneous games."""
    endgame: float = 8.0
    """Memory limit in MiB of the exact best response, used if the rest of the game fits; 0: always search."""
    seconds: float | None = None
    """Approximate time limit for all games together; `simulations` is then the maximum per move."""

    def prepare(self, games: int, rng: np.random.Generator, bar: Any) -> Play:
        """Prepare to search, as `Responder.prepare`."""
        for name in ("simulations", "particles", "samples", "batch"):
            check_range(name, getattr(self, name), 1)
        budget = None if self.seconds is None else Budget.of(self, self.seconds, games, rng)

        def play(seat: int, count: int) -> Array:
            model = MemoizedAgent(self.agent, self.samples, int(rng.integers(2**63)))
            return ResponseMatch(self, model, seat, min(self.batch, count), rng, budget, bar).play()

        return play


@final
@dataclass(frozen=True)
class TableResponder(Responder):
    """A responder that learns a table of its information states, with its settings.

    In states that it has not met in training it moves at random.
    """

    steps: int = 3_000_000
    """Number of the responder's moves in training, half of them in each seat."""
    c: float = 1.5
    """Exploration weight of UCT in training."""
    envs: int = 1024
    """Number of simultaneous games."""
    samples: int = 16
    """Number of actions sampled at each view from an agent without `probabilities`."""
    memory: float = 2.0
    """Memory limit in GiB of a table, which stops the training of its seat."""

    def prepare(self, games: int, rng: np.random.Generator, bar: Any) -> Play:
        """Train, as part of `Responder.prepare`."""
        tables = self.train(rng, progress=not isinstance(bar, NoBar))
        return lambda seat, count: self._play(tables[seat], min(count, self.envs), rng)

    def train(self, rng: np.random.Generator, progress: bool = False) -> tuple[ResponseTable, ResponseTable]:
        """Return the tables of both seats."""
        for name in ("steps", "envs", "samples"):
            check_range(name, getattr(self, name), 1)
        model = MemoizedAgent(self.agent, self.samples, int(rng.integers(2**63)))
        tables = ResponseTable(self.game, model, 0, self.c), ResponseTable(self.game, model, 1, self.c)
        with progress_bar(progress, total=self.steps, unit=" moves", unit_scale=True) as bar:
            for table in tables:
                left = -(-self.steps // 2)
                while left > 0 and table.nbytes < self.memory * GIBIBYTE:
                    states = self.game.init(min(self.envs, left), rng)
                    moves = table.simulate(states, np.zeros(len(states), np.uint64), rng)
                    left -= max(moves, 1)
                    bar.update(moves)
        return tables

    def _play(self, table: ResponseTable, count: int, rng: np.random.Generator) -> Array:
        """Return the returns (count,) of simultaneous games against the agent itself."""
        game, seat = self.game, table.seat
        states, histories = game.init(count, rng), np.zeros(count, np.uint64)
        while not states["done"].all():
            actions = np.zeros(count, np.int64)
            for mover in range(2):
                rows = np.flatnonzero(~states["done"] & (states["to_move"] == mover))
                if not len(rows):
                    continue
                views = game.view(take_rows(states, rows), mover)
                if mover != seat:
                    actions[rows] = self.agent.act(game, views, rng)
                    continue
                histories[rows] = with_views(histories[rows], views)
                known = table.best(histories[rows])
                actions[rows] = np.where(known >= 0, known, sample_actions(game.legal_action_mask(views), rng))
            game.step(states, actions)
        return states["returns"][:, seat]


@final
@dataclass(frozen=True)
class Budget:
    """The time for a responder's moves, and the agent's part of it."""

    turn: float
    """Seconds per move of the responder."""
    reply: float
    """Seconds per call of the agent."""
    plies: float
    """Number of the agent's moves in a random game."""

    @classmethod
    def of(cls, settings: SearchResponder, seconds: float, games: int, rng: np.random.Generator) -> Budget:
        """Divide the seconds among the moves of the games, using the length of random games."""
        game = settings.game
        states = game.init(TRIED, rng)
        settings.agent.act(game, game.view(states, states["to_move"]), rng)  # compiles before timing
        start = perf_counter()
        settings.agent.act(game, game.view(states, states["to_move"]), rng)
        reply = (perf_counter() - start) / TRIED
        game.playout(states, rng)
        plies = max(1.0, float(states["ply"].mean()) / 2)
        return cls(seconds / (2 * games * plies), reply, plies)

    @property
    def plays_out(self) -> bool:
        """True if simulations end in random playouts because the agent is too slow to play them to the end."""
        return self.reply * self.plies > self.turn / LEAST_SIMULATIONS


@final
class ResponseMatch:
    """Simultaneous games of the responder in one seat."""

    def __init__(
        self,
        settings: SearchResponder,
        model: MemoizedAgent,
        seat: int,
        count: int,
        rng: np.random.Generator,
        budget: Budget | None = None,
        bar: Any = None,
    ) -> None:
        self.settings, self.model, self.seat, self.rng = settings, model, seat, rng
        self._budget, self._bar = budget, bar
        self._saved, self._endgame_seconds = 0.0, 0.0
        self.game = settings.game
        self.states = self.game.init(count, rng)
        self.starts = copy_states(self.states)
        """(N,) the set-ups."""
        self.moves: list[Array] = []
        """For each ply, the actions (N,); those of games that are over are arbitrary."""
        self._beliefs = [self._first_belief(row) for row in range(count)]
        self._weights = [np.full(len(belief), 1 / len(belief)) for belief in self._beliefs]
        self._histories = np.zeros(count, np.uint64)
        self._table = ResponseTable(self.game, model, seat, settings.c)

    def play(self) -> Array:
        """Play the games; return the responder's returns (N,)."""
        game = self.game
        while not self.states["done"].all():
            actions = np.zeros(len(self.states), np.int64)
            mine, theirs = self._movers(self.states)
            if len(theirs):
                views = game.view(take_rows(self.states, theirs), 1 - self.seat)
                actions[theirs] = self.settings.agent.act(game, views, self.rng)
            if len(mine):
                actions[mine] = [self._endgame(row) for row in mine.tolist()]
                keys, searched = self._keys(mine), actions[mine] < 0
                if searched.any():
                    actions[mine[searched]] = self._search(mine[searched], keys[searched])
                self._histories[mine] = keys
            game.step(self.states, actions)
            self.moves.append(actions)
            for row in np.flatnonzero(~self.states["done"]).tolist():
                self._follow(row, int(actions[row]), row in theirs)
            if self._bar is not None:
                left = np.count_nonzero(~self.states["done"])
                self._bar.set_postfix_str(f"seat {self.seat}, ply {len(self.moves)}, {left} games in play")
        return self.states["returns"][:, self.seat]

    def _movers(self, states: States) -> tuple[Array, Array]:
        """Return the rows where the responder is to move, and those where the agent is."""
        mine = states["to_move"] == self.seat
        return np.flatnonzero(~states["done"] & mine), np.flatnonzero(~states["done"] & ~mine)

    def _first_belief(self, row: int) -> States:
        """Return equally likely worlds with the responder's view of the game at the start."""
        game = self.game
        seen = game.view(self.states[row : row + 1], self.seat)
        if game.perfect_information:
            return self.states[row : row + 1].copy()
        if count_set_ups(game) <= ALL_WORLDS:
            worlds, _ = set_ups(game)
            return worlds[same_views(game, worlds, seen, self.seat)]
        return game.determinize(np.repeat(seen, self.settings.particles), self.rng)

    def _follow(self, row: int, action: int, agent_moved: bool) -> None:
        """Update a belief after a move: keep worlds where it is legal and gives the responder's view, weighted by the
        agent's probability of the move there.
        """
        game, worlds, weights = self.game, self._beliefs[row], self._weights[row]
        legal = np.flatnonzero(game.legal_action_mask(worlds)[:, action])
        worlds, weights = take_rows(worlds, legal), weights[legal]
        if agent_moved and len(worlds):
            weights = weights * self._likelihoods(worlds, action)
        game.step(worlds, np.full(len(worlds), action))
        seen = game.view(self.states[row : row + 1], self.seat)
        same = same_views(game, worlds, seen, self.seat)
        same = same[~worlds["done"][same]]
        worlds, weights = take_rows(worlds, same), weights[same]
        if weights.sum() <= 0:  # no particle fits, or the agent was sampled too rarely
            if len(worlds) == 0:
                worlds = game.determinize(np.repeat(seen, self.settings.particles), self.rng)
            weights = np.ones(len(worlds))
        self._beliefs[row], self._weights[row] = worlds, weights / weights.sum()

    def _likelihoods(self, worlds: States, action: int) -> Array:
        """Return the agent's probabilities (W,) of an action; worlds past the time limit get the mean of the others."""
        views = self.game.view(worlds, 1 - self.seat)
        if self._budget is None:
            return self.model.probabilities(self.game, views)[:, action]
        found = np.full(len(worlds), np.nan)
        seconds = FOLLOWING * self._budget.turn
        chunk = max(1, min(CHUNK, int(seconds / (self._budget.reply * self.settings.samples + 1e-9))))
        until = perf_counter() + seconds
        for rows in np.array_split(self.rng.permutation(len(worlds)), -(-len(worlds) // chunk)):
            found[rows] = self.model.probabilities(self.game, views[rows])[:, action]
            if perf_counter() > until:
                break
        return np.where(np.isnan(found), np.nanmean(found), found)

    def _endgame(self, row: int) -> int:
        """Return the exact best action if the rest of the game is small, else -1."""
        memory, budget = self.settings.endgame / 1024, self._budget
        if memory <= 0:
            return -1
        if budget is not None:  # a failed attempt takes time: retry once it has been saved
            self._saved += budget.turn / 4
            if self._saved < self._endgame_seconds:
                return -1
        start = perf_counter()
        try:
            tree = PublicTree.build(
                self.game, worlds=self._beliefs[row], chances=self._weights[row], memory=memory, threads=1
            )
        except TreeTooLargeError:
            self._saved, self._endgame_seconds = 0.0, perf_counter() - start
            return -1
        if budget and tree.num_information_sets * budget.reply * self.settings.samples > 2 * budget.turn:
            return -1
        response = best_response(tree, agent_policy(tree, self.model), self.seat)
        choices = response.policy.at(0)  # the root has one information set, the responder's
        return max(choices, key=lambda action: choices[action])

    def _keys(self, rows: Array) -> Array:
        """Return the responder's information states where it is to move."""
        return with_views(self._histories[rows], self.game.view(take_rows(self.states, rows), self.seat))

    def _search(self, rows: Array, keys: Array) -> Array:
        """Return the responder's most visited actions in `rows`, which have information states `keys`, after
        `simulations` simulations from the belief of each.
        """
        turn = np.inf if self._budget is None else (1 - FOLLOWING) * self._budget.turn
        quick = self._budget is not None and self._budget.plays_out
        worlds = np.concatenate([as_bytes(self._beliefs[row]) for row in rows]).view(self.game.dtype)
        # belief k has the range from k to k + 1 of `sums`
        sums = np.concatenate([k + self._weights[row].cumsum() for k, row in enumerate(rows)])
        lasts = np.cumsum([len(self._beliefs[row]) for row in rows]) - 1
        until = perf_counter() + turn * len(rows)
        each, left = 1, self.settings.simulations
        while left > 0:
            places = np.repeat(np.arange(len(rows)), min(each, left))
            picks = np.searchsorted(sums, places + self.rng.random(len(places)), side="right")
            states = take_rows(worlds, np.minimum(picks, lasts[places]))
            self._table.simulate(states, self._histories[rows[places]], self.rng, quick)
            left -= each
            each = min(2 * each, SIMULTANEOUS)
            if perf_counter() > until:
                break
        return self._table.best(keys)
