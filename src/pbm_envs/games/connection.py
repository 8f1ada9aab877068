"""The base class of Chameleon and Unlur: games in which players place stones and join edges by a chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..core.boards import NO_CELL, Board
from ..core.game import Game
from ..core.printable import quoted
from ..core.symmetry import Symmetry, edge_permutation
from ..core.types import Ints, Record, Seeds, States
from ..core.validation import expect, expect_range
from .chains import around


class ConnectionGame(Game):
    """A game on a board of hexagons whose records have the fields `chain_fields`."""

    letters: ClassVar[str]
    """The marks in board texts, in order, EMPTY first."""

    def __init__(self, **facts: Any) -> None:
        """Set the facts of the game; the arguments are those of `Game`."""
        super().__init__(**facts)
        self._around = around(self.board)

    def _init(self, states: States, seeds: Seeds, board: str | None) -> None:
        if board is not None and board.strip() != self._board_text(np.zeros(self.board.size, np.int8)):
            raise ValueError(
                f"board is {quoted(board)}: expected the empty board or none, since positions are given as moves"
            )

    def _board_text(self, stones: NDArray[np.int8]) -> str:
        lines = [""] * self.board.shape[0]
        for (row, _), stone in zip(self.board.places, stones, strict=True):
            lines[row] += self.letters[stone]
        return "/".join(lines)

    def _board_to_string(self, state: Record) -> str:
        return self._board_text(state["stones"])

    def _transform(self, states: States, symmetry: Symmetry) -> None:
        cells, becomes = symmetry.cells, edge_permutation(self.board, symmetry.cells)
        touching = np.array(
            [sum((t >> k & 1) << new for k, new in enumerate(becomes)) for t in range(1 << len(becomes))]
        )
        stones, chain, touches = (states[name].copy() for name in ("stones", "chain", "touches"))
        states["stones"][:, cells] = np.asarray(symmetry.marks)[stones]
        states["chain"][:, cells] = np.where(stones != 0, cells[chain], 0)
        states["touches"][:, cells] = touching[touches]

    def validate_chains(self, states: States, figures: Sequence[int]) -> None:
        """Raise InvalidStateError unless stones, chains and touched edges are consistent, and games end by a chain that
        joins all edges (bits) of one of `figures`.
        """
        stones, chain, touches = states["stones"], states["chain"].astype(np.int64), states["touches"]
        rows, cells, edges = np.arange(len(states))[:, None], np.arange(self.board.size), self.board.edges
        expect_range(states, "stones", 0, 2)
        expect_range(states, "chain", 0, self.board.size - 1)
        expect_range(states, "touches", 0, int(np.bitwise_or.reduce(edges)))
        roots = chain
        for _ in range(self.board.size.bit_length()):
            roots = roots[rows, roots]
        placed = stones > 0
        leads = (chain[rows, roots] == roots) & (stones[rows, chain] == stones)
        expect(leads | ~placed, states, "chain", "a way over stones of one mark from each stone to its root")
        labels = connected(stones, self.board)
        same = (roots == roots[rows, labels]) & (labels == labels[rows, roots])
        expect(same | ~placed, states, "chain", "one root for each connected group of stones")
        reached = np.zeros(stones.shape, touches.dtype)
        np.bitwise_or.at(reached, (rows, roots), np.where(placed, edges, 0).astype(touches.dtype))
        is_root = placed & (roots == cells)
        expect((touches == reached) | ~is_root, states, "touches", "the edges that each chain touches, at its root")
        joined = np.any([np.where(placed, touches, 0) & sides == sides for sides in figures], axis=0).any(axis=1)
        done, returns = states["done"], states["returns"]
        expect(done | ~joined, states, "done", "True where a chain has decided the game")
        over = (np.abs(returns) <= 1).all(axis=1)
        expect(np.where(done, over, (returns == 0).all(axis=1)), states, "returns", "-1 to 1 at the end, else zeros")


def connected(stones: Ints, board: Board) -> NDArray[np.int64]:
    """Return (B, cells): for each stone, the smallest cell of its connected group of stones of the same mark."""
    rows, cells = np.arange(len(stones))[:, None], np.arange(board.size)
    beside = np.where(board.neighbours == NO_CELL, cells[:, None], board.neighbours).astype(np.int64)
    same = stones[:, beside] == stones[:, :, None]
    labels = np.broadcast_to(cells, stones.shape).astype(np.int64)
    while True:
        smaller = np.where(same, labels[:, beside], labels[:, :, None]).min(axis=2)
        smaller = smaller[rows, smaller]
        if (smaller == labels).all():
            return labels
        labels = smaller


def winning_figure(game: Game, view: Record, figures: Sequence[Sequence[int]]) -> set[int]:
    """Return the cells of a minimal part of the last stone's chain that joins all edges (bits) of one of `figures`.

    There are none if the game was not ended by a chain.
    """
    last, board, stones = int(view["last_action"]), game.board, view["stones"]
    if not view["done"] or last < 0 or not (cells := game.action_cells(last)):
        return set()
    best: set[int] = set()
    chain = _steps(stones, board, cells)
    for edges in figures:
        from_edges = [_steps(stones, board, [other for other in chain if board.edges[other] & edge]) for edge in edges]
        if all(from_edges):
            # join shortest paths from the edges at the cell with the least sum of distances
            meeting = min(chain, key=lambda other: sum(steps[other] for steps in from_edges))
            found = {other for steps in from_edges for other in _way_back(steps, meeting, board)}
            best = found if not best or len(found) < len(best) else best
    return best


def last_chain(game: Game, view: Record) -> tuple[set[int], int]:
    """Return the cells of the chain of the stone that was placed last, and the edges (bits) that it touches."""
    last = int(view["last_action"])
    chain = set(_steps(view["stones"], game.board, game.action_cells(last))) if last >= 0 else set()
    return chain, int(np.bitwise_or.reduce(game.board.edges[sorted(chain)])) if chain else 0


def _steps(stones: Ints, board: Board, starts: Sequence[int]) -> dict[int, int]:
    """Return the distance in steps of each cell of a chain from the nearest of `starts`."""
    steps = dict.fromkeys(starts, 0)
    queue = list(starts)
    for here in queue:
        for other in board.neighbours[here].tolist():
            if other != NO_CELL and other not in steps and stones[other] == stones[here]:
                steps[other] = steps[here] + 1
                queue.append(other)
    return steps


def _way_back(steps: dict[int, int], cell: int, board: Board) -> Iterator[int]:
    yield cell
    while steps[cell]:
        cell = next(o for o in board.neighbours[cell].tolist() if o in steps and steps[o] == steps[cell] - 1)
        yield cell
