"""Approximate best responses: games against an agent whose policy is known or can be asked for, in games of any size.

`SearchResponder` is information-set Monte Carlo tree search against a known policy (ISMCTS-BR; Timbers et al. 2022).
It weights each world by how likely the agent's moves were in it. In its search the agent moves as it does, and only the
responder's own choices are searched. Where the rest of the game is small, the exact best response to the belief takes
the place of the search.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States, check_range, copy_states, take_rows
from pbm_envs.toolbox import Array, as_bytes

from ..common.progress import progress_bar
from ..players.agent import Agent
from .evaluation import MemoizedAgent, agent_policy, best_response
from .growth import TreeTooLargeError, count_set_ups, set_ups, with_views
from .lookahead import same_views
from .tree import PublicTree

Play: TypeAlias = Callable[[int, int], Array]
"""Plays up to so many games in a seat (seat, games), and returns what the responder got in each."""
ALL_WORLDS = 20_000
"""A belief keeps every set-up if there are at most so many; otherwise it is `particles` drawn at random."""


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
        """The mean over both seats: a lower bound of the agent's exploitability, up to chance."""
        return sum(self.values) / 2

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval of `exploitability`."""
        half = 1.96 * float(np.hypot(*self.errors)) / 2
        return self.exploitability - half, self.exploitability + half


@dataclass(frozen=True)
class Responder(ABC):
    """Responds to an agent whose policy is known, or can be asked for."""

    game: Game
    agent: Agent

    @abstractmethod
    def prepare(self, rng: np.random.Generator, bar: Any, progress: bool) -> Play:
        """Learn, or get ready to search; `bar` counts the games that follow."""

    def run(self, games: int, rng: np.random.Generator, progress: bool = False) -> ApproximateResponse:
        """Play against the agent.

        Args:
            games: In each seat.
            rng: For everything that is random.
            progress: Show a progress bar (extra `cli`).

        Raises:
            ValueError: The game is not for two, or a number is too small.
        """
        check_range("games", games, 2)
        if self.game.num_players != 2:
            raise ValueError(f"{self.game!r} has {self.game.num_players} players: expected two")
        won: list[list[float]] = [[], []]
        with progress_bar(progress, total=2 * games, unit=" games", unit_scale=True) as bar:
            play = self.prepare(rng, bar, progress)
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
    """The settings of the search."""

    simulations: int = 400
    """For each move of the responder."""
    c: float = 1.0
    """Weight of exploration in UCT."""
    particles: int = 2_000
    """Worlds of a belief, where there are too many to keep all."""
    samples: int = 16
    """How often an agent without `probabilities` acts at each view that it meets."""
    batch: int = 64
    """Games played side by side."""
    endgame: float = 8.0
    """MiB for the exact best response, where the rest of the game fits into them; 0: always search."""

    def prepare(self, rng: np.random.Generator, bar: Any, progress: bool) -> Play:
        """As `Responder.prepare`."""
        for name in ("simulations", "particles", "samples", "batch"):
            check_range(name, getattr(self, name), 1)
        agent = MemoizedAgent(self.agent, self.samples, int(rng.integers(2**63)))
        return lambda seat, count: ResponseMatch(self, agent, seat, min(self.batch, count), rng).play()


@final
class ResponseMatch:
    """Games of the responder in one seat, side by side."""

    def __init__(
        self, settings: SearchResponder, agent: MemoizedAgent, seat: int, count: int, rng: np.random.Generator
    ) -> None:
        self.settings, self.agent, self.seat, self.rng = settings, agent, seat, rng
        self.game = settings.game
        self.states = self.game.init(count, rng)
        self.starts = copy_states(self.states)
        """(N,) the set-ups."""
        self.moves: list[Array] = []
        """For each ply, the actions (N,); those of games that are over are arbitrary."""
        self._beliefs = [self._first_belief(row) for row in range(count)]
        self._weights = [np.full(len(belief), 1 / len(belief)) for belief in self._beliefs]

    def play(self) -> Array:
        """(N,) the responder's returns."""
        game = self.game
        while not self.states["done"].all():
            actions = np.zeros(len(self.states), np.int64)
            mine, theirs = self._movers(self.states)
            if len(theirs):
                actions[theirs] = self._replies(self.states, theirs)
            if len(mine):
                actions[mine] = [self._endgame(row) for row in mine.tolist()]
                if len(searched := mine[actions[mine] < 0]):
                    actions[searched] = self._search(searched)
            game.step(self.states, actions)
            self.moves.append(actions)
            for row in np.flatnonzero(~self.states["done"]).tolist():
                self._follow(row, int(actions[row]), row in theirs)
        return self.states["returns"][:, self.seat]

    def _movers(self, states: States) -> tuple[Array, Array]:
        """Return the rows where the responder is to move, and those where the agent is."""
        mine = states["to_move"] == self.seat
        return np.flatnonzero(~states["done"] & mine), np.flatnonzero(~states["done"] & ~mine)

    def _replies(self, states: States, rows: Array) -> Array:
        """Return the agent's actions in these rows."""
        return self.agent.act(self.game, self.game.view(take_rows(states, rows), 1 - self.seat), self.rng)

    def _first_belief(self, row: int) -> States:
        """Return worlds that look to the responder like the game at the start, all equally likely."""
        game = self.game
        seen = game.view(self.states[row : row + 1], self.seat)
        if game.perfect_information:
            return self.states[row : row + 1].copy()
        if count_set_ups(game) <= ALL_WORLDS:
            worlds, _ = set_ups(game)
            return worlds[same_views(game, worlds, seen, self.seat)]
        return game.determinize(np.repeat(seen, self.settings.particles), self.rng)

    def _follow(self, row: int, action: int, agent_moved: bool) -> None:
        """Update a belief after a move: keep worlds where it is legal and looks like the game, weighted by the agent's
        probability of the move there.
        """
        game, worlds, weights = self.game, self._beliefs[row], self._weights[row]
        legal = np.flatnonzero(game.legal_action_mask(worlds)[:, action])
        worlds, weights = take_rows(worlds, legal), weights[legal]
        if agent_moved and len(worlds):
            weights = weights * self.agent.probabilities(game, game.view(worlds, 1 - self.seat))[:, action]
        game.step(worlds, np.full(len(worlds), action))
        seen = game.view(self.states[row : row + 1], self.seat)
        same = same_views(game, worlds, seen, self.seat)
        same = same[~worlds["done"][same]]
        worlds, weights = take_rows(worlds, same), weights[same]
        if weights.sum() <= 0:  # the particles have missed what happened, or the agent was sampled too rarely
            if len(worlds) == 0:
                worlds = game.determinize(np.repeat(seen, self.settings.particles), self.rng)
            weights = np.ones(len(worlds))
        self._beliefs[row], self._weights[row] = worlds, weights / weights.sum()

    def _endgame(self, row: int) -> int:
        """Return the exact best action if the rest of the game is small, else -1."""
        memory = self.settings.endgame / 1024
        if memory <= 0:
            return -1
        try:
            tree = PublicTree.build(
                self.game, worlds=self._beliefs[row], chances=self._weights[row], memory=memory, threads=1
            )
        except TreeTooLargeError:
            return -1
        response = best_response(tree, agent_policy(tree, self.agent), self.seat)
        choices = response.policy.at(0)  # the root has one information set: the responder knows what it sees
        return max(choices, key=lambda action: choices[action])

    def _search(self, rows: Array) -> Array:
        """Return the most visited actions in trees of the responder's information sets, one tree for each row."""
        game, settings = self.game, self.settings
        tree = _Statistics(game.num_actions, len(rows) * (settings.simulations + 1))
        worlds = np.concatenate([as_bytes(self._beliefs[row]) for row in rows]).view(game.dtype)
        # belief k has the steps of `sums` between k and k + 1
        sums = np.concatenate([k + self._weights[row].cumsum() for k, row in enumerate(rows)])
        lasts = np.cumsum([len(self._beliefs[row]) for row in rows]) - 1
        roots = np.arange(1, len(rows) + 1).astype(np.uint64)
        for _ in range(settings.simulations):
            picks = np.searchsorted(sums, np.arange(len(rows)) + self.rng.random(len(rows)), side="right")
            self._simulate(tree, take_rows(worlds, np.minimum(picks, lasts)), roots)
        keys = with_views(roots, game.view(take_rows(self.states, rows), self.seat))
        return tree.visits[[tree.index[key] for key in keys.tolist()]].argmax(axis=1)

    def _simulate(self, tree: _Statistics, states: States, histories: Array) -> None:
        """Run one simulation in each tree: down by UCT, one new node each, then random moves of the responder."""
        game, seat = self.game, self.seat
        growing = np.ones(len(states), bool)
        path: list[tuple[Array, Array, Array]] = []
        histories = histories.copy()
        while not states["done"].all():
            actions = np.zeros(len(states), np.int64)
            mine, theirs = self._movers(states)
            if len(theirs):
                actions[theirs] = self._replies(states, theirs)
            if len(mine):
                views = game.view(take_rows(states, mine), seat)
                histories[mine] = with_views(histories[mine], views)
                nodes = np.full(len(mine), -1)
                inside = np.flatnonzero(growing[mine])
                nodes[inside], fresh = tree.nodes(histories[mine[inside]])
                growing[mine[inside[fresh]]] = False
                actions[mine] = tree.choose(nodes, game.legal_action_mask(views), self.settings.c, self.rng)
                path.append((mine[inside], nodes[inside], actions[mine[inside]]))
            game.step(states, actions)
        for rows, nodes, actions in path:
            np.add.at(tree.visits, (nodes, actions), 1)
            np.add.at(tree.totals, (nodes, actions), states["returns"][rows, seat])


@final
class _Statistics:
    """Visits and total returns of the responder's actions at information sets, found by hashes."""

    def __init__(self, actions: int, capacity: int) -> None:
        self.index: dict[int, int] = {}
        self.visits = np.zeros((capacity, actions), np.int32)
        self.totals = np.zeros((capacity, actions))

    def nodes(self, keys: Array) -> tuple[Array, Array]:
        """Return the nodes of these keys, and whether each is new."""
        index, before = self.index, len(self.index)
        found = np.array([index.setdefault(key, len(index)) for key in keys.tolist()], np.int64)
        return found, found >= before

    def choose(self, nodes: Array, masks: Array, c: float, rng: np.random.Generator) -> Array:
        """Choose by UCT, untried actions first; at random where there is no node (-1)."""
        visits = np.where(nodes[:, None] >= 0, self.visits[nodes], 0)
        counts = np.maximum(visits.sum(axis=1, keepdims=True), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = self.totals[nodes] / visits + c * np.sqrt(np.log(counts) / visits)
        scores = np.where(visits == 0, 1e9 + rng.random(masks.shape), scores)
        return np.where(masks, scores, -np.inf).argmax(axis=1)
