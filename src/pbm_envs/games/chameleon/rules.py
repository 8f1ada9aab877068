"""The rules of Chameleon as kernels (H1 to H5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.boards import BOTTOM, LEFT, RIGHT, TOP
from ...core.kernels import stack_kernel
from ...core.randomness import draw
from ...core.state import EMPTY, NOBODY, Ints, Mask, Record, Seeds, States, concede, shows_mask, state_dtype, win
from ..chains import broken_bridges, chain_fields, copy_board, join, join_to, marks_beside, saving_cell

X, O = 1, 2  # noqa: E741  the letter's name
LETTERS = ".xo"  # in board texts: EMPTY, X, O
TOP_BOTTOM, LEFT_RIGHT = TOP | BOTTOM, LEFT | RIGHT


def chameleon_dtype(cells: int) -> np.dtype[np.void]:
    """Return the dtype of a record with `cells` cells."""
    # stones are EMPTY, X or O; vert is the player who owns top and bottom (H3, H4)
    return state_dtype(2, [*chain_fields(cells), ("vert", "i1")])


@stack_kernel
def winner_of(touches: int, mover: int, vert: int) -> int:
    """Return the player whose edges are connected by a chain with these touches, the mover first; or NOBODY (H3)."""
    vertical = touches & TOP_BOTTOM == TOP_BOTTOM
    horizontal = touches & LEFT_RIGHT == LEFT_RIGHT
    if vertical and horizontal:
        return mover
    if vertical:
        return vert
    if horizontal:
        return 1 - vert
    return NOBODY


@stack_kernel
def place(state: Record, cell: int, mark: int, around: Ints, edges: Ints) -> None:
    mover = state["to_move"]
    touches = join(state["stones"], state["chain"], state["touches"], cell, mark, around, edges)
    state["ply"] += 1
    state["to_move"] = 1 - mover
    winner = winner_of(touches, mover, state["vert"])
    if winner != NOBODY:
        win(state, winner)


@stack_kernel
def swap(state: Record) -> None:
    """Exchange the players' sides; the first player moves next (H4)."""
    state["vert"] = 1 - state["vert"]
    state["to_move"] = 1 - state["to_move"]
    state["ply"] += 1


@stack_kernel
def step_batch(states: States, actions: Ints, around: Ints, edges: Ints, swap_rule: bool, resign: int) -> int:
    """Play one ply and return -1, or return the first row with an illegal action; `resign` is its action, or -1."""
    cells = len(edges)
    for i in range(len(states)):
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        if 0 <= action < 2 * cells:
            legal = state["stones"][action >> 1] == EMPTY
        else:
            legal = (swap_rule and action == 2 * cells and state["ply"] == 1) or (resign >= 0 and action == resign)
        if not legal or state["viewer"] != NOBODY:
            return i
    for i in range(len(states)):
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        if action < 2 * cells:
            place(state, action >> 1, X + (action & 1), around, edges)
        elif action == resign:
            concede(state)
        else:
            swap(state)
        state["last_action"] = action
    return -1


@stack_kernel
def mask_batch(states: States, out: Mask, swap_rule: bool, resign: int) -> None:
    for i in range(len(states)):
        state = states[i]
        if not shows_mask(state):
            out[i] = False
            continue
        stones = state["stones"]
        cells = len(stones)
        for cell in range(cells):
            free = stones[cell] == EMPTY
            out[i, 2 * cell] = free
            out[i, 2 * cell + 1] = free
        if swap_rule:
            out[i, 2 * cells] = state["ply"] == 1
        if resign >= 0:
            out[i, resign] = True


def _playout_kernel(save_bridges: bool) -> Callable[..., None]:
    """Make a kernel for playouts. The flag is a constant in its code, so plain playouts contain no code for bridges."""

    @stack_kernel
    def playout_batch(
        states: States, seeds: Seeds, around: Ints, edges: Ints, swap_rule: bool, last_player_by_action: Ints
    ) -> None:
        """Play to the end on a copy of the board (see `copy_board`)."""
        cells = len(edges)
        free, place = np.empty(cells, np.uint16), np.empty(cells, np.uint16)  # free[place[cell]] == cell
        stones, chain, touches = np.empty(cells, np.int8), np.empty(cells, np.uint16), np.empty(cells, np.uint8)
        for i in range(len(states)):
            state = states[i]
            if state["done"]:
                continue
            copy_board(state["stones"], state["chain"], state["touches"], stones, chain, touches)
            count = 0
            for cell in range(cells):
                if stones[cell] == EMPTY:
                    free[count], place[cell] = cell, count
                    count += 1
            mover, vert, ply = int(state["to_move"]), int(state["vert"]), int(state["ply"])
            action, winner, marks = int(state["last_action"]), NOBODY, 0
            if save_bridges and 0 <= action < 2 * cells:
                marks = marks_beside(stones, action >> 1, around)
            while winner == NOBODY:
                at = -1
                if save_bridges and 0 <= action < 2 * cells:
                    mark = 3 - (X + (action & 1))
                    bridges = broken_bridges(marks, action >> 1, mark, around, edges)
                    if bridges:
                        at = int(place[saving_cell(bridges, action >> 1, around, seeds, i)])
                if at < 0:
                    choice = int(np.int64(draw(seeds, i, 2 * count + (swap_rule and ply == 1))))
                    at, mark = choice >> 1, X + (choice & 1)
                if at == count:  # the entry after the cells is `swap`
                    action, vert = 2 * cells, 1 - vert
                else:
                    chosen = np.uint64(free[np.uint64(at)])
                    count -= 1
                    free[np.uint64(at)] = free[np.uint64(count)]
                    place[free[np.uint64(count)]] = at
                    action, marks = int(2 * np.int64(chosen) + mark - X), marks_beside(stones, chosen, around)
                    if last_player_by_action.size:
                        last_player_by_action[i, action] = mover
                    touched = join_to(stones, chain, touches, chosen, mark, marks, around, edges)
                    winner = winner_of(touched, mover, vert)
                mover, ply = 1 - mover, ply + 1
            copy_board(stones, chain, touches, state["stones"], state["chain"], state["touches"])
            state["to_move"], state["vert"], state["ply"], state["last_action"] = mover, vert, ply, action
            win(state, winner)

    return playout_batch


playout_batch, bridge_playout_batch = _playout_kernel(save_bridges=False), _playout_kernel(save_bridges=True)
"""In `bridge_playout_batch`, a player whose bridge was broken by the last move saves it (`broken_bridges`)."""


@stack_kernel
def changed_inputs(before: Record, after: Record, perspective: int, tables: tuple[Ints, ...], out: Ints) -> int:
    """Write the network inputs that differ (each cell's x, then each cell's o), as `NetworkInputs` describes."""
    places, old, new, count = tables[0], before["stones"], after["stones"], 0
    for cell in range(len(old)):
        if old[cell] != new[cell]:
            place = places[perspective, cell]
            if old[cell] != EMPTY:
                out[count] = ~((old[cell] - X) * len(old) + place)
                count += 1
            if new[cell] != EMPTY:
                out[count] = (new[cell] - X) * len(old) + place
                count += 1
    return count


@stack_kernel
def perspective_of(state: Record) -> int:
    """Return 0 if the player to move joins top and bottom, else 1, in which case the board is mirrored."""
    return 0 if state["to_move"] == state["vert"] else 1
