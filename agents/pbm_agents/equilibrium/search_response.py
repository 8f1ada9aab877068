"""An approximate best response by search: information-set Monte Carlo tree search against a known policy (ISMCTS-BR;
Timbers et al. 2022), in games of any size.

The responder knows how likely the agent plays what, so it knows how likely each world is after the agent's moves. In
its search the agent moves as it does, and only the responder's own choices are searched. Where the rest of the game is
small, the exact best response to the belief takes the place of the search. What the responder wins is a lower bound of
what a best response would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from pbm_envs.authoring import States, check_range, copy_states, take_rows
from pbm_envs.toolbox import as_bytes

from .agent_policies import MemoizedAgent, agent_policy
from .evaluation import best_response
from .growth import TreeTooLargeError, with_views
from .lookahead import same_views
from .policy import Array
from .responses import Play, Responder
from .set_ups import count_set_ups, set_ups
from .tree import PublicTree

ALL_WORLDS = 20_000
"""Set-ups of which a belief keeps every one; of more, it is `particles` drawn at random."""


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
    """How often an agent that does not give probabilities acts at each view that it meets."""
    batch: int = 64
    """Games that are played side by side."""

    endgame: float = 8.0
    """MiB for the exact best response from here on, where the rest of the game fits into it; 0: always search."""

    def prepare(self, rng: np.random.Generator, progress: bool) -> Play:
        """As `Responder.prepare`."""
        for name in ("simulations", "particles", "samples", "batch"):
            check_range(name, getattr(self, name), 1)
        agent = MemoizedAgent(self.agent, self.samples, int(rng.integers(2**63)))
        return lambda seat, count: ResponseMatch(self, agent, seat, min(self.batch, count), rng).play()


@final
class ResponseMatch:
    """Some games of the responder in one seat, side by side. `starts` (N,) are their set-ups, `moves` the actions (N,)
    of each ply; those of games that are over mean nothing.
    """

    def __init__(
        self, settings: SearchResponder, agent: MemoizedAgent, seat: int, count: int, rng: np.random.Generator
    ) -> None:
        self.settings, self.agent, self.seat, self.rng = settings, agent, seat, rng
        self.game = settings.game
        self.states = self.game.init(count, rng)
        self.starts = copy_states(self.states)
        self.moves: list[Array] = []
        self._beliefs = [self._first_belief(row) for row in range(count)]
        self._weights = [np.full(len(belief), 1 / len(belief)) for belief in self._beliefs]

    def play(self) -> Array:
        """(count,) what the responder gets."""
        game = self.game
        while not self.states["done"].all():
            actions = np.zeros(len(self.states), np.int64)
            movers, open_games = self.states["to_move"], ~self.states["done"]
            theirs = np.flatnonzero(open_games & (movers != self.seat))
            if len(theirs):
                views = game.view(take_rows(self.states, theirs), 1 - self.seat)
                actions[theirs] = self.agent.act(game, views, self.rng)
            mine = np.flatnonzero(open_games & (movers == self.seat))
            if len(mine):
                exact = np.array([self._endgame(row) for row in mine.tolist()])
                actions[mine] = exact
                if (exact < 0).any():
                    actions[mine[exact < 0]] = self._search(mine[exact < 0])
            before = self.states.copy()
            game.step(self.states, actions)
            self.moves.append(actions)
            for row in np.flatnonzero(~self.states["done"]).tolist():
                self._follow(row, int(actions[row]), before["to_move"][row] != self.seat)
        return self.states["returns"][:, self.seat]

    def _first_belief(self, row: int) -> States:
        """Worlds that look to the responder as the game does at the start, all as likely."""
        game = self.game
        seen = game.view(self.states[row : row + 1], self.seat)
        if game.perfect_information:
            return self.states[row : row + 1].copy()
        if count_set_ups(game) <= ALL_WORLDS:
            worlds, _ = set_ups(game)
            return worlds[self._same(worlds, seen)]
        return game.determinize(np.repeat(seen, self.settings.particles), self.rng)

    def _same(self, worlds: States, seen: States) -> Array:
        """(W,) does the responder see of a world what it has `seen` (1,)?"""
        same = np.zeros(len(worlds), bool)
        same[same_views(self.game, worlds, seen, self.seat)] = True
        return same

    def _follow(self, row: int, action: int, agent_moved: bool) -> None:
        """The belief after a move: worlds in which it is legal and looks so, by how likely the agent plays it there."""
        game, worlds, weights = self.game, self._beliefs[row], self._weights[row]
        legal = game.legal_action_mask(worlds)[:, action] & ~worlds["done"]
        worlds, weights = take_rows(worlds, np.flatnonzero(legal)), weights[legal]
        if agent_moved and len(worlds):
            weights = weights * self.agent.probabilities(game, game.view(worlds, 1 - self.seat))[:, action]
        game.step(worlds, np.full(len(worlds), action))
        seen = game.view(self.states[row : row + 1], self.seat)
        same = self._same(worlds, seen) & ~worlds["done"]
        worlds, weights = take_rows(worlds, np.flatnonzero(same)), weights[same]
        if weights.sum() <= 0:  # the particles have missed what has happened, or the agent was sampled too seldom
            if len(worlds) == 0:
                worlds = game.determinize(np.repeat(seen, self.settings.particles), self.rng)
            weights = np.ones(len(worlds))
        self._beliefs[row], self._weights[row] = worlds, weights / weights.sum()

    def _endgame(self, row: int) -> int:
        """The best action from here on, exactly, if the rest of the game is small; else -1."""
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
        choices = response.policy.at(0)  # what the responder sees is the same in every world
        return max(choices, key=lambda action: choices[action])

    def _search(self, rows: Array) -> Array:
        """The actions most visited in trees of the responder's information sets, one for each of `rows`."""
        game, settings = self.game, self.settings
        tree = _Statistics(game.num_actions, len(rows) * (settings.simulations + 1))
        worlds = np.concatenate([as_bytes(self._beliefs[row]) for row in rows]).view(game.dtype)
        # the weights of belief k are the steps of `sums` between k and k + 1
        sums = np.concatenate([k + self._weights[row].cumsum() for k, row in enumerate(rows)])
        lasts = np.cumsum([len(self._beliefs[row]) for row in rows]) - 1
        roots = np.arange(1, len(rows) + 1).astype(np.uint64)
        for _ in range(settings.simulations):
            picks = np.searchsorted(sums, np.arange(len(rows)) + self.rng.random(len(rows)), side="right")
            self._simulate(tree, take_rows(worlds, np.minimum(picks, lasts)), roots)
        keys = with_views(roots, game.view(take_rows(self.states, rows), self.seat))
        return tree.best(np.array([tree.index[key] for key in keys.tolist()]))

    def _simulate(self, tree: _Statistics, states: States, histories: Array) -> None:
        """One simulation in each tree: down by UCT, one new node each, then random moves of the responder."""
        game, seat = self.game, self.seat
        growing = np.ones(len(states), bool)
        path: list[tuple[Array, Array, Array]] = []
        histories = histories.copy()
        while not states["done"].all():
            actions = np.zeros(len(states), np.int64)
            open_games, movers = ~states["done"], states["to_move"]
            theirs = np.flatnonzero(open_games & (movers != seat))
            if len(theirs):
                actions[theirs] = self.agent.act(game, game.view(take_rows(states, theirs), 1 - seat), self.rng)
            mine = np.flatnonzero(open_games & (movers == seat))
            if len(mine):
                views = game.view(take_rows(states, mine), seat)
                masks = game.legal_action_mask(views)
                histories[mine] = with_views(histories[mine], views)
                nodes = np.full(len(mine), -1)
                inside = np.flatnonzero(growing[mine])
                nodes[inside], fresh = tree.nodes(histories[mine[inside]])
                growing[mine[inside[fresh]]] = False
                actions[mine] = tree.choose(nodes, masks, self.settings.c, self.rng)
                path.append((mine[inside], nodes[inside], actions[mine[inside]]))
            game.step(states, actions)
        for walkers, nodes, actions in path:
            tree.add(nodes, actions, states["returns"][walkers, seat])


@final
class _Statistics:
    """Visits and returns of the responder's actions at information sets, found by hashes."""

    def __init__(self, actions: int, capacity: int) -> None:
        self.index: dict[int, int] = {}
        self.visits = np.zeros((capacity, actions), np.int32)
        self.totals = np.zeros((capacity, actions))

    def nodes(self, keys: Array) -> tuple[Array, Array]:
        """The nodes of these keys, made if missing, and which were."""
        index, before = self.index, len(self.index)
        found = np.array([index.setdefault(key, len(index)) for key in keys.tolist()], np.int64)
        return found, found >= before

    def choose(self, nodes: Array, masks: Array, c: float, rng: np.random.Generator) -> Array:
        """By UCT, untried actions first; at random where there is no node (-1)."""
        visits = np.where(nodes[:, None] >= 0, self.visits[nodes], 0)
        totals = self.totals[nodes]
        counts = np.maximum(visits.sum(axis=1, keepdims=True), 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = totals / visits + c * np.sqrt(np.log(counts) / visits)
        scores = np.where(visits == 0, 1e9 + rng.random(masks.shape), scores)
        return np.where(masks, scores, -np.inf).argmax(axis=1)

    def add(self, nodes: Array, actions: Array, returns: Array) -> None:
        """Count visits."""
        np.add.at(self.visits, (nodes, actions), 1)
        np.add.at(self.totals, (nodes, actions), returns)

    def best(self, nodes: Array) -> Array:
        """The most visited actions."""
        return self.visits[nodes].argmax(axis=1)
