"""Lines of play of Curio in a world without secrets, as kernels: alpha-beta search, then captures, then a value.

The value of a piece depends on two numbers, `near` and `far`: its faces towards its owner and away from them.
"""

from __future__ import annotations

from typing import NamedTuple

from pbm_envs.authoring import Ints, Record, States
from pbm_envs.games.curio import CAPTURED, GOES_ON, NO_PIECE, end_of, is_royal, list_moves, move_to, slot_of
from pbm_envs.games.curio import WON as LAST_ROYAL
from pbm_envs.toolbox import Floats, stack_kernel

from ..exact.curio_lines import COUNT, PASSED, QUIET, TAKEN, TRIED, is_pass, play_move, take_back

WON = 1000.0
"""Of the player who captures the last royal; less one for each ply until then."""
INFINITE = 1e9
MOST_CAPTURES = 8
"""Plies of captures after the last ply of a search."""
ALL_CAPTURES = 2
"""After so many of them, only on the cell of the last one."""
MOST_DEPTH = 24
PLIES = MOST_DEPTH + MOST_CAPTURES + 1
ROYALS, WORTH = range(2)
"""Of a tally: how many royals a player has, and the sum of what the pieces are worth."""
MOST_ROYALS = 5
"""More count as so many."""
CAPTURE_FIRST, HISTORY = 1e6, 1e5
ALPHA, BETA, BEST = range(3)


class Values(NamedTuple):
    """What positions are worth; it stays the same while they are searched."""

    steps: Ints
    """As `list_moves` has them."""
    settings: States
    """Of the game."""
    kinds: Floats
    """(base + 1, base + 1) of a piece with these `near` and `far`."""
    royals: Floats
    """(MOST_ROYALS + 1, MOST_ROYALS + 1): of so many of the player to move and of the opponent."""


class Board(NamedTuple):
    """A position, and room to search it."""

    world: States
    """(1,) the full state that is searched, in which moves are made and taken back."""
    tally: Floats
    """(2, 2) of each player: ROYALS, WORTH."""
    moves: Ints
    """(PLIES, moves) as `list_moves` writes them."""
    order: Floats
    """(PLIES, moves) the highest is tried first."""
    plies: Ints
    """(PLIES, PLY_FIELDS)"""
    bounds: Floats
    """(PLIES, 3)"""
    history: Floats
    """(slots, cells) how often a move of a piece to a cell was good enough."""
    nodes: Ints
    """(2,) how many positions were looked at, and how many may be."""


@stack_kernel
def set_up(state: Record, board: Board, values: Values) -> None:
    """Put a full state on the board."""
    board.world[0] = state
    for player in range(2):
        board.tally[player, ROYALS], board.tally[player, WORTH] = 0, 0
    for slot in range(len(state["cell"])):
        if state["cell"][slot] != CAPTURED:
            count(board.world[0], board.tally, values.kinds, slot, 1)
    board.plies[0, QUIET], board.plies[0, PASSED] = state["quiet"], state["passed"]


@stack_kernel
def count(state: Record, tally: Floats, kinds: Floats, slot: int, sign: int) -> None:
    """Count a piece that stands on the board, or no longer."""
    owner = state["owner"][slot]
    tally[owner, ROYALS] += sign * is_royal(state, slot, len(kinds) - 1)
    tally[owner, WORTH] += sign * kinds[state["faces"][slot, owner], state["faces"][slot, 1 - owner]]


@stack_kernel
def value_of(board: Board, values: Values, mover: int) -> float:
    """The value for the player to move, from minus to plus infinity."""
    own, enemy = board.tally[mover], board.tally[1 - mover]
    most = len(values.royals) - 1
    return own[WORTH] - enemy[WORTH] + values.royals[min(int(own[ROYALS]), most), min(int(enemy[ROYALS]), most)]


@stack_kernel
def list_promising(
    state: Record, board: Board, values: Values, mover: int, captures_only: bool, on: int, ply: int
) -> int:
    """Write the moves of a player, and how promising they are; how many.

    Captures come first, of the most valuable pieces by the least valuable ones, then what was good elsewhere. With `on`
    only captures on that cell count, or on any if it is NO_PIECE.
    """
    moves, order, history, found = board.moves[ply], board.order[ply], board.history, 0
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
def undo(state: Record, board: Board, values: Values, move: int, now: Ints) -> None:
    """Take a move back, and count its pieces as before."""
    slot, taken = slot_of(move), now[TAKEN]
    if taken != NO_PIECE:
        count(state, board.tally, values.kinds, slot, -1)
    take_back(state, move, now, values.settings[0])
    if taken != NO_PIECE:
        count(state, board.tally, values.kinds, slot, 1)
        count(state, board.tally, values.kinds, taken, 1)


@stack_kernel
def play_next(state: Record, board: Board, values: Values, ply: int, result: Floats) -> bool:
    """Play the next move of a ply, the most promising first, and say whether the game goes on.

    If it does not, `result[0]` is its value for the player who has made the move.
    """
    now, after, moves, order = board.plies[ply], board.plies[ply + 1], board.moves[ply], board.order[ply]
    best = now[TRIED]
    for k in range(now[TRIED] + 1, now[COUNT]):
        if order[k] > order[best]:
            best = k
    moves[best], moves[now[TRIED]] = moves[now[TRIED]], moves[best]
    order[best], order[now[TRIED]] = order[now[TRIED]], order[best]
    move, rules = moves[now[TRIED]], values.settings[0]
    slot, target = slot_of(move), NO_PIECE if is_pass(move, rules) else int(state["board"][end_of(move)])
    if target != NO_PIECE:
        count(state, board.tally, values.kinds, target, -1)
        count(state, board.tally, values.kinds, slot, -1)
    outcome = play_move(state, move, now, after, rules)
    if target != NO_PIECE:
        count(state, board.tally, values.kinds, slot, 1)
    result[0] = WON - ply if outcome == LAST_ROYAL else 0.0
    return outcome == GOES_ON


@stack_kernel
def search(
    board: Board, values: Values, mover: int, first: int, depth: int, alpha: float, beta: float, result: Floats
) -> float:
    """The value of the position for the player to move, from so many plies and then captures.

    Outside of `alpha` to `beta` it is a bound. If it takes too many positions, it stops at once, and means nothing.

    Args:
        board: The position, as before afterwards; `plies[first]` has its QUIET and PASSED.
        values: What positions are worth.
        mover: The player to move.
        first: The ply of the position.
        depth: Plies to search; then captures, if they are better than what stands.
        alpha: The least value of interest.
        beta: The greatest one.
        result: (1,) overwritten.
    """
    ply, entering, value, state, rules = first, True, 0.0, board.world[0], values.settings[0]
    player = mover
    board.bounds[ply, ALPHA], board.bounds[ply, BETA] = alpha, beta
    while True:
        now, bounds = board.plies[ply], board.bounds[ply]
        left = first + depth - ply
        leaving = False
        if entering:
            board.nodes[0] += 1
            if board.nodes[0] > board.nodes[1]:
                return 0.0
            bounds[BEST] = -INFINITE
            now[TRIED], now[COUNT] = 0, 0
            if left <= 0:
                bounds[BEST] = value_of(board, values, player)
                bounds[ALPHA] = max(bounds[ALPHA], bounds[BEST])
                leaving = bounds[BEST] >= bounds[BETA] or left <= -MOST_CAPTURES
            if not leaving:
                on = NO_PIECE
                if left <= -ALL_CAPTURES:
                    on = end_of(board.moves[ply - 1, board.plies[ply - 1, TRIED]])
                now[COUNT] = list_promising(state, board, values, player, left <= 0, on, ply)
        else:
            move = board.moves[ply, now[TRIED]]
            undo(state, board, values, move, now)
            if value > bounds[BEST]:
                bounds[BEST] = value
                bounds[ALPHA] = max(bounds[ALPHA], value)
                if value >= bounds[BETA]:
                    leaving = True
                    if not is_pass(move, rules) and now[TAKEN] == NO_PIECE:
                        slot, end = slot_of(move), end_of(move)
                        board.history[slot, end] = min(board.history[slot, end] + left * left, HISTORY)
            now[TRIED] += 1
        if not leaving and now[TRIED] < now[COUNT]:
            if play_next(state, board, values, ply, result):
                board.bounds[ply + 1, ALPHA], board.bounds[ply + 1, BETA] = -bounds[BETA], -bounds[ALPHA]
                ply, player, entering = ply + 1, 1 - player, True
            else:
                value, entering = result[0], False
            continue
        value = bounds[BEST]
        if ply == first:
            return value
        ply, player, value, entering = ply - 1, 1 - player, -value, False


@stack_kernel
def value_moves(
    states: States,
    board: Board,
    values: Values,
    moves: Ints,
    kept: int,
    depth: int,
    margin: float,
    found: Floats,
    result: Floats,
) -> bool:
    """The values of the moves of a full state, by searches of so many plies, this one included.

    Args:
        states: (1,) a full state.
        board: Overwritten, but for the number of positions that may be looked at.
        values: What positions are worth.
        moves: (M, 2) from and to of each move; the first `kept` are searched.
        kept: How many.
        depth: At least 1; or 1 - MOST_CAPTURES: what stands after each move.
        margin: Of moves that are worse than the best so far by more than this, only a bound is found.
        found: (M,) gets the values for the player to move.
        result: (1,) overwritten.

    Returns:
        Whether they are found: it stops when it has looked at too many positions.
    """
    state = states[0]
    set_up(state, board, values)
    mover, best, now = int(state["to_move"]), -INFINITE, board.plies[0]
    board.nodes[0] = 0
    for k in range(kept):
        now[COUNT], now[TRIED] = 1, 0
        board.moves[0, 0] = move_to(state["board"][moves[k, 0]], moves[k, 1])
        if play_next(board.world[0], board, values, 0, result):
            found[k] = -search(board, values, 1 - mover, 1, depth - 1, -INFINITE, margin - best, result)
        else:
            found[k] = result[0]
        if board.nodes[0] > board.nodes[1]:
            return False
        undo(board.world[0], board, values, board.moves[0, 0], now)
        best = max(best, found[k])
    return True


@stack_kernel
def value_states(states: States, board: Board, values: Values, depth: int, found: Floats, result: Floats) -> None:
    """(B,) the values of full states for the players to move."""
    for i in range(len(states)):
        set_up(states[i], board, values)
        found[i] = search(board, values, int(states[i]["to_move"]), 0, depth, -INFINITE, INFINITE, result)
