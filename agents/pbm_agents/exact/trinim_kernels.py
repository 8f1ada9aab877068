"""Kernels that solve Trinim: the value of every set of pieces left on the board, from the empty board upwards.

The pieces left are bits of a `mask`; of the pieces a player holds only the parities count, one bit per colour (T5).
Neither the moves nor the *other* players' holdings at their next turn depend on the parities of the player to move, so
all are solved at once: with two players eight positions are eight bits of a word, and a move is one `|` and one `&`.

A position with two players is (mask, h): h are the parities of the player to move, and those of the opponent are
`h ^ total ^ left`, where `total` are the parities of all pieces (held or left) and `left` those of the pieces left.
With three players it is (mask, a, b): the parities of the player to move and of the next one.
"""

from __future__ import annotations

import numpy as np

from pbm_envs.authoring import Ints
from pbm_envs.toolbox import Array, Floats, stack_kernel

PARITIES = 8
"""The number of combinations of parities of three colours."""
EXCHANGED = np.array(
    [[sum((word >> (bit ^ key) & 1) << bit for bit in range(PARITIES)) for word in range(256)] for key in range(8)],
    np.uint8,
)
"""`EXCHANGED[key, word]` is the word with bit `h ^ key` moved to bit h."""
NO_CELL = -1


@stack_kernel
def even_colours(parities: int) -> int:
    """Return the number of colours, of three, that are held an even number of times (T5)."""
    return 3 - (parities & 1) - (parities >> 1 & 1) - (parities >> 2 & 1)


@stack_kernel
def remaining_parities(colours: Ints, parities: Array) -> None:
    """Write (2 ** k,) the parities of the pieces of each mask; `colours` (k,) are 1, 2 and 3."""
    parities[0] = 0
    for cell in range(len(colours)):
        bit = 1 << cell
        for mask in range(bit):
            parities[bit + mask] = parities[mask] ^ (1 << (colours[cell] - 1))


@stack_kernel
def solve_two(colours: Ints, following: Ints, total: int, exchanged: Array, left: Array, results: Array) -> None:
    """Solve every two-player position in which a subset of these pieces is left.

    Args:
        colours: (k,) the colours of the pieces, 1, 2 or 3.
        following: (k, 3) the next piece in each direction, or NO_CELL.
        total: The parities of all pieces, held or left.
        exchanged: The table EXCHANGED.
        left: (2 ** k,) uint8, working memory.
        results: (2 ** k, 2) uint8, overwritten: bit h of the first word is set if the player to move wins; of the
            second, if they lose.
    """
    remaining_parities(colours, left)
    won, lost = 0, 0
    for h in range(8):
        own, other = even_colours(h), even_colours(h ^ total)
        won |= (own > other) << h
        lost |= (own < other) << h
    results[0, 0], results[0, 1] = won, lost
    for mask in range(1, len(left)):
        won, lost = 0, 255
        for cell in range(len(colours)):
            if not mask >> cell & 1:
                continue
            after = mask ^ (1 << cell)
            won |= results[after, 1]
            lost &= results[after, 0]
            for d in range(3):
                line, further = after, following[cell, d]
                while further >= 0 and mask >> further & 1:
                    line ^= 1 << further
                    won |= results[line, 1]
                    lost &= results[line, 0]
                    further = following[further, d]
            if won == 255:
                lost = 0
                break
        results[mask, 0] = exchanged[total ^ left[mask], won]
        results[mask, 1] = exchanged[total ^ left[mask], lost]


@stack_kernel
def moves_from(mask: int, following: Ints, afters: Ints) -> int:
    """Write the mask that each legal move leaves into `afters`; return the number of moves (T4)."""
    moves = 0
    for cell in range(len(following)):
        if not mask >> cell & 1:
            continue
        afters[moves] = mask ^ (1 << cell)
        moves += 1
        for d in range(3):
            line, further = mask ^ (1 << cell), following[cell, d]
            while further >= 0 and mask >> further & 1:
                line ^= 1 << further
                afters[moves] = line
                moves += 1
                further = following[further, d]
    return moves


@stack_kernel
def solve_three(colours: Ints, following: Ints, total: int, temperature: float, left: Array, values: Floats) -> None:
    """Solve as `solve_two` does, for three players, who deviate from their best moves.

    A move whose expected return is `x` below the best is played with a probability in proportion to
    `1 / (1 + x / temperature) ** 2`. The other arguments are those of `solve_two`; `values` (2 ** k, 3, 64) float32 are
    overwritten with the expected returns at (mask, 8 a + b) of the player to move, the next, and the third.
    """
    remaining_parities(colours, left)
    for state in range(64):
        a, b = state >> 3, state & 7
        own_score, second_score, third_score = even_colours(a), even_colours(b), even_colours(total ^ a ^ b)
        most = max(own_score, second_score, third_score)
        if (own_score == most) + (second_score == most) + (third_score == most) > 1:
            values[0, 0, state], values[0, 1, state], values[0, 2, state] = 0.0, 0.0, 0.0
        else:
            values[0, 0, state] = 1.0 if own_score == most else -0.5
            values[0, 1, state] = 1.0 if second_score == most else -0.5
            values[0, 2, state] = 1.0 if third_score == most else -0.5
    most_moves = len(colours) * (1 + 3 * len(colours))
    afters = np.empty(most_moves, np.int64)
    best, weights, likely = np.empty(64, np.float32), np.empty(64, np.float32), np.empty(64, np.float32)
    sums = np.empty((3, 64), np.float32)
    one, scale = np.float32(1.0), np.float32(1.0 / max(temperature, 1e-4))
    for mask in range(1, len(left)):
        moves = moves_from(mask, following, afters)
        for state in range(64):
            best[state] = values[afters[0], 2, state]
        for k in range(1, moves):
            expected = values[afters[k], 2]
            for state in range(64):  # short loops over all parities, each writing one array, become SIMD code
                best[state] = max(best[state], expected[state])
        for state in range(64):
            weights[state] = sums[0, state] = sums[1, state] = sums[2, state] = 0
        for k in range(moves):
            second, third, own = values[afters[k], 0], values[afters[k], 1], values[afters[k], 2]
            for state in range(64):
                straying = one / (one + (best[state] - own[state]) * scale)
                likely[state] = straying * straying
            for state in range(64):
                weights[state] += likely[state]
            for state in range(64):
                sums[0, state] += likely[state] * own[state]
            for state in range(64):
                sums[1, state] += likely[state] * second[state]
            for state in range(64):
                sums[2, state] += likely[state] * third[state]
        key = total ^ left[mask]
        for state in range(64):
            a, b = state >> 3, state & 7
            after_state = 8 * b + (key ^ a ^ b)  # the next player is to move, the third one is next
            for player in range(3):
                values[mask, player, state] = sums[player, after_state] / weights[after_state]
