"""Lines of play of Curio, played by the game's own kernels, for the solver and for the champion's search.

Both search depth first. Numba cannot cache a kernel that calls itself, so they keep their own stack: one row of
integers per ply, with the fields below. `play_move` plays a move of the last row and begins the next row, and
`take_back` undoes it. A search that stops in the middle of a line does not restore its state, so it works on a copy.
"""

from __future__ import annotations

from pbm_envs import Curio, Game
from pbm_envs.authoring import Ints, Record
from pbm_envs.games.curio.pieces import (
    DRAWN,
    GOES_ON,
    NO_PIECE,
    action_of,
    capture_piece,
    end_of,
    move_piece,
    put_back,
    result_of_capture,
    slot_of,
)
from pbm_envs.toolbox import stack_kernel

KNOWN_OPTIONS = frozenset(
    (
        *("base", "rows", "cols", "num_pieces", "turn", "limit", "face", "capture"),
        *("reveal_captured", "no_capture_limit", "allow_resign"),
    )
)
"""The options of Curio that lines of play support. A new option is refused until it is supported here."""
COUNT, TRIED, ORIGIN, TAKEN, QUIET, PASSED, PLY_FIELDS = range(7)
"""Fields of a ply: the number of moves, the index of the move being tried, the cell it left, the slot it captured; the
number of plies without a capture before this one, and 1 if the ply before was a pass."""
NO_LIMIT = 0
"""The quiet limit of a game without one."""


def check_game(game: Game) -> None:
    """Raise ValueError unless the game is Curio, with options that lines of play support."""
    if not isinstance(game, Curio):
        raise ValueError(f"{game!r} cannot be solved: expected Curio")
    if unknown := sorted(game.options.keys() - KNOWN_OPTIONS):
        known = ", ".join(sorted(KNOWN_OPTIONS))
        raise ValueError(f"{game!r} has options that no search of lines knows: {', '.join(unknown)}; known are {known}")


def follows(game: Game) -> bool:
    """Return whether the game is Curio, with options that lines of play support."""
    return isinstance(game, Curio) and game.options.keys() <= KNOWN_OPTIONS


@stack_kernel
def is_pass(move: int, rules: Record) -> bool:
    """Return whether a move from `list_moves` is a pass (C12)."""
    return action_of(move) == rules["moves"]


@stack_kernel
def play_move(state: Record, move: int, now: Ints, after: Ints, rules: Record) -> int:
    """Play a move and begin the ply after it.

    Args:
        state: A state; its pieces' cells and faces are changed in place.
        move: A legal move, as `list_moves` writes it.
        now: (PLY_FIELDS,) the fields of this ply; ORIGIN and TAKEN are written.
        after: (PLY_FIELDS,) the fields of the next ply; QUIET and PASSED are written.
        rules: A record of the game's settings.

    Returns:
        GOES_ON, WON for the player who has moved, or DRAWN (C10 to C13).
    """
    passes = is_pass(move, rules)
    after[PASSED], after[QUIET], now[TAKEN] = passes, now[QUIET] + 1, NO_PIECE
    if passes:
        drawn = now[PASSED] == 1
    else:
        slot = slot_of(move)
        now[ORIGIN] = state["cell"][slot]
        taken = int(move_piece(state, slot, now[ORIGIN], end_of(move)))
        now[TAKEN] = taken
        if taken != NO_PIECE:
            after[QUIET] = 0
            capture_piece(state, slot, taken, rules)
            return result_of_capture(state, taken, rules)
        drawn = False
    return DRAWN if drawn or NO_LIMIT < rules["quiet_limit"] <= after[QUIET] else GOES_ON


@stack_kernel
def take_back(state: Record, move: int, now: Ints, rules: Record) -> None:
    """Undo `play_move`."""
    if not is_pass(move, rules):
        put_back(state, slot_of(move), now[ORIGIN], now[TAKEN], rules)
