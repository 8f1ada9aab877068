"""Learned patterns for the two connection games: priors of actions from the cells around them.

The logit of an action is a sum of weights, one for each of its features: the contents of the six cells around it (as
one pattern), of each of the twelve cells beyond, the direction of the last move, and the cell's position on the board.
These are the patterns of MoHex 2.0 (Huang, Arneson, Hayward, Müller & Pawlewicz 2013), learned from visits of searches.

The weights are canonical: for the player to move, who in Chameleon always plays as Vert (the board is mirrored for
Horz), and for the mark (x or o) that the action places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import Ints, States
from pbm_envs.toolbox import Array, BatchKernel, Floats, exp_in_range, stack_kernel

EMPTY, SAME, OTHER, OFF_OWN, OFF_OTHER = range(5)
"""Kinds of cells relative to an action: empty, a stone of the same or the other mark, off the board beyond an edge of
the player to move or of the opponent (in Unlur always the former)."""
KINDS = 5
AROUND, BEYOND = 6, 12
PATTERNS = KINDS**AROUND
RINGS, OFFSETS = BEYOND * KINDS, 2 * (AROUND + BEYOND)
"""Numbers of weights for the cells beyond, and for the last move (by its offset and whether it has the same mark)."""
FEATURES = 3 + BEYOND
HALF, LOWER = 32, (1 << 32) - 1
"""The kinds of cells relative to the other mark are in the upper half of 64 bits."""
NONE = -1
BELOW_ALL, LEAST = -1e9, -700.0
"""Logits of actions that are not legal, and what they are raised to: its exponential is 0 in single precision."""


@final
class Geometry:
    """Index arrays that map the actions of a game to their features, for the kernels."""

    def __init__(self, game: Game) -> None:
        """Compute the arrays; raise ValueError for games other than Chameleon and Unlur."""
        names = game.dtype.names or ()
        if not {"stones", "chain"} <= set(names) or not {"vert", "black"} & set(names):
            raise ValueError(f"{game!r} has no learned patterns: expected Chameleon or Unlur")
        self.mirrored = "vert" in names
        self.marks = 2 if self.mirrored else 1
        self.roles = 1 if self.mirrored else 3
        self.cells = game.board.size
        board = game.board
        at = {place: cell for cell, place in enumerate(zip(board.rows.tolist(), board.cols.tolist(), strict=True))}
        steps = _directions(board.neighbours, board.rows, board.cols)
        beyond = [(a[0] + b[0], a[1] + b[1]) for k, a in enumerate(steps) for b in (a, steps[(k + 1) % AROUND])]
        offsets = [*steps, *beyond]
        views = 2 if self.mirrored else 1
        self.patch = np.zeros((views, self.cells, AROUND + BEYOND), np.int32)
        self.position = np.zeros((views, self.cells), np.int32)
        self.seen_from = np.full((views, self.cells, self.cells), NONE, np.int8)
        for view in range(views):
            for (row, col), cell in at.items():
                place = (col, row) if view else (row, col)
                self.position[view, cell] = at[place]
                for k, (down, right) in enumerate(offsets):
                    seen = (place[0] + down, place[1] + right)
                    other = at.get((seen[1], seen[0]) if view else seen)
                    if other is None:
                        rows_out = not 0 <= seen[0] < board.shape[0]
                        self.patch[view, cell, k] = self.cells + (not rows_out and self.mirrored)
                    else:
                        self.patch[view, cell, k] = other
                        self.seen_from[view, cell, other] = k
        self.parts = (PATTERNS, RINGS, OFFSETS, self.cells)
        self.size = self.roles * sum(self.parts)


def _directions(neighbours: Array, rows: Array, cols: Array) -> list[tuple[int, int]]:
    """Return the steps to the six neighbours, in circular order."""
    inner = int(np.flatnonzero((neighbours >= 0).all(axis=1))[0])
    return [(int(rows[cell] - rows[inner]), int(cols[cell] - cols[inner])) for cell in neighbours[inner].tolist()]


class Places(NamedTuple):
    """Index arrays of the features of each cell, from `Geometry`."""

    patch: Ints
    position: Ints
    seen_from: Ints


class Placing(NamedTuple):
    """The stone that the first action of each cell places."""

    mirrored: int
    """0, or 1 for a mirrored board. (Numba would confuse the name `view` with the method of arrays.)"""
    role: int
    """The role of the player to move."""
    mark: int
    """The mark of the stone, 1 or 2."""
    last: int
    """The cell of the last move, or NONE."""
    inner_only: bool
    """True if stones may not be placed on edges."""


@stack_kernel
def write_priors(
    places: Places,
    placing: Placing,
    stones: Ints,
    count: int,
    edges: Ints,
    weights: Floats,
    kinds: Ints,
    priors: Floats,
) -> None:
    """Write the softmax of the sums of weights of all actions.

    Args:
        places: The index arrays of the features.
        placing: The stones that the actions place.
        stones: (cells,) the stones of the position.
        count: Actions per cell: 1, or 2 for both marks.
        edges: (cells,) the edges of the board.
        weights: A weight for each feature.
        kinds: (cells + 2,) working memory.
        priors: (A,) overwritten. Actions that place no stone get the prior of the best one that does.
    """
    patch, position, seen = places.patch, places.position, places.seen_from
    view, role, mark, last = placing.mirrored, placing.role, placing.mark, placing.last
    cells = len(stones)
    base = role * (PATTERNS + RINGS + OFFSETS + cells)
    ring, offsets = base + PATTERNS, base + PATTERNS + RINGS
    first_place = offsets + OFFSETS
    for cell in range(cells):
        kind = EMPTY if stones[cell] == 0 else SAME if stones[cell] == mark else OTHER
        kinds[cell] = kind | (SAME + OTHER - kind if kind != EMPTY else EMPTY) << HALF
    kinds[cells], kinds[cells + 1] = OFF_OWN | OFF_OWN << HALF, OFF_OTHER | OFF_OTHER << HALF
    highest = np.float32(BELOW_ALL / 2)
    for cell in range(cells):
        if stones[cell] != 0 or (placing.inner_only and edges[cell]):
            for k in range(count):
                priors[cell * count + k] = BELOW_ALL
            continue
        codes = 0  # of the mark, and in the upper half of the other one
        logit = weights[first_place + position[view, cell]]
        other_logit = logit
        for k in range(AROUND):
            codes = codes * KINDS + kinds[np.uint64(patch[view, cell, k])]
        for k in range(AROUND, AROUND + BEYOND):
            both, at = kinds[np.uint64(patch[view, cell, k])], ring + (k - AROUND) * KINDS
            logit += weights[np.uint64(at + (both & LOWER))]
            other_logit += weights[np.uint64(at + (both >> HALF))]
        logit += weights[base + (codes & LOWER)]
        other_logit += weights[base + (codes >> HALF)]
        if last >= 0 and seen[view, cell, last] >= 0:
            at, same = offsets + 2 * seen[view, cell, last], (kinds[last] & LOWER) == SAME
            logit += weights[at + same]
            other_logit += weights[at + (not same)]
        priors[cell * count] = logit
        highest = max(highest, logit)
        if count == 2:
            priors[cell * count + 1] = other_logit
            highest = max(highest, other_logit)
    total = np.float32(0)
    for a in range(cells * count):
        priors[a] = exp_in_range(max(np.float64(priors[a] - highest), LEAST))
    for a in range(cells * count):
        total += priors[a]
    share = np.float32(1) / max(total, np.float32(1))
    for a in range(cells * count):
        priors[a] *= share
    for a in range(cells * count, len(priors)):
        priors[a] = share


@stack_kernel
def chameleon_priors(
    states: States, edges: Ints, patch: Ints, position: Ints, seen: Ints, weights: Floats, priors: Floats
) -> None:
    """Write the priors of Chameleon (B, A); the board is mirrored for Horz."""
    cells = len(edges)
    places, kinds = Places(patch, position, seen), np.empty(cells + 2, np.int64)
    for i in range(len(states)):
        state = states[i]
        last = state["last_action"] >> 1 if 0 <= state["last_action"] < 2 * cells else NONE
        view = 1 if state["vert"] != state["to_move"] else 0
        placing = Placing(view, 0, 1, last, False)
        write_priors(places, placing, state["stones"], 2, edges, weights, kinds, priors[i])


@stack_kernel
def unlur_priors(
    states: States, edges: Ints, patch: Ints, position: Ints, seen: Ints, weights: Floats, priors: Floats
) -> None:
    """Write the priors of Unlur (B, A), with different weights before the contract, for Black and for White."""
    cells = len(edges)
    places, kinds = Places(patch, position, seen), np.empty(cells + 2, np.int64)
    for i in range(len(states)):
        state = states[i]
        last = state["last_action"] if 0 <= state["last_action"] < cells else NONE
        role = 0 if state["black"] < 0 else 1 if state["black"] == state["to_move"] else 2
        mark = 2 if role == 2 else 1
        placing = Placing(0, role, mark, last, role == 0)
        write_priors(places, placing, state["stones"], 1, edges, weights, kinds, priors[i])


@final
class PatternPriors:
    """Priors of learned patterns, for `UCT(priors=...)`."""

    def __init__(self, game: Game, weights: Floats) -> None:
        """Make priors from weights (`Geometry(game).size`,) for Chameleon or Unlur."""
        self.game, self.geometry = game, Geometry(game)
        if weights.shape != (self.geometry.size,):
            raise ValueError(f"weights have shape {weights.shape}: expected {(self.geometry.size,)} for {game!r}")
        self.weights = np.ascontiguousarray(weights, np.float32)

    def __call__(self, game: Game, states: Array) -> Floats:
        """Return the priors of actions (see `ActionPriors`)."""
        fill, arguments = self.kernel(game)
        priors = np.empty((len(states), game.num_actions), np.float32)
        fill(states, *arguments, priors)
        return priors

    def kernel(self, game: Game) -> BatchKernel:
        """Return the kernel that writes the priors in compiled searches: `kernel(states, *arguments, priors)`."""
        if game != self.game:
            raise ValueError(f"the patterns are of {self.game!r}, not of {game!r}")
        on = self.geometry
        arguments = game.board.edges, on.patch, on.position, on.seen_from, self.weights
        return BatchKernel(chameleon_priors if on.mirrored else unlur_priors, arguments)

    def features(self, states: States) -> Ints:
        """Return (B, placing actions, FEATURES) int32, the indices of the weights of each action, for training.

        An index is NONE if a feature is absent, and all are NONE for occupied cells.
        """
        on, rows, stones = self.geometry, np.arange(len(states))[:, None], states["stones"]
        movers, last = states["to_move"], states["last_action"].astype(np.int64)
        if on.mirrored:
            views, roles = (states["vert"] != movers).astype(int), np.zeros(len(states), int)
            last >>= 1
        else:
            black = states["black"]
            views, roles = np.zeros(len(states), int), np.where(black < 0, 0, np.where(black == movers, 1, 2))
        marks = (1, 2) if on.mirrored else (np.where(roles == 2, 2, 1)[:, None],)
        last = np.where((last >= 0) & (last < on.cells), last, NONE)[:, None]
        seen = np.where(last >= 0, on.seen_from[views[:, None], np.arange(on.cells), last], NONE)
        base = roles[:, None] * sum(on.parts)
        found = np.full((len(states), on.cells, on.marks, FEATURES), NONE, np.int32)
        for k, mark in enumerate(marks):
            kinds = np.where(stones == 0, EMPTY, np.where(stones == mark, SAME, OTHER))
            kinds = np.hstack([kinds, np.full((len(states), 2), (OFF_OWN, OFF_OTHER))])
            around = kinds[rows[:, None], on.patch[views]]
            of_mark = found[:, :, k]
            of_mark[..., 0] = base + around[..., :AROUND] @ KINDS ** np.arange(AROUND)[::-1]
            of_mark[..., 1 : 1 + BEYOND] = base[:, None] + PATTERNS + KINDS * np.arange(BEYOND) + around[..., AROUND:]
            of_last = base + PATTERNS + RINGS + 2 * seen + (stones[rows, last] == mark)
            of_mark[..., 1 + BEYOND] = np.where(seen >= 0, of_last, NONE)
            of_mark[..., 2 + BEYOND] = base + PATTERNS + RINGS + OFFSETS + on.position[views]
        found[stones != 0] = NONE
        return found.reshape(len(states), -1, FEATURES)

    def save(self, path: str | Path) -> None:
        """Write the weights to a compressed file, in half precision."""
        np.savez_compressed(path, weights=self.weights.astype(np.float16))

    @classmethod
    def load(cls, game: Game, path: str | Path) -> PatternPriors:
        """Return the patterns from a file that `save` wrote; raise ValueError if it was written for another game.

        The weights of board positions are 0 if the size of the board differs.
        """
        with np.load(path, allow_pickle=False) as file:
            weights = file["weights"].astype(np.float32)
        geometry = Geometry(game)
        rows = weights.reshape(geometry.roles, -1) if len(weights) % geometry.roles == 0 else weights[None]
        shared = sum(geometry.parts[:-1])
        if len(rows) != geometry.roles or rows.shape[1] <= shared:
            raise ValueError(f"{str(path)!r} holds {len(weights)} weights: expected patterns of {game!r}")
        if rows.shape[1] != sum(geometry.parts):
            rows = np.pad(rows[:, :shared], ((0, 0), (0, geometry.cells)))
        return cls(game, rows.ravel())

    def __reduce__(self) -> tuple[Any, ...]:
        return PatternPriors, (self.game, self.weights)
