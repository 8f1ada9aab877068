"""The legal moves of Curio on boards of more than 64 cells (C6, C7, C12), for masks and playouts.

Each line is followed from cell to cell (`list_moves`). `moves` has the same for smaller boards, by words of bits, and
faster.
"""

from __future__ import annotations

import numpy as np

from ...core.kernels import stack_kernel
from ...core.randomness import draw
from ...core.state import shows_mask
from ...core.types import Ints, Mask, Seeds, States
from .pieces import action_of, list_moves
from .rules import play


@stack_kernel
def mask_large_batch(states: States, out: Mask, steps: Ints, settings: States) -> None:
    rules = settings[0]
    found = np.empty(rules["moves"] + 1, np.int64)
    for i in range(len(states)):
        state = states[i]
        out[i] = False
        if not shows_mask(state):
            continue
        for k in range(list_moves(state, state["to_move"], steps, rules, False, found)):
            out[i, action_of(found[k])] = True
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
    found = np.empty(rules["moves"] + 1, np.int64)
    for i in range(len(states)):
        state = states[i]
        while not state["done"]:
            count = list_moves(state, state["to_move"], steps, rules, False, found)
            action = action_of(found[draw(seeds, i, count)])
            if last_player_by_action.size:
                last_player_by_action[i, action] = state["to_move"]
            play(state, action, moves, rules)
