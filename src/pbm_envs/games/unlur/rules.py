"""The rules of Unlur as kernels (U1 to U7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.kernels import stack_kernel
from ...core.randomness import draw
from ...core.state import EMPTY, NOBODY, Ints, Mask, Record, Seeds, States, concede, shows_mask, state_dtype, win
from ..chains import (
    Chains,
    Index,
    broken_bridges,
    chain_fields,
    chains_beside,
    copy_board,
    exchange,
    join,
    join_to,
    marks_beside,
    saving_cell,
    would_touch,
)

BLACK, WHITE = 1, 2
AS_BLACK, AS_WHITE, IN_CONTRACT = range(3)
"""Perspectives of a network: the player to move, or nobody yet, is Black."""
LETTERS = ".XO"  # in board texts: EMPTY, BLACK, WHITE
SIDES_135, SIDES_246 = 0b010101, 0b101010
SIDES_14, SIDES_25, SIDES_36 = 0b001001, 0b010010, 0b100100
FIGURES = SIDES_135, SIDES_246, SIDES_14, SIDES_25, SIDES_36


def unlur_dtype(cells: int) -> np.dtype[np.void]:
    """Return the dtype of a record with `cells` cells."""
    # stones are EMPTY, BLACK or WHITE; black is the player with Black, NOBODY in the contract phase (U3)
    return state_dtype(2, [*chain_fields(cells), ("black", "i1")])


@stack_kernel
def may_place(stone: int, edge: int, contract: bool) -> bool:
    """Return whether a stone may be placed (U3, U4). Branch-free, which makes `mask_batch` fast."""
    return (stone == EMPTY) & ((edge == 0) | (not contract))


def _result(touches: int, colour: int) -> int:
    y, line = (any(touches & sides == sides for sides in each) for each in (FIGURES[:2], FIGURES[2:]))
    if y or line:
        return 1 if (y if colour == BLACK else line) else -1
    return 0


RESULTS = np.array([[_result(touches, colour) for touches in range(64)] for colour in range(WHITE + 1)], np.int8)


@stack_kernel
def result_of(touches: int, colour: int) -> int:
    """Return 1 if a chain of the mover's `colour` with these touches wins, -1 if it loses, else 0 (U5)."""
    return int(RESULTS[np.uint64(colour), np.uint64(touches)])


@stack_kernel
def colour_of(mover: int, black: int) -> int:
    """Return the colour that the mover places (U3, U4)."""
    return BLACK if black == NOBODY or black == mover else WHITE


@stack_kernel
def place(state: Record, cell: int, around: Ints, edges: Ints) -> None:
    mover = state["to_move"]
    colour = colour_of(mover, state["black"])
    touches = join(state["stones"], state["chain"], state["touches"], cell, colour, around, edges)
    state["ply"] += 1
    state["to_move"] = 1 - mover
    result = result_of(touches, colour)
    if result:
        win(state, mover if result > 0 else 1 - mover)


@stack_kernel
def take_black(state: Record) -> None:
    """Make the player to move Black (U3)."""
    state["black"] = state["to_move"]
    state["to_move"] = 1 - state["to_move"]
    state["ply"] += 1


@stack_kernel
def step_batch(states: States, actions: Ints, around: Ints, edges: Ints, resign: int) -> int:
    """Play one ply and return -1, or return the first row with an illegal action; `resign` is its action, or -1."""
    cells = len(edges)
    for i in range(len(states)):
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        if 0 <= action < cells:
            legal = may_place(state["stones"][action], edges[action], state["black"] == NOBODY)
        else:
            legal = (action == cells and state["black"] == NOBODY) or (resign >= 0 and action == resign)
        if not legal or state["viewer"] != NOBODY:
            return i
    for i in range(len(states)):
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        if action < cells:
            place(state, action, around, edges)
        elif action == resign:
            concede(state)
        else:
            take_black(state)
        state["last_action"] = action
    return -1


@stack_kernel
def mask_batch(states: States, out: Mask, edges: Ints, resign: int) -> None:
    cells = len(edges)
    for i in range(len(states)):
        state = states[i]
        if not shows_mask(state):
            out[i] = False
            continue
        stones, contract = state["stones"], state["black"] == NOBODY
        for cell in range(cells):
            out[i, cell] = may_place(stones[cell], edges[cell], contract)
        out[i, cells] = contract
        if resign >= 0:
            out[i, resign] = True


@stack_kernel
def changed_inputs(before: Record, after: Record, perspective: int, tables: tuple[Ints, ...], out: Ints) -> int:
    """Write the network inputs that differ (black stones, then white ones), as `NetworkInputs` describes."""
    old, new, count = before["stones"], after["stones"], 0
    first = 2 * len(old) * perspective - BLACK * len(old)
    for cell in range(len(old)):
        if old[cell] != new[cell]:
            if old[cell] == BLACK or (old[cell] == WHITE and perspective != IN_CONTRACT):
                out[count] = ~(first + old[cell] * len(old) + cell)
                count += 1
            if new[cell] == BLACK or (new[cell] == WHITE and perspective != IN_CONTRACT):
                out[count] = first + new[cell] * len(old) + cell
                count += 1
    return count


@stack_kernel
def perspective_of(state: Record) -> int:
    """Return what the player to move is: Black, White, or neither before the contract."""
    black = state["black"]
    return IN_CONTRACT if black == NOBODY else AS_BLACK if black == state["to_move"] else AS_WHITE


@stack_kernel
def loses(position: Chains, cell: Index, colour: int, marks: int) -> bool:
    """Return whether a stone of the mover's colour on `cell` loses; `marks` are from `marks_beside`."""
    beside = chains_beside(marks, colour)
    if position.edges[cell] == 0 and beside & (beside - 1) == 0:
        return False  # it joins no chains and no edge
    return result_of(would_touch(position, cell, beside), colour) < 0


def _playout_kernel(save_bridges: bool) -> Callable[..., None]:
    """Make a kernel for playouts. The flag is a constant in its code, so plain playouts contain no code for bridges."""

    @stack_kernel
    def playout_batch(
        states: States, seeds: Seeds, around: Ints, edges: Ints, avoid_losing_moves: bool, last_player_by_action: Ints
    ) -> None:
        """Play to the end on a copy of the board (see `copy_board`)."""
        cells = len(edges)
        free, at = np.empty(cells, np.uint16), np.empty(cells, np.uint16)  # free[at[cell]] == cell
        stones, chain, touches = np.empty(cells, np.int8), np.empty(cells, np.uint16), np.empty(cells, np.uint8)
        board = Chains(stones, chain, touches, around, edges)
        for i in range(len(states)):
            state = states[i]
            if state["done"]:
                continue
            copy_board(state["stones"], state["chain"], state["touches"], stones, chain, touches)
            mover, black, ply = int(state["to_move"]), int(state["black"]), int(state["ply"])
            count = 0
            for cell in range(cells):
                if may_place(stones[cell], edges[cell], black == NOBODY):
                    free[count], at[cell] = cell, count
                    count += 1
            action, result, marks = int(state["last_action"]), 0, 0
            if save_bridges and 0 <= action < cells:
                marks = marks_beside(stones, action, around)
            while result == 0:
                contract = 1 if black == NOBODY else 0
                choice = count if save_bridges and contract else int(np.int64(draw(seeds, i, count + contract)))
                if choice == count:
                    action, black = cells, mover
                    for cell in range(cells):  # the edges are allowed from now on
                        if edges[cell] and stones[cell] == EMPTY:
                            free[count], at[cell] = cell, count
                            count += 1
                else:
                    colour, chosen, found = colour_of(mover, black), np.uint64(0), -1
                    if save_bridges and 0 <= action < cells:
                        bridges = broken_bridges(marks, action, colour, around, edges)
                        if bridges:
                            chosen = np.uint64(saving_cell(bridges, action, around, seeds, i))
                            found = marks_beside(stones, chosen, around)
                            if loses(board, chosen, colour, found):
                                found = -1
                            else:
                                choice = int(at[chosen])
                    left = count
                    while found < 0:
                        chosen = np.uint64(free[np.uint64(choice)])
                        found = marks_beside(stones, chosen, around)
                        if left > 1 and avoid_losing_moves and not contract and loses(board, chosen, colour, found):
                            left -= 1
                            exchange(free, at, choice, left)
                            choice, found = int(np.int64(draw(seeds, i, left))), -1
                    count -= 1
                    exchange(free, at, choice, count)
                    action, marks = int(np.int64(chosen)), found
                    if last_player_by_action.size:
                        last_player_by_action[i, action] = mover
                    result = result_of(join_to(stones, chain, touches, chosen, colour, marks, around, edges), colour)
                mover = 1 - mover
                ply += 1
            copy_board(stones, chain, touches, state["stones"], state["chain"], state["touches"])
            state["to_move"], state["black"], state["ply"], state["last_action"] = mover, black, ply, action
            win(state, mover if result < 0 else 1 - mover)

    return playout_batch


playout_batch, bridge_playout_batch = _playout_kernel(save_bridges=False), _playout_kernel(save_bridges=True)
"""In `bridge_playout_batch`, a player whose bridge was broken by the last move saves it (`broken_bridges`), unless that
loses immediately. The contract phase ends at once: random moves would go on with it until Black cannot lose.
"""
