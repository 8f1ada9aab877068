"""Lines of play of Curio in a world without secrets, as kernels: alpha-beta search, then captures, then a value.

The value of a piece depends on two numbers, `near` and `far`: its faces towards its owner and away from them.
"""

from __future__ import annotations

from typing import NamedTuple

from pbm_envs.authoring import Ints, Record, States
from pbm_envs.games.curio.pieces import CAPTURED, GOES_ON, NO_PIECE, end_of, is_royal, list_moves, move_to, slot_of
from pbm_envs.games.curio.pieces import WON as LAST_ROYAL
from pbm_envs.toolbox import Floats, stack_kernel

from ..exact.curio_lines import COUNT, PASSED, QUIET, TAKEN, TRIED, is_pass, play_move, take_back

WON = 1000.0
"""The value for the player who captures the last royal, less one for each ply until then."""
INFINITE = 1e9
MOST_CAPTURES = 8
"""Plies of captures after the last ply of a search."""
ALL_CAPTURES = 2
"""After so many of them, only captures on the cell of the last one."""
MOST_DEPTH = 24
PLIES = MOST_DEPTH + MOST_CAPTURES + 1
ROYALS, WORTH = range(2)
"""Columns of a tally: the number of royals, and the sum of the values of the pieces."""
MOST_ROYALS = 5
"""More royals count as so many."""
CAPTURE_FIRST, HISTORY = 1e6, 1e5
"""The order of moves: captures come first, and good moves elsewhere count up to HISTORY."""
ALPHA, BETA, BEST = range(3)
"""Columns of the bounds of a ply."""
LOOKED_AT, ALLOWED = range(2)
"""Entries of the counters: positions so far, and at most."""


class Values(NamedTuple):
    """The values of positions; they stay the same during a search."""

    steps: Ints
    """As `list_moves` has them."""
    settings: States
    """The game's."""
    kinds: Floats
    """(base + 1, base + 1) by the `near` and `far` of a piece."""
    royals: Floats
    """(MOST_ROYALS + 1, MOST_ROYALS + 1) by the royals of the player to move and of the opponent."""


class Position(NamedTuple):
    """A position that is searched, and the memory of the search: one row per ply of the line that is being tried."""

    world: States
    """(1,) the full state, in which moves are played and taken back."""
    tally: Floats
    """(2, 2) ROYALS and WORTH of each player."""
    moves: Ints
    """(PLIES, moves) as `list_moves` writes them."""
    order: Floats
    """(PLIES, moves) the move with the highest number is tried first."""
    plies: Ints
    """(PLIES, PLY_FIELDS)"""
    bounds: Floats
    """(PLIES, 3) ALPHA, BETA and BEST."""
    history: Floats
    """(slots, cells) how often the move of a piece to a cell exceeded beta, weighted by depth."""
    counters: Ints
    """(2,) LOOKED_AT and ALLOWED."""


@stack_kernel
def set_up(states: States, position: Position, values: Values) -> None:
    """Begin with a full state (1,)."""
    state = states[0]
    position.world[0] = state
    for player in range(2):
        position.tally[player, ROYALS], position.tally[player, WORTH] = 0, 0
    for slot in range(len(state["cell"])):
        if state["cell"][slot] != CAPTURED:
            count_piece(position.world[0], position.tally, values.kinds, slot, 1)
    position.plies[0, QUIET], position.plies[0, PASSED] = state["quiet"], state["passed"]


@stack_kernel
def count_piece(state: Record, tally: Floats, kinds: Floats, slot: int, sign: int) -> None:
    """Add a piece to the tally of its owner (sign 1), or remove it (-1)."""
    owner = state["owner"][slot]
    tally[owner, ROYALS] += sign * is_royal(state, slot, len(kinds) - 1)
    tally[owner, WORTH] += sign * kinds[state["faces"][slot, owner], state["faces"][slot, 1 - owner]]


@stack_kernel
def value_of(position: Position, values: Values, mover: int) -> float:
    """Return the value for the player to move."""
    own, enemy = position.tally[mover], position.tally[1 - mover]
    most = len(values.royals) - 1
    return own[WORTH] - enemy[WORTH] + values.royals[min(int(own[ROYALS]), most), min(int(enemy[ROYALS]), most)]


@stack_kernel
def list_promising(
    state: Record, position: Position, values: Values, mover: int, captures_only: bool, on: int, ply: int
) -> int:
    """Write the moves of a player, and how promising they are; return how many.

    Captures come first, of the most valuable pieces by the least valuable ones, then what was good elsewhere. With `on`
    only captures on that cell count, or on any if it is NO_PIECE.
    """
    moves, order, history, found = position.moves[ply], position.order[ply], position.history, 0
    at, faces, base = state["board"], state["faces"], len(values.kinds) - 1
    for k in range(list_moves(state, mover, values.steps, values.settings[0], captures_only, moves)):
        move = moves[k]
        slot, end = slot_of(move), end_of(move)
        target = at[end]
        if target == NO_PIECE:
            order[found] = history[slot, end]
        elif on < 0 or on == end:
            near, mine = int(faces[target, 1 - mover]), int(faces[slot, mover])
            order[found] = CAPTURE_FIRST * (1 + is_royal(state, target, base)) + 10 * near - mine
        else:
            continue
        moves[found] = move
        found += 1
    return found


@stack_kernel
def undo(state: Record, position: Position, values: Values, move: int, now: Ints) -> None:
    """Take a move back, and restore the tally."""
    slot, taken = slot_of(move), now[TAKEN]
    if taken != NO_PIECE:
        count_piece(state, position.tally, values.kinds, slot, -1)
    take_back(state, move, now, values.settings[0])
    if taken != NO_PIECE:
        count_piece(state, position.tally, values.kinds, slot, 1)
        count_piece(state, position.tally, values.kinds, taken, 1)


@stack_kernel
def play_next(state: Record, position: Position, values: Values, ply: int) -> tuple[bool, float]:
    """Play the most promising of a ply's moves that is left.

    Returns:
        Whether the game goes on, and if not, its value for the player who made the move.
    """
    now, after, moves, order = position.plies[ply], position.plies[ply + 1], position.moves[ply], position.order[ply]
    best = now[TRIED]
    for k in range(now[TRIED] + 1, now[COUNT]):
        if order[k] > order[best]:
            best = k
    moves[best], moves[now[TRIED]] = moves[now[TRIED]], moves[best]
    order[best], order[now[TRIED]] = order[now[TRIED]], order[best]
    move, rules = moves[now[TRIED]], values.settings[0]
    slot, target = slot_of(move), NO_PIECE if is_pass(move, rules) else int(state["board"][end_of(move)])
    if target != NO_PIECE:
        count_piece(state, position.tally, values.kinds, target, -1)
        count_piece(state, position.tally, values.kinds, slot, -1)
    outcome = play_move(state, move, now, after, rules)
    if target != NO_PIECE:
        count_piece(state, position.tally, values.kinds, slot, 1)
    return outcome == GOES_ON, WON - ply if outcome == LAST_ROYAL else 0.0


@stack_kernel
def search(position: Position, values: Values, mover: int, first: int, depth: int, alpha: float, beta: float) -> float:
    """Return the value of the position for the player to move, from a number of plies and then captures.

    Outside of `alpha` to `beta` it is a bound. A search that would look at more positions than allowed stops in the
    middle of a line: its value means nothing, and `position` stays as it is there.

    This is the textbook recursion, with the calls of each ply in the rows of `position` instead of on Python's stack,
    because Numba cannot cache a kernel that calls itself. `entering` says whether a ply is called for the first time
    or gets the value of its latest move; `left` are the plies still to search, negative among the captures that follow.

    Args:
        position: The position, unchanged afterwards; `plies[first]` has its QUIET and PASSED.
        values: The values of positions.
        mover: The player to move.
        first: The ply of the position.
        depth: Plies to search; then captures, if they are better than the value of the position as it is.
        alpha: The least value of interest.
        beta: The greatest one.
    """
    ply, entering, value, state, rules = first, True, 0.0, position.world[0], values.settings[0]
    player = mover
    position.bounds[ply, ALPHA], position.bounds[ply, BETA] = alpha, beta
    while True:
        now, bounds = position.plies[ply], position.bounds[ply]
        left = first + depth - ply
        leaving = False
        if entering:
            position.counters[LOOKED_AT] += 1
            if position.counters[LOOKED_AT] > position.counters[ALLOWED]:
                return 0.0
            bounds[BEST] = -INFINITE
            now[TRIED], now[COUNT] = 0, 0
            if left <= 0:
                bounds[BEST] = value_of(position, values, player)
                bounds[ALPHA] = max(bounds[ALPHA], bounds[BEST])
                leaving = bounds[BEST] >= bounds[BETA] or left <= -MOST_CAPTURES
            if not leaving:
                on = NO_PIECE
                if left <= -ALL_CAPTURES:
                    on = end_of(position.moves[ply - 1, position.plies[ply - 1, TRIED]])
                now[COUNT] = list_promising(state, position, values, player, left <= 0, on, ply)
        else:
            move = position.moves[ply, now[TRIED]]
            undo(state, position, values, move, now)
            if value > bounds[BEST]:
                bounds[BEST] = value
                bounds[ALPHA] = max(bounds[ALPHA], value)
                if value >= bounds[BETA]:
                    leaving = True
                    if not is_pass(move, rules) and now[TAKEN] == NO_PIECE:
                        slot, end = slot_of(move), end_of(move)
                        position.history[slot, end] = min(position.history[slot, end] + left * left, HISTORY)
            now[TRIED] += 1
        if not leaving and now[TRIED] < now[COUNT]:
            goes_on, ended = play_next(state, position, values, ply)
            if goes_on:
                position.bounds[ply + 1, ALPHA], position.bounds[ply + 1, BETA] = -bounds[BETA], -bounds[ALPHA]
                ply, player, entering = ply + 1, 1 - player, True
            else:
                value, entering = ended, False
            continue
        value = bounds[BEST]
        if ply == first:
            return value
        ply, player, value, entering = ply - 1, 1 - player, -value, False


@stack_kernel
def value_moves(
    states: States, position: Position, values: Values, moves: Ints, depth: int, margin: float, found: Floats
) -> bool:
    """Compute the values of moves of a full state.

    Args:
        states: (1,) a full state.
        position: Overwritten, except for the number of positions allowed.
        values: The values of positions.
        moves: (M, 2) from and to of each move.
        depth: Plies to search, this one included; 1 - MOST_CAPTURES for the values of the positions after each move.
        margin: A move that is worse than the best so far by more than this gets only a bound.
        found: (M,) overwritten, for the player to move.

    Returns:
        False if it stopped because it had looked at too many positions.
    """
    state = states[0]
    set_up(states, position, values)
    mover, best, now = int(state["to_move"]), -INFINITE, position.plies[0]
    position.counters[LOOKED_AT] = 0
    for k in range(len(moves)):
        now[COUNT], now[TRIED] = 1, 0
        position.moves[0, 0] = move_to(state["board"][moves[k, 0]], moves[k, 1])
        goes_on, ended = play_next(position.world[0], position, values, 0)
        found[k] = ended
        if goes_on:
            found[k] = -search(position, values, 1 - mover, 1, depth - 1, -INFINITE, margin - best)
        if position.counters[LOOKED_AT] > position.counters[ALLOWED]:
            return False
        undo(position.world[0], position, values, position.moves[0, 0], now)
        best = max(best, found[k])
    return True
