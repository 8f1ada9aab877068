"""What Chameleon and Unlur share: chains of stones of one mark that join edges, and the base class of both games.

The state fields `chain` and `touches` form the union-find structure: from any stone, `chain` leads to the root of its
chain, and at the root `touches` contains the edges that the chain has reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.boards import NO_CELL, Board
from ..core.checks import quoted
from ..core.game import Game
from ..core.kernels import stack_kernel
from ..core.randomness import draw
from ..core.state import Ints, Record, Seeds, States
from ..core.symmetry import Symmetry, edge_permutation
from ..core.validation import expect, expect_range

Index: TypeAlias = "int | np.unsignedinteger[Any]"
"""A cell as an index: unsigned in the hottest kernels."""


def chain_fields(cells: int) -> list[Any]:
    return [
        ("chain", "u2", (cells,)),
        ("stones", "i1", (cells,)),
        ("touches", "u1", (cells,)),
    ]


INSIDE = 6
"""The column of `around` whose bits k tell which neighbours are on the board."""


def around(board: Board) -> NDArray[np.uint16]:
    """Return (n, 7) the neighbours of each cell on a board of hexagons, in order around it, and then INSIDE.

    The cell itself represents a neighbour off the board: it is empty when kernels read its neighbours.
    """
    cells, inside = np.arange(board.size)[:, None], board.neighbours != NO_CELL
    bits = (inside << np.arange(INSIDE)).sum(axis=1, keepdims=True)
    return np.hstack([np.where(inside, board.neighbours, cells), bits]).astype(np.uint16)


def _runs(bits: int) -> int:
    """Return the first bit of each run of bits that represent the places of a ring; one bit if all are set."""
    return bits & ~(bits << 1 | bits >> 5) or bits & 1


RUNS = np.array([_runs(bits) for bits in range(64)], np.uint8)
LOWEST = np.array([max(0, (bits & -bits).bit_length() - 1) for bits in range(64)], np.uint8)
"""By six bits. Kernels use unsigned indices where it matters: Numba tests others for being negative."""


@stack_kernel
def marks_beside(stones: Ints, cell: Index, around: Ints) -> int:
    """Return bits k for neighbours `around[cell, k]` with a stone of mark 1, and bits 6 + k for those of mark 2."""
    found = 0
    for k in range(6):
        stone = int(stones[around[cell, k]])
        found |= (stone & 1 | (stone & 2) << 5) << k
    return found


@stack_kernel
def of_mark(marks: int, mark: int) -> int:
    """Return the six bits for one mark of those that `marks_beside` returns."""
    return marks >> 6 * (mark - 1) & 63


@stack_kernel
def chains_beside(marks: int, mark: int) -> int:
    """Return bits k of neighbours with a stone of `mark`; one bit for adjacent stones (one chain)."""
    return int(RUNS[np.uint64(of_mark(marks, mark))])


class Chains(NamedTuple):
    """The stones of a position, their chains and the board, for kernels that would need too many arguments.

    Made inside kernels. The hottest kernels take the arrays one by one, which makes playouts 6% faster.
    """

    stones: Ints
    chain: Ints
    touches: Ints
    around: Ints
    edges: Ints


@stack_kernel
def join(stones: Ints, chain: Ints, touches: Ints, cell: Index, mark: int, around: Ints, edges: Ints) -> int:
    """Put a stone of `mark` on `cell` and join it to its chain; return the edges that the chain touches."""
    return join_to(stones, chain, touches, cell, mark, marks_beside(stones, cell, around), around, edges)


@stack_kernel
def join_to(
    stones: Ints, chain: Ints, touches: Ints, cell: Index, mark: int, marks: int, around: Ints, edges: Ints
) -> int:
    """Join as `join` does; `marks` are from `marks_beside`, so that a caller who has them does not read them again."""
    beside = chains_beside(marks, mark)
    stones[cell] = mark
    chain[cell] = cell
    root, reached = np.uint64(cell), edges[cell]
    while beside:
        other = np.uint64(around[cell, LOWEST[np.uint64(beside)]])
        beside &= beside - 1
        above = np.uint64(chain[other])
        while above != other:
            chain[other] = chain[above]
            other = above
            above = np.uint64(chain[other])
        if other != root:
            chain[root] = other
            root = other
            reached |= touches[other]
    touches[root] = reached
    return reached


@stack_kernel
def would_touch(board: Chains, cell: Index, beside: int) -> int:
    """Return the edges that the chain of a stone on `cell` would touch; `beside` is from `chains_beside`."""
    chain, touches, around = board.chain, board.touches, board.around
    reached = board.edges[cell]
    while beside:
        other = np.uint64(around[cell, LOWEST[np.uint64(beside)]])
        beside &= beside - 1
        while chain[other] != other:
            other = np.uint64(chain[other])
        reached |= touches[other]
    return reached


@stack_kernel
def broken_bridges(marks: int, cell: int, mark: int, around: Ints, edges: Ints) -> int:
    """Return bits k such that a stone of `mark` on the empty cell `around[cell, k]` saves a bridge that `cell` breaks.

    A bridge is two stones of one mark, or a stone and an edge, with two empty cells between them: either cell connects
    them, so neither needs to be filled while both are empty. `marks` are from `marks_beside`.
    """
    same, empty = of_mark(marks, mark), int(around[cell, INSIDE]) & ~(marks | marks >> 6)
    before, after = (same << 1 | same >> 5) & 63, (same >> 1 | same << 5) & 63
    found = before & after & empty
    if edges[cell]:
        beside = (before | after) & empty & ~found
        while beside:
            place = LOWEST[np.uint64(beside)]
            beside &= beside - 1
            if edges[cell] & edges[around[cell, place]]:
                found |= 1 << int(place)
    return found


@stack_kernel
def saving_cell(bridges: int, cell: int, around: Ints, seeds: Seeds, row: int) -> int:
    """Return one of the cells found by `broken_bridges`, each with the same probability."""
    count, left = 0, bridges
    while left:
        left &= left - 1
        count += 1
    for _ in range(draw(seeds, row, count)):
        bridges &= bridges - 1
    return around[cell, LOWEST[np.uint64(bridges)]]


@stack_kernel
def exchange(items: Ints, places: Ints, one: int, other: int) -> None:
    """Exchange the items at two places; `places` has the place of each item."""
    first, second = items[np.uint64(one)], items[np.uint64(other)]
    items[np.uint64(one)], items[np.uint64(other)] = second, first
    places[first], places[second] = other, one


@stack_kernel
def copy_board(stones: Ints, chain: Ints, touches: Ints, new_stones: Ints, new_chain: Ints, new_touches: Ints) -> None:
    """Copy stones and chains. Playouts on plain arrays are a third faster than on the fields of a record, and element
    loops copy faster than slices (measured).
    """
    for cell in range(len(stones)):
        new_stones[cell] = stones[cell]
        new_chain[cell] = chain[cell]
        new_touches[cell] = touches[cell]


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
