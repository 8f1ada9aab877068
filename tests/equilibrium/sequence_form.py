"""The value of a game by linear programming over realization plans (Koller, Megiddo & von Stengel 1996)."""

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array


def last_choices(tree):
    """(2, P) of each player, the choice that was made last before a pair, counted from 1; 0 before the first."""
    last = np.zeros((2, tree.num_pairs), int)
    for s in range(tree.num_information_sets):
        count = int(tree.set_choices[s + 1] - tree.set_choices[s])
        for k, pair in enumerate(range(tree.set_pairs[s], tree.set_pairs[s + 1])):
            for j in range(count):
                child = tree.children[tree.set_transitions[s] + k * count + j]
                if child >= 0:
                    last[:, child] = last[:, pair]
                    last[tree.set_player[s], child] = 1 + tree.set_choices[s] + j
    return last


def flow(tree, last, player):
    """Constraints of a player's plan: a row for the start and one a set, a column for each choice and the start."""
    rows, columns, signs = [0], [0], [1]
    sets = np.flatnonzero(tree.set_player == player)
    for row, s in enumerate(sets, start=1):
        choices = range(tree.set_choices[s], tree.set_choices[s + 1])
        rows += [row] * (len(choices) + 1)
        columns += [last[player, tree.set_pairs[s]], *(choice + 1 for choice in choices)]
        signs += [-1] + [1] * len(choices)
    return coo_array((signs, (rows, columns)), shape=(len(sets) + 1, tree.num_choices + 1)).tocsr()


def payoff_matrix(tree, last):
    """What player_0 gets, by the last choices of both."""
    rows, columns, amounts = [], [], []
    for s in range(tree.num_information_sets):
        count = int(tree.set_choices[s + 1] - tree.set_choices[s])
        for k, pair in enumerate(range(tree.set_pairs[s], tree.set_pairs[s + 1])):
            for j in range(count):
                child = tree.children[tree.set_transitions[s] + k * count + j]
                if child < 0:
                    ends = last[:, pair].copy()
                    ends[tree.set_player[s]] = 1 + tree.set_choices[s] + j
                    rows.append(ends[0])
                    columns.append(ends[1])
                    amounts.append(tree.chances[tree.pair_world[pair]] * tree.payoffs[~child])
    size = tree.num_choices + 1
    return coo_array((amounts, (rows, columns)), shape=(size, size)).tocsr()


def value(tree):
    """What player_0 gets in equilibrium: maximize q_0 with E x = e, x >= 0, F' q <= A' x."""
    from scipy.sparse import block_array

    last = last_choices(tree)
    own, theirs = flow(tree, last, 0), flow(tree, last, 1)
    gains = payoff_matrix(tree, last)
    plans, duals = own.shape[1], theirs.shape[0]
    start = np.zeros(own.shape[0])
    start[0] = 1
    objective = np.zeros(plans + duals)
    objective[plans] = -1
    solution = linprog(
        objective,
        A_ub=block_array([[-gains.T, theirs.T]]),
        b_ub=np.zeros(theirs.shape[1]),
        A_eq=block_array([[own, coo_array((own.shape[0], duals))]]),
        b_eq=start,
        bounds=[(0, None)] * plans + [(None, None)] * duals,
        method="highs",
    )
    assert solution.status == 0, solution.message
    return -solution.fun
