"""Games without a public tree: every history of every world by itself, keyed by all that a player has seen."""

from collections import defaultdict

import numpy as np
from pbm_agents.equilibrium.growth import set_ups


def histories(game):
    """Ply by ply: states, the probability of their set-ups, keys of both players, and of each move row and action."""
    states, weights = set_ups(game)
    keys = [[()] * len(states) for _ in range(2)]
    while len(states):
        keys = [
            [
                (*key, tuple(view[name].tobytes() for name in game.dtype.names))
                for key, view in zip(known, game.view(states, player), strict=True)
            ]
            for player, known in enumerate(keys)
        ]
        rows, actions = np.nonzero(game.legal_action_mask(states))
        yield states, weights, keys, rows, actions
        states, weights = states[rows], weights[rows]
        keys = [[known[row] for row in rows] for known in keys]
        game.step(states, actions)


def information_sets(game):
    """Keys of the players to move, in any order."""
    found = set()
    for states, _, keys, _, _ in histories(game):
        for row in np.flatnonzero(~states["done"]):
            player = int(states["to_move"][row])
            found.add((player, keys[player][row]))
    return found


def best_value(game, player):
    """What `player` gets from the best response to uniformly random play."""
    levels, reached = [], None
    for states, weights, keys, rows, actions in histories(game):
        reached = weights.copy() if reached is None else reached
        levels.append((states, reached, keys[player], rows, actions))
        mine = states["to_move"][rows] == player
        counts = np.bincount(rows, minlength=len(states))
        reached = reached[rows] / np.where(mine, 1, counts[rows])
    below = np.zeros(0)  # of each state, its value times its weight
    for states, weights, keys, rows, actions in reversed(levels):
        worth = np.where(states["done"], states["returns"][:, player] * weights, 0)
        mine = (states["to_move"] == player) & ~states["done"]
        np.add.at(worth, rows[~mine[rows]], below[~mine[rows]])
        sums = defaultdict(lambda: defaultdict(float))
        for row, action, value in zip(rows, actions, below, strict=True):
            sums[keys[row]][action] += value
        for row, action, value in zip(rows, actions, below, strict=True):
            if mine[row] and action == max(sums[keys[row]], key=sums[keys[row]].get):
                worth[row] += value
        below = worth
    return below.sum()
