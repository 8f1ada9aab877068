"""Positions of Curio in a search of a fully known world, with static values.

The static value is that of a small network with one hidden layer, which is updated move by move (as NNUE in chess). Its
inputs are the pieces on the board, each by its owner, its two numbers `near` and `far` (its faces towards its owner and
away from them) and its cell, all as one player sees them. The value is the output for the player to move minus that for
the opponent, so exchanging the players negates it. Integers make it exact, in whatever order moves are undone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pbm_envs.authoring import Ints, Record, States
from pbm_envs.games.curio.pieces import CAPTURED
from pbm_envs.toolbox import Floats, stack_kernel

from ..exact.curio_lines import NO_LIMIT, PASSED, PLY_FIELDS, QUIET

MOST_CAPTURES = 8
"""The most plies of captures after the last ply of a search."""
MOST_DEPTH = 24
PLIES = MOST_DEPTH + MOST_CAPTURES + 1
UNITS = 8
"""Units of the hidden layer. The first is linear, the others are rectified."""
PIECE_SCALE, UNIT_SCALE = 256, 64
"""What stands for 1 in weights of pieces and of units."""
ALPHA, BETA, BEST, FLOOR = range(4)
"""Columns of the bounds of a ply. FLOOR is the initial ALPHA."""
LEFT, STAGE, FIELDS = range(PLY_FIELDS, PLY_FIELDS + 3)
"""Further fields of a ply: the plies still to search, negative among the captures that follow; how the move being tried
is searched; the number of fields."""
KEY, CONTEXT, BOUND, MOVE = range(4)
"""Columns of the transposition table."""
LOOKED_AT, ALLOWED = range(2)
"""Entries of the counters: positions examined so far, and positions allowed."""


class Values(NamedTuple):
    """The constants of a search: the game, and the weights that make up the values of positions."""

    steps: Ints
    """The steps of pieces, as `list_moves` expects them."""
    settings: States
    """The settings of the game."""
    pieces: Ints
    """(2, base + 1, base + 1, cells, UNITS) int16: what a piece adds to the units of a player who sees it on that cell,
    as an own piece (0) or an enemy one (1), by its `near` and `far`. The cells are counted from the player's side."""
    biases: Ints
    """(UNITS,) the units of an empty board."""
    outputs: Ints
    """(UNITS,) the weights of the units."""
    keys: Ints
    """(2, base + 1, base + 1, cells) Zobrist keys: the key of a position is the exclusive or of those of its pieces."""
    fading: float
    """The share of a value that is lost between a capture and the limit of plies without one."""


class Position(NamedTuple):
    """A position to search, and the memory of the search: one row per ply of the line that is being tried."""

    world: States
    """(1,) the full state, in which moves are played and undone."""
    units: Ints
    """(2, UNITS) the units of each player, before they are rectified."""
    moves: Ints
    """(PLIES, moves) the moves of each ply, as `list_moves` writes them."""
    order: Floats
    """(PLIES, moves) the scores of the moves; the highest is tried first."""
    plies: Ints
    """(PLIES, FIELDS) the fields of each ply: those of `curio_lines`, LEFT and STAGE."""
    bounds: Floats
    """(PLIES, 4) ALPHA, BETA, BEST and FLOOR of each ply."""
    history: Floats
    """(slots, cells) the history heuristic: beta cutoffs by moves of a piece to a cell, weighted by depth."""
    counters: Ints
    """(2,) LOOKED_AT and ALLOWED."""
    best: Ints
    """(PLIES,) the best move of each ply so far."""
    key: Ints
    """(1,) the key of the position."""
    table: Ints
    """(ENTRIES, 4) the transposition table: KEY, CONTEXT, BOUND and MOVE of positions that were searched."""
    table_values: Floats
    """(ENTRIES,) their values."""


@stack_kernel
def set_up(states: States, position: Position, values: Values) -> None:
    """Set the position to a full state (1,)."""
    state = states[0]
    position.world[0] = state
    position.key[0] = 0
    for player in range(2):
        for k in range(UNITS):
            position.units[player, k] = values.biases[k]
    for slot in range(len(state["cell"])):
        if state["cell"][slot] != CAPTURED:
            count_piece(position.world[0], position, values, slot, 1)
    position.plies[0, QUIET], position.plies[0, PASSED] = state["quiet"], state["passed"]


@stack_kernel
def count_piece(state: Record, position: Position, values: Values, slot: int, sign: int) -> None:
    """Add a piece on the board to the units of both players and to the key (sign 1), or remove it (-1)."""
    units, pieces = position.units, values.pieces
    owner, cell = np.uint64(state["owner"][slot]), np.uint64(state["cell"][slot])
    near, far = np.uint64(state["faces"][slot, owner]), np.uint64(state["faces"][slot, 1 - owner])
    last = np.uint64(pieces.shape[3] - 1)
    by_light = pieces[owner, near, far, cell]
    by_dark = pieces[1 - owner, near, far, last - cell]
    for k in range(UNITS):
        units[0, k] += sign * by_light[k]
        units[1, k] += sign * by_dark[k]
    position.key[0] ^= values.keys[owner, near, far, cell]


@stack_kernel
def value_of(position: Position, values: Values, mover: int, quiet: int) -> float:
    """Return the static value of the position for the player to move, `quiet` plies after the last capture."""
    own, enemy, outputs = position.units[mover], position.units[1 - mover], values.outputs
    total = outputs[0] * (own[0] - enemy[0])
    for k in range(1, UNITS):
        total += outputs[k] * (max(own[k], 0) - max(enemy[k], 0))
    limit, value = values.settings[0]["quiet_limit"], total / (PIECE_SCALE * UNIT_SCALE)
    return value if limit == NO_LIMIT else value * (1 - values.fading * quiet / limit)
