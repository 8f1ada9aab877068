"""Functions shared by solvers and by agents that combine a search with a solver."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pbm_envs import Game
from pbm_envs.authoring import States
from pbm_envs.toolbox import Array

from ..search import Search

MOST_NODES = 1e12


def positions_after(game: Game, state: States, actions: Array) -> States:
    """Return the positions (len(actions),) after each of `actions` in one position (1,) without hidden information."""
    states = np.repeat(state, len(actions))
    states["viewer"] = -1  # full states
    game.step(states, actions)
    return states


def divide_budget(search: Search, per_simulation: float, share: float, per_second: float) -> tuple[Search, int]:
    """Divide the budget of a move between a search and a solver.

    Args:
        search: The settings. With `seconds` the solver takes a share of them; with `simulations` its positions come in
            addition to them.
        per_simulation: Positions of the solver for each simulation.
        share: The solver's share of the seconds.
        per_second: Positions that the solver examines per second.

    Returns:
        The search with its share of the budget, and the number of positions for the solver.
    """
    if search.seconds is None:
        return search, int(per_simulation * int(search.simulations or 0))
    rest = replace(search, seconds=search.seconds * (1 - share))
    return rest, int(min(search.seconds * share * per_second, MOST_NODES))
