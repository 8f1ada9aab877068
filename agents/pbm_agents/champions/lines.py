"""Lines of play of Curio in a world without secrets, as kernels: alpha-beta search, then captures, then a value.

A capture compares the taker's face towards its owner with the target's face away from its owner (`capture="le"`), and a
piece that captures changes its faces; so a piece is told by two numbers, `near` and `far`, whoever owns it.
"""

from __future__ import annotations

from typing import NamedTuple

from pbm_envs.authoring import Ints, Record, States
from pbm_envs.toolbox import Floats, stack_kernel

NO_PIECE, CAPTURED, DIRECTIONS = -1, -1, 8
CELL_BITS = 10
"""Of a move: slot << CELL_BITS | cell where it ends."""
PASS = -1
WON = 1000.0
"""Of the player who captures the last royal; less one for each ply until then."""
INFINITE = 1e9
MOST_CAPTURES = 8
"""Plies of captures after the last ply of a search."""
ALL_CAPTURES = 2
"""After so many of them, only on the cell of the last one."""
MOST_DEPTH = 24
PLIES = MOST_DEPTH + MOST_CAPTURES + 1
PIECES, ROYALS, WORTH = range(3)
"""Of a tally: how many a player has, and the sum of what they are worth."""
MOST_ROYALS = 5
"""More count as so many."""
CAPTURE_FIRST, HISTORY = 1e6, 1e5
COUNT, TRIED, ORIGIN, TAKEN, QUIET, PASSED = range(6)
"""Of a ply: how many moves there are, which is tried, from where it went, what it took; plies without a capture before
it; whether the one before was a pass."""
ALPHA, BETA, BEST = range(3)


class Values(NamedTuple):
    """What positions are worth; it stays the same while they are searched."""

    neighbours: Ints
    """(cells, DIRECTIONS)"""
    kinds: Floats
    """(base + 1, base + 1) of a piece with these `near` and `far`."""
    royals: Floats
    """(MOST_ROYALS + 1, MOST_ROYALS + 1): of so many of the player to move and of the opponent."""
    limit: int
    """Plies without a capture that end the game; 0: none."""


class Board(NamedTuple):
    """A position, and room to search it. Pieces are named by slots, as in the game's states."""

    at: Ints
    """(cells,) the slot on each cell, or NO_PIECE."""
    cell: Ints
    """(slots,) where each piece stands, or CAPTURED."""
    owner: Ints
    """(slots,)"""
    near: Ints
    """(slots,) the face towards its owner."""
    far: Ints
    """(slots,) the other one."""
    tally: Floats
    """(2, 3) of each player: PIECES, ROYALS, WORTH."""
    moves: Ints
    """(PLIES, moves)"""
    order: Floats
    """(PLIES, moves) the highest is tried first."""
    plies: Ints
    """(PLIES, 6)"""
    bounds: Floats
    """(PLIES, 3)"""
    history: Floats
    """(slots, cells) how often a move of a piece to a cell was good enough."""
    nodes: Ints
    """(2,) how many positions were looked at, and how many may be."""


@stack_kernel
def set_up(state: Record, board: Board, values: Values) -> None:
    """Put a full state on the board."""
    base = len(values.kinds) - 1
    for cell in range(len(board.at)):
        board.at[cell] = state["board"][cell]
    for k in range(board.tally.shape[1]):
        board.tally[0, k], board.tally[1, k] = 0, 0
    for slot in range(len(board.cell)):
        owner = int(state["owner"][slot])
        board.cell[slot], board.owner[slot] = state["cell"][slot], owner
        if owner < 0:
            board.cell[slot] = CAPTURED
            continue
        board.near[slot], board.far[slot] = state["faces"][slot, owner], state["faces"][slot, 1 - owner]
        if board.cell[slot] != CAPTURED:
            count(board, values, slot, base, 1)


@stack_kernel
def count(board: Board, values: Values, slot: int, base: int, sign: int) -> None:
    """Count a piece that stands on the board, or no longer."""
    tally, near, far = board.tally[board.owner[slot]], board.near[slot], board.far[slot]
    tally[PIECES] += sign
    tally[ROYALS] += sign * (near == base or far == base)
    tally[WORTH] += sign * values.kinds[near, far]


@stack_kernel
def value_of(board: Board, values: Values, mover: int) -> float:
    """The value for the player to move, from minus to plus infinity."""
    own, enemy = board.tally[mover], board.tally[1 - mover]
    most = len(values.royals) - 1
    return own[WORTH] - enemy[WORTH] + values.royals[min(int(own[ROYALS]), most), min(int(enemy[ROYALS]), most)]


@stack_kernel
def list_moves(board: Board, values: Values, mover: int, captures_only: bool, on: int, ply: int) -> int:
    """Write the moves of a player (C6, C7), and how promising they are; how many.

    Captures come first, of the most valuable pieces by the least valuable ones, then what was good elsewhere. With `on`
    only captures on that cell count, or on any if it is NO_PIECE.
    """
    at, cell, owner, near, far = board.at, board.cell, board.owner, board.near, board.far
    moves, order, base, found = board.moves[ply], board.order[ply], len(values.kinds) - 1, 0
    for slot in range(len(cell)):
        if owner[slot] != mover or cell[slot] == CAPTURED:
            continue
        mine = near[slot]
        for d in range(DIRECTIONS):
            end = values.neighbours[cell[slot], d]
            for _ in range(mine):
                if end < 0:
                    break
                target = at[end]
                if target == NO_PIECE:
                    if not captures_only:
                        moves[found], order[found] = slot << CELL_BITS | end, board.history[slot, end]
                        found += 1
                    end = values.neighbours[end, d]
                    continue
                if owner[target] != mover and far[target] <= mine and (on < 0 or on == end):
                    moves[found] = slot << CELL_BITS | end
                    royal = near[target] == base or far[target] == base
                    order[found] = CAPTURE_FIRST * (1 + royal) + 10 * near[target] - mine
                    found += 1
                break
    return found


@stack_kernel
def make_move(board: Board, values: Values, move: int) -> int:
    """Make a move and return the slot that it captures, or NO_PIECE."""
    base = len(values.kinds) - 1
    slot, end = move >> CELL_BITS, move & ((1 << CELL_BITS) - 1)
    taken = board.at[end]
    if taken != NO_PIECE:
        count(board, values, taken, base, -1)
        board.cell[taken] = CAPTURED
        turn(board, values, slot, base)
    board.at[board.cell[slot]] = NO_PIECE
    board.at[end] = slot
    board.cell[slot] = end
    return taken


@stack_kernel
def take_back(board: Board, values: Values, move: int, origin: int, taken: int) -> None:
    """Undo a move from `origin` that has captured `taken`; nothing, for a pass."""
    if move == PASS:
        return
    base = len(values.kinds) - 1
    slot, end = move >> CELL_BITS, move & ((1 << CELL_BITS) - 1)
    board.at[end] = taken
    board.at[origin] = slot
    board.cell[slot] = origin
    if taken != NO_PIECE:
        turn(board, values, slot, base)
        board.cell[taken] = end
        count(board, values, taken, base, 1)


@stack_kernel
def turn(board: Board, values: Values, slot: int, base: int) -> None:
    """Exchange the faces of a piece (C8)."""
    count(board, values, slot, base, -1)
    board.near[slot], board.far[slot] = board.far[slot], board.near[slot]
    count(board, values, slot, base, 1)


@stack_kernel
def is_dead(board: Board) -> bool:
    """C11: each player has one piece left, or no piece could ever capture another."""
    tally = board.tally
    if tally[0, PIECES] == 1 and tally[1, PIECES] == 1:
        return True
    light_near, dark_near, light_far, dark_far = 0, 0, 100, 100
    for slot in range(len(board.cell)):
        if board.cell[slot] != CAPTURED:
            if board.owner[slot] == 0:
                light_near, light_far = max(light_near, board.near[slot]), min(light_far, board.far[slot])
            else:
                dark_near, dark_far = max(dark_near, board.near[slot]), min(dark_far, board.far[slot])
    return light_near < dark_far and dark_near < light_far


@stack_kernel
def play_next(board: Board, values: Values, ply: int, mover: int, result: Floats) -> bool:
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
    move = moves[now[TRIED]]
    after[QUIET], after[PASSED], now[TAKEN] = now[QUIET] + 1, move == PASS, NO_PIECE
    result[0] = 0
    if move == PASS:
        return not (now[PASSED] == 1 or 0 < values.limit <= after[QUIET])
    now[ORIGIN] = board.cell[move >> CELL_BITS]
    now[TAKEN] = make_move(board, values, move)
    if now[TAKEN] != NO_PIECE:
        after[QUIET] = 0
        base, taken = len(values.kinds) - 1, now[TAKEN]
        if board.tally[1 - mover, ROYALS] == 0 and (board.near[taken] == base or board.far[taken] == base):
            result[0] = WON - ply
            return False
        return not is_dead(board)
    return not 0 < values.limit <= after[QUIET]


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
    ply, entering, value = first, True, 0.0
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
                    on = board.moves[ply - 1, board.plies[ply - 1, TRIED]] & ((1 << CELL_BITS) - 1)
                now[COUNT] = list_moves(board, values, player, left <= 0, on, ply)
                if now[COUNT] == 0 and left > 0:
                    board.moves[ply, 0], now[COUNT] = PASS, 1
        else:
            move = board.moves[ply, now[TRIED]]
            take_back(board, values, move, now[ORIGIN], now[TAKEN])
            if value > bounds[BEST]:
                bounds[BEST] = value
                bounds[ALPHA] = max(bounds[ALPHA], value)
                if value >= bounds[BETA]:
                    leaving = True
                    if move != PASS and now[TAKEN] == NO_PIECE:
                        slot, end = move >> CELL_BITS, move & ((1 << CELL_BITS) - 1)
                        board.history[slot, end] = min(board.history[slot, end] + left * left, HISTORY)
            now[TRIED] += 1
        if not leaving and now[TRIED] < now[COUNT]:
            if play_next(board, values, ply, player, result):
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
    state: Record,
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
        state: A full state.
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
    set_up(state, board, values)
    mover, best = int(state["to_move"]), -INFINITE
    board.nodes[0] = 0
    now = board.plies[0]
    now[QUIET], now[PASSED] = state["quiet"], state["passed"]
    for k in range(kept):
        now[COUNT], now[TRIED] = 1, 0
        board.moves[0, 0] = board.at[moves[k, 0]] << CELL_BITS | moves[k, 1]
        if play_next(board, values, 0, mover, result):
            found[k] = -search(board, values, 1 - mover, 1, depth - 1, -INFINITE, margin - best, result)
        else:
            found[k] = result[0]
        if board.nodes[0] > board.nodes[1]:
            return False
        take_back(board, values, board.moves[0, 0], now[ORIGIN], now[TAKEN])
        best = max(best, found[k])
    return True


@stack_kernel
def value_states(states: States, board: Board, values: Values, depth: int, found: Floats, result: Floats) -> None:
    """(B,) the values of full states for the players to move."""
    for i in range(len(states)):
        set_up(states[i], board, values)
        board.plies[0, QUIET], board.plies[0, PASSED] = states[i]["quiet"], states[i]["passed"]
        found[i] = search(board, values, int(states[i]["to_move"]), 0, depth, -INFINITE, INFINITE, result)
