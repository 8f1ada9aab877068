"""Kernels that determine, while a public tree grows, which worlds a player can tell apart.

A *row* is one world after one move. Rows that come from the same public node by the same action form a *run*. Each row
has a *history* for each player: a hash of all of the player's views so far. Rows of a run with equal histories of a
player look the same to that player.
"""

from __future__ import annotations

import numpy as np

from pbm_envs.authoring import kernel
from pbm_envs.toolbox import Array

SEED = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
SHIFT = np.uint64(32)


@kernel
def extend_histories(views: Array, used: Array, histories: Array) -> None:
    """Add a view to each history.

    Args:
        views: (R, words) records as words.
        used: (words,) the bits that belong to fields; other bits are arbitrary and ignored.
        histories: (R,) uint64, changed in place.
    """
    for r in range(len(histories)):
        mixed = histories[r] + SEED
        for w in range(views.shape[1]):
            mixed = (mixed ^ np.uint64(views[r, w] & used[w])) * MIX_1
            mixed = (mixed ^ (mixed >> SHIFT)) * MIX_2
        histories[r] = mixed ^ (mixed >> SHIFT)


@kernel
def sort_by(keys: Array, order: Array, first: int, last: int) -> None:
    """Sort order[first:last] by `keys[order[k]]`, then by `order[k]` (Shell 1959; runs are short)."""
    gap = 1
    while gap < (last - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, last):
            moving = order[k]
            key = keys[moving]
            j = k
            while j >= first + gap and (
                keys[order[j - gap]] > key or (keys[order[j - gap]] == key and order[j - gap] > moving)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = moving
        gap //= 3


@kernel
def find(roots: Array, row: int) -> int:
    """Return the root of a row's component (union-find with path halving)."""
    while roots[row] != row:
        roots[row] = roots[roots[row]]
        row = roots[row]
    return row


@kernel
def split_runs(
    runs: Array, histories: Array, movers: Array, order: Array, roots: Array, keys: Array, starts: Array
) -> None:
    """Split each run into public nodes, and these into the information sets of the player to move.

    Two rows belong to the same node if some player cannot tell them apart, directly or through a chain of such rows.
    The separation of nodes is thus common knowledge.

    Args:
        runs: (runs + 1,) start of each run.
        histories: (R, 2) histories of both players.
        movers: (R,) the players to move.
        order: (R,) overwritten with the rows, node by node and set by set.
        roots: (R,) working memory.
        keys: (R,) working memory.
        starts: (R,) overwritten, in this order: 2 where a node starts, 1 where another set of the node starts, else 0.
    """
    for k in range(len(runs) - 1):
        first, last = runs[k], runs[k + 1]
        for row in range(first, last):
            order[row], roots[row] = row, row
        if last - first == 1:
            starts[first] = 2
            continue
        for player in range(2):
            for row in range(first, last):
                keys[row] = histories[row, player]
            sort_by(keys, order, first, last)
            for j in range(first + 1, last):
                if keys[order[j]] == keys[order[j - 1]]:
                    one, other = find(roots, order[j - 1]), find(roots, order[j])
                    roots[max(one, other)] = min(one, other)
        for row in range(first, last):
            keys[row] = histories[row, movers[row]]
            roots[row] = find(roots, row)
        # sets and nodes are in the order of their first rows
        sort_by(keys, order, first, last)
        known = keys[order[first]]
        least = order[first]
        for j in range(first, last):
            row = order[j]
            if keys[row] != known:
                known, least = keys[row], row
            starts[j] = least
        for j in range(first, last):
            keys[order[j]] = np.uint64(roots[order[j]] - first) * np.uint64(last - first) + np.uint64(starts[j] - first)
        sort_by(keys, order, first, last)
        for j in range(last - 1, first, -1):
            before, now = order[j - 1], order[j]
            if roots[before] != roots[now]:
                starts[j] = 2
            else:
                starts[j] = keys[before] != keys[now]
        starts[first] = 2
