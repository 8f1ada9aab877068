"""Random positions whose outcomes tests/reference/solver.py has found out."""

from __future__ import annotations

from functools import cache

import numpy as np

from pbm_envs import make_game
from pbm_envs.testing import random_actions
from tests.reference import solver


def positions_after(game, rng, plies):
    """A position after each number of random plies, of those games that are not over by then."""
    states = game.init(len(plies), rng)
    for ply in range(max(plies)):
        rows = np.array(plies) > ply
        some = states[rows]
        game.step(some, random_actions(game, some, rng))
        states[rows] = some
    return states[~states["done"]]


@cache
def solved(name, options, first, last, count):
    """`count` positions of a game of two after `first` to `last` plies in which both a best and a worse action exist:
    states, and (count, A) what each action is worth to who makes it (nan: illegal). `options` are pairs.
    """
    game, rng, known = make_game(name, **dict(options)), np.random.default_rng(first), {}
    states, worths = [], []
    while len(states) < count:
        for state in positions_after(game, rng, rng.integers(first, last + 1, size=64)):
            rules, position = as_solver(game, state)
            worth = np.full(game.num_actions, np.nan)
            for text, value in solver.worths(rules, position, {} if name == "trinim" else known).items():
                worth[game.string_to_action(text)] = value
            if np.nanmin(worth) < np.nanmax(worth) and len(states) < count:
                states.append(state)
                worths.append(worth)
    return np.array(states, game.dtype), np.array(worths)


def as_solver(game, state):
    """The solver's rules and position for a record."""
    mover = int(state["to_move"])
    if game.name == "trinim":
        held = tuple(sum(int(count) % 2 << k for k, count in enumerate(row)) for row in state["held"])
        rules = solver.Trinim(game.options["size"], game.board_to_string(state))
        return rules, (bits(state["pieces"] > 0), held, mover)
    first, second = bits(state["stones"] == 1), bits(state["stones"] == 2)
    if game.name == "chameleon":
        may_swap = game.options["swap_rule"] and int(state["ply"]) == 1
        return connection(game), (first, second, int(state["vert"]), may_swap, mover)
    black = int(state["black"])
    return connection(game), (first, second, None if black < 0 else black, mover)


@cache
def connection(game):
    """The rules of a game whose positions are all on one board."""
    if game.name == "chameleon":
        return solver.Chameleon(game.options["size"], game.options["swap_rule"])
    return solver.Unlur(game.options["radius"])


def bits(cells):
    return sum(1 << k for k in np.flatnonzero(cells).tolist())
