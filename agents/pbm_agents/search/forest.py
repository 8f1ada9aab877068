"""Simulations in waves: some walks in each of many trees at once, from the roots to the leaves and back."""

from __future__ import annotations

from typing import final

import numpy as np

from pbm_envs import Game
from pbm_envs.randomness import Seeds, branch

from .backup import back_up
from .evaluators import Evaluator
from .result import SearchResult
from .selection import choose
from .tree import BEST, ILLEGAL, NOBODY, NONE, SUM, TERMINAL, UNKNOWN, WALK, Array, Tree, arrive, expand, graft, plant


@final
class Walks:
    """Room for simulations on their way, or at their leaves: where each is, its state, and what is legal there."""

    def __init__(self, game: Game, count: int) -> None:
        self.walks = np.zeros(count, WALK)
        self.states = np.zeros(count, game.dtype)
        self.masks = np.zeros((count, game.num_actions), np.bool_)
        self.bytes = self.states.view(np.uint8).reshape(count, game.dtype.itemsize)
        self.trees, self.nodes, self.over = (self.walks[name] for name in ("game", "node", "over"))
        self.to_move, self.done = self.states["to_move"], self.states["done"]


@final
class Forest:
    """Trees of one game, grown together. Room is allocated once."""

    def __init__(
        self, game: Game, trees: int, capacity: int, *, hidden: bool, width: int, evaluator: Evaluator, rave: float
    ) -> None:
        """`rave`: its equivalence parameter (see `choose_rave`), 0 without."""
        self.game, self.width, self.evaluator, self.rave = game, width, evaluator, rave
        self.tree = Tree(game, trees, capacity, hidden=hidden, priors=evaluator.gives_priors, rave=rave > 0)
        walks = trees * width
        self._moving, self._leaves = Walks(game, walks), Walks(game, walks)
        self._traces = np.zeros((walks if rave else 0, game.num_actions), np.int8)
        self._actions = np.zeros(walks, np.int64)
        self._leaf_seeds = np.zeros(walks, np.uint64)

    def fits(self, game: Game, trees: int, hidden: bool) -> bool:
        """Is there room for `trees` trees of this game?"""
        return game == self.game and hidden == self.tree.hidden and trees <= self.tree.trees

    def plant(self, views: Array, seeds: Seeds, old: Forest | None = None) -> None:
        """New roots, with what is known of them from the trees of `old`. `seeds` (G,) are the streams of the trees,
        advanced in place.
        """
        game, tree = self.game, self.tree
        self._views, self._seeds = views, seeds
        self._root_masks = game.legal_action_mask(views)
        roots = np.zeros(len(views), game.dtype)
        for name in game.dtype.names or ():  # not what lies between the fields: equal states are equal bytes
            roots[name] = views[name]
        roots["viewer"] = NOBODY
        count = len(views)
        plant(*tree.arrays, roots.view(np.uint8).reshape(count, -1), views["to_move"], self._root_masks, game.resign)
        if self.evaluator.gives_priors:
            states = game.determinize(views, seeds)
            tree.priors[:count, 0], _ = self.evaluator(game, states, self._root_masks, seeds, None)
        if old is not None:
            self._take_over(old.tree, roots)

    def _take_over(self, old: Tree, roots: Array) -> None:
        """A tree becomes a copy of what `old` has below a node with the same state, if there is one: of several, that
        of the tree at the same place, or of the first.
        """
        tree, plies = self.tree, np.unique(roots["ply"])
        known: dict[bytes, dict[int, int]] = {}
        for g in range(old.used):
            size = old.sizes[g]
            opened = old.nodes["untried"][g, :size] != UNKNOWN
            for n in np.flatnonzero(opened & np.isin(old.states["ply"][g, :size], plies)).tolist():
                known.setdefault(old.states[g, n].tobytes(), {})[g] = n
        for g, root in enumerate(roots):
            found = known.get(root.tobytes())
            if found:
                other = g if g in found else min(found)
                graft(*old.arrays, other, found[other], *tree.arrays, g, tree.capacity // 2)

    def add_noise(self, fraction: float, concentration: float) -> None:
        """Mix Dirichlet noise into the priors of the roots (Silver et al. 2017)."""
        for g in range(len(self._views)):
            rng = np.random.default_rng(int(self._seeds[g]))
            legal = np.flatnonzero(self._root_masks[g])
            legal = legal[legal != self.game.resign]
            noise = rng.dirichlet(np.full(len(legal), concentration))
            self.tree.priors[g, 0, legal] = (1 - fraction) * self.tree.priors[g, 0, legal] + fraction * noise

    def wave(self, games: Array, c: float, solve: bool) -> int:
        """One simulation for each entry of `games`, each tree at most `width` times. How many roots it has proven."""
        game, tree, moving, actions = self.game, self.tree, self._moving, self._actions
        going, arrived = len(games), 0
        moving.trees[:going] = games
        moving.nodes[:going] = 0
        if tree.hidden:
            streams = np.empty(going, np.uint64)
            branch(self._seeds, games, streams)
            moving.states[:going] = game.determinize(self._views[games], streams)
            moving.masks[:going] = self._root_masks[games]
        while going:
            leaves = choose(
                *tree.arrays, self._seeds, moving.walks, going, moving.bytes, moving.masks, actions, c, self.rave,
                game.resign,
            )  # fmt: skip
            game.step(moving.states[:going], actions[:going])
            if leaves and not arrived:  # all at once, which saves sorting them out
                moving.over[:going] = moving.done[:going]
                branch(self._seeds, games, self._leaf_seeds[:going])
                return self._back_up(moving, going, solve)
            before = going
            going = arrive(
                *tree.arrays, self._seeds, moving.walks, before, moving.bytes, moving.to_move, moving.done,
                self._leaves.walks, arrived, self._leaves.bytes, self._leaf_seeds,
            )  # fmt: skip
            arrived += before - going
            if going:
                game.legal_action_mask(moving.states[:going], out=moving.masks[:going])
        return self._back_up(self._leaves, arrived, solve)

    def _back_up(self, leaves: Walks, count: int, solve: bool) -> int:
        game, tree = self.game, self.tree
        states, masks, traces = leaves.states[:count], leaves.masks[:count], None
        if self.evaluator.gives_priors:
            game.legal_action_mask(states, out=masks)
        if self.rave:
            traces = self._traces[:count]
            traces.fill(NOBODY)
        priors, values = self.evaluator(game, states, masks, self._leaf_seeds[:count], traces)
        if priors is not None:
            expand(
                *tree.arrays, leaves.walks, count, leaves.bytes, leaves.to_move, masks, priors, game.resign,
            )  # fmt: skip
        return back_up(*tree.arrays, leaves.walks, count, values, self._traces, game.shared_moves, solve)

    def decided(self, games: Array, left: int | None) -> Array:
        """(len(games),) bool: the root is proven; or, if `left` is given, no other action can overtake its most visited
        one in as many simulations (a proof of its loss could still).
        """
        proven = self.tree.nodes["proven"][games, 0]
        if left is None:
            return proven
        visits = np.sort(self.tree.edges["visits"][games, 0], axis=1)
        return proven | (visits[:, -1] - visits[:, -2] > left)

    def results(self, simulations: Array, seconds: float) -> list[SearchResult]:
        """What stands at the roots."""
        return [self._result(g, int(simulations[g]), seconds) for g in range(len(self._views))]

    def _result(self, g: int, simulations: int, seconds: float) -> SearchResult:
        tree, root = self.tree, self.tree.nodes[g, 0]
        visits, values, settled = self._edges(g, 0)
        best = _best(visits, values, settled)
        return SearchResult(
            game=self.game,
            view=self._views[g : g + 1].copy(),
            player=int(root["player"]),
            visits=visits,
            values=values,
            settled=settled,
            value=tree.sums[g, 0, BEST].copy() if root["proven"] else tree.sums[g, 0, SUM] / max(1, root["visits"]),
            proven=bool(root["proven"]),
            best=best,
            principal_variation=tuple(self._line(g, best)),
            simulations=simulations,
            seconds=seconds,
            nodes=int(tree.sizes[g]),
        )

    def _edges(self, g: int, n: int) -> tuple[Array, Array, Array]:
        """(A,) visits, values for who is to move, settled."""
        tree = self.tree
        edges, player = tree.edges[g, n], tree.nodes[g, n]["player"]
        visits, child = edges["visits"].copy(), edges["child"]
        values = np.divide(edges["total"], visits, out=np.full(len(visits), np.nan), where=visits > 0)
        proven = (child < NONE) & (child > ILLEGAL)
        values[proven] = tree.sums[g, ~child[proven], BEST, player]
        return visits, values, proven | (child == TERMINAL)

    def _line(self, g: int, action: int) -> list[int]:
        """The best action of each node, from `action` at the root on."""
        tree, n, line = self.tree, 0, [action]
        while True:
            child = int(tree.edges[g, n, action]["child"])
            if child in (NONE, TERMINAL):
                return line
            n = child if child > 0 else ~child
            visits, values, settled = self._edges(g, n)
            if not visits.any():
                return line
            action = _best(visits, values, settled)
            line.append(action)


def _best(visits: Array, values: Array, settled: Array) -> int:
    """The most visited action whose outcome is open, or one that is settled if that wins or is better than the other's
    mean; the lowest of equally good ones.
    """
    known = np.where(settled, values, -np.inf)
    open_visits = np.where(settled, 0, visits)
    if not open_visits.any():
        return int(np.lexsort((-visits, -known))[0])
    best = int(open_visits.argmax())
    return int(known.argmax()) if known.max() > values[best] or known.max() == 1 else best
