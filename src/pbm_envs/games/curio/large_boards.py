"""The legal moves of Curio on boards of more than 64 cells (C6, C7, C12), for masks and playouts.

Each line is followed from cell to cell. `moves` has the same for smaller boards, by words of bits, and faster.
"""

from __future__ import annotations

import numpy as np

from ...core.boards import NO_CELL
from ...core.kernels import stack_kernel
from ...core.randomness import draw
from ...core.state import shows_mask
from ...core.types import Ints, Mask, Record, Seeds, States
from .rules import CAPTURED, DIRECTIONS, NO_PIECE, beats, compared_value, play, reach


@stack_kernel
def list_legal(state: Record, steps: Ints, rules: Record, out: Ints) -> int:
    """Write the legal actions but `resign` to `out`; how many. From `cell` in direction d, `steps[cell, d]` are the
    action that goes one step (each further step is the next action) and the next cell.
    """
    mover = state["to_move"]
    board, owner, where = state["board"], state["owner"], state["cell"]
    compare = rules["compare"]
    count = 0
    for slot in range(len(board)):
        if owner[slot] != mover or where[slot] == CAPTURED:
            continue
        origin, farthest = where[slot], reach(state, slot, rules)
        mine = compared_value(state, slot, mover, rules)
        for d in range(DIRECTIONS):
            action, cell = steps[origin, d, 0], steps[origin, d, 1]
            for k in range(farthest):
                if cell == NO_CELL:
                    break
                target = board[cell]
                if target != NO_PIECE:
                    if owner[target] != mover:
                        if beats(mine, compared_value(state, target, mover, rules), compare):
                            out[count] = action + k
                            count += 1
                    break
                out[count] = action + k
                count += 1
                cell = steps[cell, d, 1]
    if count == 0:
        out[0] = rules["moves"]
        count = 1
    return count


@stack_kernel
def mask_large_batch(states: States, out: Mask, steps: Ints, settings: States) -> None:
    rules = settings[0]
    actions = np.empty(rules["moves"] + 1, np.int32)
    for i in range(len(states)):
        state = states[i]
        out[i] = False
        if not shows_mask(state):
            continue
        for k in range(list_legal(state, steps, rules, actions)):
            out[i, actions[k]] = True
        if rules["resign"] >= 0:
            out[i, rules["resign"]] = True


@stack_kernel
def playout_large_batch(
    states: States,
    seeds: Seeds,
    moves: Ints,
    steps: Ints,
    settings: States,
    last_player_by_action: Ints,
) -> None:
    rules = settings[0]
    actions = np.empty(rules["moves"] + 1, np.int32)
    for i in range(len(states)):
        state = states[i]
        while not state["done"]:
            count = list_legal(state, steps, rules, actions)
            action = actions[draw(seeds, i, count)]
            if last_player_by_action.size:
                last_player_by_action[i, action] = state["to_move"]
            play(state, action, moves, rules)
