"""The rules of Trinim as kernels (T1 to T7)."""

from __future__ import annotations

import numpy as np

from ...core.boards import NO_CELL, Board
from ...core.kernels import stack_kernel
from ...core.randomness import draw, shuffle
from ...core.state import EMPTY, NOBODY, Ints, Mask, Record, Seeds, States, shows_mask, state_dtype
from ...core.words import BITS, WORD, Words, clear_of, flat, store_word

COLOURS = 3
DIRECTIONS = 3
RED, GREEN, BLUE = 1, 2, 3
CELLS = 64  # bits of a word
ALL_BITS, EIGHT_TRUE = (1 << CELLS) - 1, np.uint64(0x0101010101010101)
LETTERS = ".rgb"  # in board texts: EMPTY, RED, GREEN, BLUE
NAMES = {RED: "red", GREEN: "green", BLUE: "blue"}


def trinim_dtype(cells: int, players: int) -> np.dtype[np.void]:
    """Return the dtype of a record with `cells` cells."""
    return state_dtype(
        players,
        [
            ("left", "i2"),  # pieces on the board
            ("held", "i2", (players, COLOURS)),  # pieces taken: red, green, blue
            ("out", "i1", (players,)),  # 1 for a player who has resigned (A2)
            ("pieces", "i1", (cells,)),  # EMPTY or a colour
        ],
    )


def lines(board: Board) -> tuple[Ints, Words]:
    """Return all lines of cells that an action can take (T4); the first actions take one cell each.

    `takes` (A, 4) are the first cell of each action, its direction, its number of cells and its last cell; `cells`
    (W, A) its cells as bits of W words; W is even.
    """
    takes = [(cell, 0, 1, cell) for cell in range(board.size)]
    sets = [1 << cell for cell in range(board.size)]
    for d in range(DIRECTIONS):
        for first in range(board.size):
            cell, taken = board.neighbours[first, d], 1 << first
            while cell != NO_CELL:
                taken |= 1 << int(cell)
                takes.append((first, d, taken.bit_count(), int(cell)))
                sets.append(taken)
                cell = board.neighbours[cell, d]
    words = range(0, 2 * CELLS * -(-board.size // (2 * CELLS)), CELLS)
    cells = [[taken >> low & ALL_BITS for taken in sets] for low in words]
    return np.array(takes, np.int16), np.array(cells, np.uint64)


def lines_through(takes: Ints, board: Board) -> tuple[Ints, Ints]:
    """Return `actions` and `starts`: `actions[starts[cell] : starts[cell + 1]]` are the actions that take a cell."""
    through: list[list[int]] = [[] for _ in range(board.size)]
    for action, (first, d, length, _) in enumerate(takes.tolist()):
        cell = first
        for _ in range(length):
            through[cell].append(action)
            cell = board.neighbours[cell, d]
    starts = np.cumsum([0, *map(len, through)], dtype=np.int32)
    return np.concatenate(through).astype(np.int32), starts


@stack_kernel
def set_up_batch(states: States, seeds: Seeds) -> None:
    """Put equally many pieces of each colour on the board in random order (T3)."""
    for i in range(len(states)):
        pieces = states[i]["pieces"]
        for cell in range(len(pieces)):
            pieces[cell] = RED + cell * COLOURS // len(pieces)
        shuffle(seeds, i, pieces)
        states[i]["left"] = len(pieces)


@stack_kernel
def next_player(state: Record) -> int:
    """Return the next player who is still in the game."""
    players = len(state["out"])
    agent = (state["to_move"] + 1) % players
    while state["out"][agent]:
        agent = (agent + 1) % players
    return agent


@stack_kernel
def score(held: Ints) -> int:
    """Return the number of colours held an even number of times; zero is even (T5)."""
    even = 0
    for colour in range(COLOURS):
        even += 1 - held[colour] % 2
    return even


@stack_kernel
def finish(state: Record) -> None:
    """End the game, since the board is empty or one player is left (T6, A1, A2)."""
    players = len(state["out"])
    best, winners, winner, still_in = -1, 0, 0, 0
    for agent in range(players):
        if not state["out"][agent]:
            still_in += 1
            points = score(state["held"][agent])
            if points > best:
                best, winners, winner = points, 1, agent
            elif points == best:
                winners += 1
    lost = 1.0 / (players - 1)
    for agent in range(players):
        if winners == 1:
            state["returns"][agent] = 1.0 if agent == winner else -lost
        elif not state["out"][agent]:
            state["returns"][agent] = lost * (players - still_in) / still_in
    state["done"] = True


@stack_kernel
def grab(state: Record, take: Ints, neighbours: Ints) -> None:
    mover = state["to_move"]
    cell, direction, length = take[0], take[1], take[2]
    for _ in range(length):
        state["held"][mover, state["pieces"][cell] - 1] += 1
        state["pieces"][cell] = EMPTY
        cell = neighbours[cell, direction]
    state["left"] -= length
    state["ply"] += 1
    state["to_move"] = next_player(state)
    if state["left"] == 0:
        finish(state)


@stack_kernel
def give_up(state: Record) -> None:
    """Remove the player to move from the game, with the losing return immediately (A2)."""
    mover = state["to_move"]
    players = len(state["out"])
    state["out"][mover] = 1
    state["returns"][mover] = -1.0 / (players - 1)
    state["ply"] += 1
    state["to_move"] = next_player(state)
    still_in = 0
    for agent in range(players):
        still_in += 1 - state["out"][agent]
    if still_in == 1:
        finish(state)


@stack_kernel
def is_line(pieces: Ints, take: Ints, neighbours: Ints) -> bool:
    """Return whether a line of pieces has no gap (T4)."""
    cell, direction, length = take[0], take[1], take[2]
    for _ in range(length):
        if pieces[cell] == EMPTY:
            return False
        cell = neighbours[cell, direction]
    return True


@stack_kernel
def step_batch(states: States, actions: Ints, takes: Ints, neighbours: Ints, resign: int) -> int:
    """Play one ply and return -1, or return the first row with an illegal action; `resign` is its action, or -1."""
    for i in range(len(states)):
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        if 0 <= action < len(takes):
            legal = is_line(state["pieces"], takes[action], neighbours)
        else:
            legal = resign >= 0 and action == resign
        if not legal or state["viewer"] != NOBODY:
            return i
    for i in range(len(states)):
        state, action = states[i], actions[i]
        if state["done"]:
            continue
        if action == resign:
            give_up(state)
        else:
            grab(state, takes[action], neighbours)
        state["last_action"] = action
    return -1


@stack_kernel
def mark_legal(pieces: Ints, cells: Words, at: int, out: Mask) -> None:
    """Write the mask of actions, eight at a time, from `out[at]` on: legal actions have pieces on all of their cells.

    `cells` is from `lines`.
    """
    takes, empty = cells.shape[1], np.zeros(len(cells), np.uint64)
    for cell in range(len(pieces)):
        empty[cell // CELLS] |= BITS[cell % CELLS if pieces[cell] == EMPTY else -1]
    for k in range(0, takes, WORD):
        first = min(k, takes - WORD)
        legal = EIGHT_TRUE
        for word in range(0, len(empty), 2):
            legal &= clear_of(cells[word], empty[word], cells[word + 1], empty[word + 1], first)
        store_word(out, at + first, legal)


@stack_kernel
def mask_batch(states: States, out: Mask, cells: Words, resign: int) -> None:
    """Write the masks of states, and of the views of players to move."""
    row, width = flat(out), out.shape[1]
    for i in range(len(states)):
        state = states[i]
        shown = shows_mask(state)
        if shown:
            mark_legal(state["pieces"], cells, i * width, row)
        else:
            for action in range(width):
                row[i * width + action] = False
        if resign >= 0:
            row[i * width + resign] = shown


@stack_kernel
def playout_batch(
    states: States,
    seeds: Seeds,
    takes: Ints,
    cells: Words,
    neighbours: Ints,
    broken: Ints,
    starts: Ints,
    last_player_by_action: Ints,
) -> None:
    """Draw each ply from a list of the legal actions, and remove those that it makes illegal.

    Each action is removed at most once, so the time per game is linear in the size of all lines.
    """
    legal = np.empty(len(takes), np.bool_)
    left, place = np.empty(len(takes), np.int32), np.empty(len(takes), np.int32)  # left[place[a]] == a, or place is -1
    for i in range(len(states)):
        state = states[i]
        if state["done"]:
            continue
        mark_legal(state["pieces"], cells, 0, legal)
        count = 0
        for action in range(len(takes)):
            place[action] = -1
            if legal[action]:
                left[count], place[action] = action, count
                count += 1
        while not state["done"]:
            action = left[draw(seeds, i, count)]
            cell, direction, length = takes[action, 0], takes[action, 1], takes[action, 2]
            for _ in range(length):
                for k in range(starts[cell], starts[cell + 1]):
                    at = place[broken[k]]
                    if at >= 0:
                        place[broken[k]] = -1
                        count -= 1
                        if at < count:
                            left[at] = left[count]
                            place[left[at]] = at
                cell = neighbours[cell, direction]
            if last_player_by_action.size:
                last_player_by_action[i, action] = state["to_move"]
            grab(state, takes[action], neighbours)
            state["last_action"] = action
