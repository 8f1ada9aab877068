"""What the tests of the OpenSpiel adapter share."""

import warnings

import numpy as np

from pbm_envs import Curio, make_game, registered_games
from pbm_envs.adapters.openspiel import load

TINY = {"rows": 2, "cols": 3, "base": 2, "face": "small", "capture": "gt", "turn": False, "reveal_captured": False}
"""Curio with 36 set-ups and much that stays hidden."""


def configurations():
    """Every game under every set of options of the conformance checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # T7
        return [
            make_game(name, **options)
            for name in registered_games()
            for options in registered_games()[name].configurations
        ]


def dealt(game, rng):
    """A state that chance has set up."""
    state = game.new_initial_state()
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(int(rng.choice(outcomes, p=chances)))
    return state


def prefixes(game, rng, plies):
    """The states of a random game of at most so many plies, from the start on; nobody resigns early."""
    found = [dealt(game, rng)]
    while not found[-1].is_terminal() and len(found) <= plies:
        legal = found[-1].legal_actions()
        if game.rules.resign_action in legal and rng.random() < 0.95:
            legal.remove(game.rules.resign_action)
        found.append(found[-1].child(int(rng.choice(legal))))
    return found


def tiny(**options):
    return load(Curio(**TINY | options))


def tree(state):
    """Every state with a player to move, from `state` down, with its path: the states before it."""
    stack = [(state, ())]
    while stack:
        node, path = stack.pop()
        if node.is_terminal():
            continue
        if not node.is_chance_node():
            yield node, path
        stack += [(node.child(action), (*path, node)) for action in node.legal_actions()]


def sees(state, player):
    """All that OpenSpiel shows a player of a state."""
    game = state.get_game()
    shown = [state.information_state_string(player), state.observation_string(player), state.observation_tensor(player)]
    if game.get_type().provides_information_state_tensor:
        shown.append(state.information_state_tensor(player))
    return shown, state.legal_actions(player), state.is_terminal(), state.returns()


def sampler(seed):
    return np.random.default_rng(seed).random
