"""Kernels that search lines of play of Curio in a fully known world: alpha-beta, then captures, then a static value."""

from __future__ import annotations

from pbm_envs.authoring import Ints, Record, States
from pbm_envs.games.curio.pieces import GOES_ON, NO_PIECE, end_of, is_royal, list_moves, move_to, slot_of
from pbm_envs.games.curio.pieces import WON as LAST_ROYAL
from pbm_envs.toolbox import Floats, exp, stack_kernel

from ..exact.curio_lines import COUNT, PASSED, QUIET, TAKEN, TRIED, is_pass, play_move, take_back
from .position import (
    ALLOWED,
    ALPHA,
    BEST,
    BETA,
    BOUND,
    CONTEXT,
    FLOOR,
    KEY,
    LEFT,
    LOOKED_AT,
    MOST_CAPTURES,
    MOVE,
    PLIES,
    STAGE,
    Position,
    Values,
    count_piece,
    set_up,
    value_of,
)

WON = 1000.0
"""The value for the player who captures the last royal, minus one for each ply until then."""
INFINITE = 1e9
ALL_CAPTURES = 2
"""Plies of captures after which only captures on the cell of the last one are searched."""
ALMOST_ONE = 20.0
"""Values from here up have a hyperbolic tangent that is rounded to 1."""
REMEMBERED, CAPTURE_FIRST, HISTORY = 1e7, 1e6, 1e5
"""Scores that order the moves: the best one of an earlier search has REMEMBERED, captures have at least CAPTURE_FIRST,
other moves at most HISTORY."""
REDUCED, NARROW, FULL = range(3)
"""Stages: one ply less deep, with a null window, which only tells whether the move is better than the best one so far;
with a null window; with the whole window."""
NULL_WINDOW = 1e-6
"""The width of a null window."""
REDUCED_FROM, LEAST_REDUCED = 3, 3
"""Late move reductions: moves that are searched one ply less deep first are those without a capture, from this one on
in their order, with at least this number of plies to search."""
EXACT, AT_LEAST, AT_MOST = range(3)
"""Kinds of values in the table."""


@stack_kernel
def entry_of(position: Position) -> int:
    """Return the row of the position in the table."""
    return int(position.key[0] & (len(position.table) - 1))


@stack_kernel
def list_promising(
    state: Record, position: Position, values: Values, mover: int, captures_only: bool, on: int, ply: int
) -> int:
    """Write the moves of a player and their scores for move ordering; return the number of moves.

    The best move of an earlier search comes first; then captures, of the most valuable pieces by the least valuable
    ones; then other moves by `history`. Only captures on the cell `on` are written, or on any cell if it is NO_PIECE.
    """
    moves, order, history, found = position.moves[ply], position.order[ply], position.history, 0
    at, faces, base = state["board"], state["faces"], values.settings[0]["base"]
    entry, best = position.table[entry_of(position)], -1
    if not captures_only and entry[KEY] == position.key[0]:
        best = entry[MOVE]
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
        if move == best:
            order[found] = REMEMBERED
        moves[found] = move
        found += 1
    return found


@stack_kernel
def undo(state: Record, position: Position, values: Values, move: int, now: Ints) -> None:
    """Undo a move, and restore the units."""
    if is_pass(move, values.settings[0]):
        return
    slot, taken = slot_of(move), now[TAKEN]
    count_piece(state, position, values, slot, -1)
    take_back(state, move, now, values.settings[0])
    count_piece(state, position, values, slot, 1)
    if taken != NO_PIECE:
        count_piece(state, position, values, taken, 1)


@stack_kernel
def play_next(state: Record, position: Position, values: Values, ply: int) -> tuple[bool, float]:
    """Play the remaining move of a ply with the highest score.

    Returns:
        True if the game is not over; otherwise False and the value for the player who made the move.
    """
    now, after, moves, order = position.plies[ply], position.plies[ply + 1], position.moves[ply], position.order[ply]
    best = now[TRIED]
    for k in range(now[TRIED] + 1, now[COUNT]):
        if order[k] > order[best]:
            best = k
    moves[best], moves[now[TRIED]] = moves[now[TRIED]], moves[best]
    order[best], order[now[TRIED]] = order[now[TRIED]], order[best]
    move, rules = moves[now[TRIED]], values.settings[0]
    slot, passes = slot_of(move), is_pass(move, rules)
    if not passes:
        target = state["board"][end_of(move)]
        if target != NO_PIECE:
            count_piece(state, position, values, target, -1)
        count_piece(state, position, values, slot, -1)
    outcome = play_move(state, move, now, after, rules)
    if not passes:
        count_piece(state, position, values, slot, 1)
    return outcome == GOES_ON, WON - ply if outcome == LAST_ROYAL else 0.0


@stack_kernel
def context_of(now: Ints, player: int) -> int:
    """Return what the value of a position depends on besides its pieces: the player to move, and fields of its ply."""
    return ((int(now[QUIET]) * PLIES + int(now[LEFT])) * 2 + int(now[PASSED])) * 2 + player


@stack_kernel
def probe(position: Position, ply: int, player: int) -> bool:
    """Look up an earlier search of the position, as deep as this one; return True and write BEST if it is enough."""
    row, bounds = entry_of(position), position.bounds[ply]
    entry, value = position.table[row], position.table_values[row]
    if entry[KEY] != position.key[0] or entry[CONTEXT] != context_of(position.plies[ply], player):
        return False
    if abs(value) > WON / 2:
        value += -ply if value > 0 else ply
    bounds[BEST] = value
    if entry[BOUND] == AT_LEAST:
        return bool(value >= bounds[BETA])
    return bool(entry[BOUND] == EXACT or value <= bounds[ALPHA])


@stack_kernel
def store(position: Position, ply: int, player: int) -> None:
    """Write the position of a ply to the transposition table, with its best move and BEST."""
    row, bounds = entry_of(position), position.bounds[ply]
    entry, value = position.table[row], bounds[BEST]
    entry[KEY], entry[CONTEXT] = position.key[0], context_of(position.plies[ply], player)
    entry[MOVE] = position.best[ply]
    entry[BOUND] = AT_LEAST if value >= bounds[BETA] else AT_MOST if value <= bounds[FLOOR] else EXACT
    if abs(value) > WON / 2:
        value += ply if value > 0 else -ply
    position.table_values[row] = value


@stack_kernel
def search(position: Position, values: Values, mover: int, first: int, depth: int, alpha: float, beta: float) -> float:
    """Return the value of the position for the player to move, by a search of `depth` plies and then captures.

    A value outside of `alpha` to `beta` is a bound. A search that would examine more positions than allowed stops in
    the middle of a line: its value is meaningless, and `position` is not restored.

    This is the textbook recursion, with the calls of each ply in the rows of `position` instead of on a call stack,
    because Numba cannot cache a kernel that calls itself. `entering` is True if a ply is new, False if it gets the
    value of its latest move.

    Args:
        position: The position, restored at the end; `plies[first]` has its QUIET and PASSED.
        values: The values of positions.
        mover: The player to move.
        first: The ply of the position.
        depth: Plies to search; then captures, if they are better than the static value of the position.
        alpha: The lower bound of the search window.
        beta: The upper bound of the search window.
    """
    ply, entering, value, state, rules = first, True, 0.0, position.world[0], values.settings[0]
    player = mover
    position.bounds[ply, ALPHA], position.bounds[ply, BETA], position.plies[ply, LEFT] = alpha, beta, depth
    while True:
        now, bounds = position.plies[ply], position.bounds[ply]
        left = int(now[LEFT])
        leaving, again, known = False, False, False
        if entering:
            position.counters[LOOKED_AT] += 1
            if position.counters[LOOKED_AT] > position.counters[ALLOWED]:
                return 0.0
            now[TRIED], now[COUNT] = 0, 0
            if left > 0:
                leaving = known = probe(position, ply, player)
            else:
                bounds[BEST] = value_of(position, values, player, now[QUIET])
                leaving = bounds[BEST] >= bounds[BETA] or left <= -MOST_CAPTURES
            if not leaving:
                bounds[FLOOR] = bounds[ALPHA]
                if left > 0:
                    bounds[BEST] = -INFINITE
                else:
                    bounds[ALPHA] = max(bounds[ALPHA], bounds[BEST])
                on = NO_PIECE
                if left <= -ALL_CAPTURES:
                    on = end_of(position.moves[ply - 1, position.plies[ply - 1, TRIED]])
                now[COUNT] = list_promising(state, position, values, player, left <= 0, on, ply)
        else:
            move = position.moves[ply, now[TRIED]]
            again = value > bounds[ALPHA] and (now[STAGE] == REDUCED or (now[STAGE] == NARROW and value < bounds[BETA]))
            if not again:
                undo(state, position, values, move, now)
                if value > bounds[BEST]:
                    bounds[BEST] = value
                    bounds[ALPHA] = max(bounds[ALPHA], value)
                    position.best[ply] = move
                    if value >= bounds[BETA]:
                        leaving = True
                        if not is_pass(move, rules) and now[TAKEN] == NO_PIECE:
                            slot, end = slot_of(move), end_of(move)
                            position.history[slot, end] = min(position.history[slot, end] + left * left, HISTORY)
                now[TRIED] += 1
        if again or (not leaving and now[TRIED] < now[COUNT]):
            goes_on, ended = True, 0.0
            if again:
                now[STAGE] += 1
            else:
                goes_on, ended = play_next(state, position, values, ply)
                now[STAGE] = FULL
                if left > 0 and now[TRIED] > 0:
                    late = left >= LEAST_REDUCED and now[TRIED] >= REDUCED_FROM and now[TAKEN] == NO_PIECE
                    now[STAGE] = REDUCED if late else NARROW
            if goes_on:
                low, after = bounds[ALPHA], position.bounds[ply + 1]
                after[ALPHA] = -(bounds[BETA] if now[STAGE] == FULL else low + NULL_WINDOW)
                after[BETA] = -low
                position.plies[ply + 1, LEFT] = left - 1 - (now[STAGE] == REDUCED)
                ply, player, entering = ply + 1, 1 - player, True
            else:
                now[STAGE] = FULL
                value, entering = ended, False
            continue
        if left > 0 and not known:
            store(position, ply, player)
        value = bounds[BEST]
        if ply == first:
            return value
        ply, player, value, entering = ply - 1, 1 - player, -value, False


@stack_kernel
def value_moves(
    states: States, position: Position, values: Values, moves: Ints, depth: int, margin: float, found: Floats
) -> int:
    """Compute the values of moves in a full state.

    Args:
        states: (1,) a full state.
        position: Overwritten, except for the number of positions allowed and what is remembered from other searches.
        values: The values of positions.
        moves: (M, 2) the origin and the target cell of each move.
        depth: Plies to search, including this one; 1 - MOST_CAPTURES for the values of the positions after each move.
        margin: A move that is worse than the best so far by more than this gets only a bound.
        found: (M,) overwritten with the values for the player to move.

    Returns:
        The number of moves that were valued before the search exceeded the number of positions allowed.
    """
    state = states[0]
    set_up(states, position, values)
    mover, best, now, counters = int(state["to_move"]), -INFINITE, position.plies[0], position.counters
    counters[LOOKED_AT] = 0
    for k in range(len(moves)):
        now[COUNT], now[TRIED] = 1, 0
        position.moves[0, 0] = move_to(state["board"][moves[k, 0]], moves[k, 1])
        goes_on, ended = play_next(position.world[0], position, values, 0)
        found[k] = ended
        if goes_on:
            first = k == 0 or margin > 0
            low = -INFINITE if first else -best - NULL_WINDOW
            found[k] = -search(position, values, 1 - mover, 1, depth - 1, low, margin - best)
            if not first and found[k] > best and counters[LOOKED_AT] <= counters[ALLOWED]:
                found[k] = -search(position, values, 1 - mover, 1, depth - 1, -INFINITE, -best)
        if counters[LOOKED_AT] > counters[ALLOWED]:
            return k
        undo(position.world[0], position, values, position.moves[0, 0], now)
        best = max(best, found[k])
    return len(moves)


@stack_kernel
def expected_outcomes(values: Floats, outcomes: Floats) -> None:
    """Write values from -1 to 1: the hyperbolic tangent, equal on every machine.

    Certain wins and losses get values beyond 1 and -1: the earlier the end, the greater the distance from 0.
    """
    for k in range(len(values)):
        size = abs(values[k])
        if size > WON / 2:
            outcome = 1 + (size - WON + PLIES) / WON
        elif size < ALMOST_ONE:
            outcome = 1 - 2 / (exp(2 * size) + 1)
        else:
            outcome = 1.0
        outcomes[k] = outcome if values[k] > 0 else -outcome
