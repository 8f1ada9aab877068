"""Learned patterns for the two connection games: priors of actions from the cells around them.

The logit of an action is a sum of weights, one for each of its features: what stands on the six cells around (as one
pattern), on each of the twelve beyond, where the last move was seen from here, and where on the board it is. Such were
the patterns of MoHex 2.0 (Huang, Arneson, Hayward, Müller & Pawlewicz 2013); ours are learned from visits of searches.

The weights say nothing of left and right, x and o: they are those of the player to move, who in Chameleon is seen as
Vert (Horz sees the board mirrored), for a stone of the letter that the action places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import Ints, States
from pbm_envs.toolbox import Array, BatchKernel, Floats, stack_kernel

EMPTY, SAME, OTHER, OFF_OWN, OFF_OTHER = range(5)
"""What a cell can be, seen from an action: without a stone, a stone of the same or the other mark, off the board
beyond an edge of the player to move or of the opponent (in Unlur always the first)."""
KINDS = 5
AROUND, BEYOND = 6, 12
PATTERNS = KINDS**AROUND
BELOW_ALL = -1e9
FEATURES = 3 + BEYOND
NONE = -1


@final
class Geometry:
    """Where the features of a game's actions are found, as arrays for the kernels."""

    def __init__(self, game: Game) -> None:
        """ValueError for a game that has no stones on hexagons."""
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
        self.parts = (PATTERNS, BEYOND * KINDS, 2 * (AROUND + BEYOND), self.cells)
        self.size = self.roles * sum(self.parts)

    def roles_of(self, states: States) -> NDArray[np.int64]:
        """(B, 2) the view (1: mirrored) and the role of the player to move."""
        movers = states["to_move"].astype(np.int64)
        if self.mirrored:
            mirrored = (states["vert"] != movers).astype(np.int64)
            return np.stack([mirrored, np.zeros_like(mirrored)], axis=1)
        black = states["black"].astype(np.int64)
        role = np.where(black < 0, 0, np.where(black == movers, 1, 2))
        return np.stack([np.zeros_like(role), role], axis=1)


def _directions(neighbours: Array, rows: Array, cols: Array) -> list[tuple[int, int]]:
    """The steps to the six neighbours, each beside the next."""
    inner = int(np.flatnonzero((neighbours >= 0).all(axis=1))[0])
    return [(int(rows[cell] - rows[inner]), int(cols[cell] - cols[inner])) for cell in neighbours[inner].tolist()]


class Places(NamedTuple):
    """Where the features of each cell are found, as in `Geometry`. Kernels make it."""

    patch: Ints
    position: Ints
    seen: Ints
    """`Geometry.seen_from`."""


class Placing(NamedTuple):
    """Who places which stone. Kernels make it."""

    mirrored: int
    """0, or 1 for a mirrored board. (Numba takes `view` for that of arrays.)"""
    role: int
    """Of the player to move."""
    mark: int
    """Of the stone, 1 or 2."""
    last: int
    """The cell of the last move, or NONE."""
    inner_only: bool
    """Whether stones may not be placed on edges."""


@stack_kernel
def features_of(places: Places, placing: Placing, stones: Ints, cell: int, out: Ints) -> None:
    """The indices of the weights of one action.

    Args:
        places: Where features are found.
        placing: Who places which stone.
        stones: (cells,) of the position.
        cell: Of the action.
        out: (FEATURES,) is overwritten; NONE where a feature is absent.
    """
    patch, seen, view, mark, last = places.patch, places.seen, placing.mirrored, placing.mark, placing.last
    cells = len(stones)
    code, base = 0, placing.role * (PATTERNS + BEYOND * KINDS + 2 * (AROUND + BEYOND) + cells)
    for k in range(AROUND + BEYOND):
        other = patch[view, cell, k]
        if other >= cells:
            kind = OFF_OWN + other - cells
        elif stones[other] == 0:
            kind = EMPTY
        else:
            kind = SAME if stones[other] == mark else OTHER
        if k < AROUND:
            code = code * KINDS + kind
        else:
            out[1 + k - AROUND] = base + PATTERNS + (k - AROUND) * KINDS + kind
    out[0] = base + code
    base += PATTERNS + BEYOND * KINDS
    out[1 + BEYOND] = NONE
    if last >= 0 and seen[view, cell, last] >= 0:
        out[1 + BEYOND] = base + 2 * seen[view, cell, last] + (stones[last] == mark)
    out[2 + BEYOND] = base + 2 * (AROUND + BEYOND) + places.position[view, cell]


@stack_kernel
def feature_batch(
    stones: Ints, roles: Ints, marks: Ints, lasts: Ints, patch: Ints, position: Ints, seen: Ints, out: Ints
) -> None:
    """(B, cells x marks, FEATURES) of every action that places a stone; NONE throughout for what is not empty."""
    places, count = Places(patch, position, seen), marks.shape[1]
    for i in range(len(stones)):
        for cell in range(stones.shape[1]):
            for k in range(count):
                if stones[i, cell] == 0:
                    placing = Placing(roles[i, 0], roles[i, 1], marks[i, k], lasts[i], False)
                    features_of(places, placing, stones[i], cell, out[i, cell * count + k])


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
    """Softmax of the sums of weights: the sums that `features_of` names, of all actions at once.

    Args:
        places: Where features are found.
        placing: Who places which stone, by the first action of each cell.
        stones: (cells,) of the position.
        count: Actions of a cell: 1, or 2 for both marks.
        edges: (cells,) of the board.
        weights: One of each feature.
        kinds: (cells + 2,) to work in.
        priors: (A,) is overwritten. Actions that place no stone get as much as the best one that does.
    """
    patch, position, seen = places.patch, places.position, places.seen
    view, role, mark, last = placing.mirrored, placing.role, placing.mark, placing.last
    cells = len(stones)
    base = role * (PATTERNS + BEYOND * KINDS + 2 * (AROUND + BEYOND) + cells)
    ring, offsets = base + PATTERNS, base + PATTERNS + BEYOND * KINDS
    places = offsets + 2 * (AROUND + BEYOND)
    for cell in range(cells):
        kinds[cell] = EMPTY if stones[cell] == 0 else SAME if stones[cell] == mark else OTHER
    kinds[cells], kinds[cells + 1] = OFF_OWN, OFF_OTHER
    highest = np.float32(BELOW_ALL)
    for cell in range(cells):
        if stones[cell] != 0 or (placing.inner_only and edges[cell]):
            for k in range(count):
                priors[cell * count + k] = BELOW_ALL
            continue
        code, other_code = 0, 0
        logit = weights[places + position[view, cell]]
        other_logit = logit
        for k in range(AROUND):
            kind = kinds[patch[view, cell, k]]
            code = code * KINDS + kind
            other_code = other_code * KINDS + (3 - kind if kind == SAME or kind == OTHER else kind)
        for k in range(AROUND, AROUND + BEYOND):
            kind = kinds[patch[view, cell, k]]
            at = ring + (k - AROUND) * KINDS
            logit += weights[at + kind]
            other_logit += weights[at + (3 - kind if kind == SAME or kind == OTHER else kind)]
        logit += weights[base + code]
        other_logit += weights[base + other_code]
        if last >= 0 and seen[view, cell, last] >= 0:
            at = offsets + 2 * seen[view, cell, last]
            same = kinds[last] == SAME
            logit += weights[at + same]
            other_logit += weights[at + (not same)]
        priors[cell * count] = logit
        highest = max(highest, logit)
        if count == 2:
            priors[cell * count + 1] = other_logit
            highest = max(highest, other_logit)
    total = np.float32(0)
    for a in range(cells * count):
        if priors[a] == BELOW_ALL:
            priors[a] = 0
        else:
            priors[a] = np.exp(priors[a] - highest)
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
    """(B, A) of Chameleon: a Horz player sees the board mirrored."""
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
    """(B, A) of Unlur: weights of their own before the contract, for Black, and for White."""
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
        """Priors for this game.

        Args:
            game: Chameleon or Unlur.
            weights: (`Geometry(game).size`,) float32.
        """
        self.game, self.geometry = game, Geometry(game)
        if weights.shape != (self.geometry.size,):
            raise ValueError(f"weights have shape {weights.shape}: expected {(self.geometry.size,)} for {game!r}")
        self.weights = np.ascontiguousarray(weights, np.float32)
        self._edges = game.board.edges != 0

    def __call__(self, game: Game, states: Array) -> Floats:
        """As `ActionPriors`."""
        fill, arguments = self.kernel(game)
        priors = np.empty((len(states), game.num_actions), np.float32)
        fill(states, *arguments, priors)
        return priors

    def kernel(self, game: Game) -> BatchKernel:
        """What writes the priors, for searches that do not return to Python: `kernel(states, *arguments, priors)`."""
        if game != self.game:
            raise ValueError(f"the patterns are of {self.game!r}, not of {game!r}")
        on = self.geometry
        arguments = game.board.edges, on.patch, on.position, on.seen_from, self.weights
        return BatchKernel(chameleon_priors if on.mirrored else unlur_priors, arguments)

    def inputs(self, states: States) -> tuple[Array, Array, Array, Array, Array]:
        """What the kernels need to know of some states."""
        roles, count = self.geometry.roles_of(states), len(states)
        inner = np.zeros((count, self.geometry.cells), np.bool_)
        last = states["last_action"].astype(np.int64)
        if self.geometry.mirrored:
            marks = np.tile(np.array([1, 2], np.int64), (count, 1))
            last >>= 1
        else:
            marks = np.where(roles[:, 1:] == 2, 2, 1)
            inner[roles[:, 1] == 0] = self._edges
        last = np.where((last >= 0) & (last < self.geometry.cells), last, NONE)
        return np.ascontiguousarray(states["stones"]), roles, marks, last, inner

    def features(self, states: States) -> Ints:
        """(B, placing actions, FEATURES) int32 for training; NONE where there is none."""
        stones, roles, marks, lasts, _ = self.inputs(states)
        out = np.full((len(states), self.geometry.cells * self.geometry.marks, FEATURES), NONE, np.int32)
        geometry = self.geometry
        feature_batch(stones, roles, marks, lasts, geometry.patch, geometry.position, geometry.seen_from, out)
        return out

    def save(self, path: str | Path) -> None:
        """Write the weights, as half precision numbers, compressed."""
        np.savez_compressed(path, weights=self.weights.astype(np.float16))

    @classmethod
    def load(cls, game: Game, path: str | Path) -> PatternPriors:
        """The patterns of a file that `save` has written.

        On a board of another size all is the same but what the weights say of places, which are left out. ValueError
        if the file fits another game.
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
