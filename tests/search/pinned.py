"""Searches whose results are pinned by hash, so that a change of the code that is not to change them is seen.

    python -m tests.search.pinned

prints the hashes that `test_pinned.py` expects. The numbers of the evaluator are powers of two: no sum is rounded.
"""

from __future__ import annotations

import hashlib

import numpy as np
from pbm_agents import Workspace
from pbm_agents.search import make_search

from pbm_envs import make_game

GAMES = {
    "chameleon": {"size": 4, "allow_resign": True},
    "unlur": {"radius": 3},
    "trinim": {"size": 5},
    "trinim of three": {"size": 5, "num_players": 3, "allow_resign": True},
    "curio": {"base": 2, "rows": 4, "cols": 3, "allow_resign": True},
}
SETTINGS = {
    "default": {"simulations": 150},
    "plain, no solver, 5 at once": {"simulations": 101, "rave": 0, "solver": False, "parallel_simulations": 5},
    "early stop, 3 at once": {"simulations": 300, "early_stop": True, "parallel_simulations": 3},
    "threads, two playouts": {"simulations": 60, "threads": 2, "playouts": 2, "c": 0.7},
    "reuse": {"simulations": 80, "reuse": True},
    "network": {"simulations": 90, "evaluator": True},
    "network, noise, 4 at once": {"simulations": 90, "evaluator": True, "parallel_simulations": 4, "noise": 0.25},
    "network, reuse": {"simulations": 70, "evaluator": True, "reuse": True, "solver": False},
}
PLIES = (0, 1, 3, 6)


def network(players):
    """Priors that look like a network's, and values from the player to move on."""

    def evaluate(observations, masks):
        flat = observations.reshape(len(observations), -1).astype(np.int64)
        marks = (flat * (np.arange(flat.shape[1]) * 7919 % 101)).sum(axis=1)
        priors = masks * 2.0 ** ((np.arange(masks.shape[1]) * 31 + marks[:, None]) % 4)
        values = [(marks * (17 + k) % 33 - 16) / 16 for k in range(players)]
        return priors, values[0] if players == 2 else np.stack(values, axis=1)

    return evaluate


def summary(result):
    """What must stay, as bytes."""
    numbers = (result.best, *result.principal_variation, result.simulations, result.nodes, result.proven)
    arrays = (result.visits.astype(np.int64), np.nan_to_num(result.values, nan=-9).round(6), result.value.round(6))
    return repr(numbers).encode() + b"".join((array + 0.0).tobytes() for array in arrays)


def run(name, setting):
    """The hash of a search in some positions, and in those that follow by the moves found."""
    game, rng = make_game(name.split()[0], **GAMES[name]), np.random.default_rng(11)
    settings = dict(SETTINGS[setting])
    if "evaluator" in settings:
        settings["evaluator"] = network(game.num_players)
    search, workspace, digest = make_search(**settings), Workspace(), hashlib.sha256()
    batches = []
    for plies in PLIES:
        states = game.init(3, rng)
        for _ in range(plies):
            masks = game.legal_action_mask(states)
            if game.options["allow_resign"]:
                masks[:, -1] = False
            actions = [int(rng.choice(np.flatnonzero(mask))) if mask.any() else 0 for mask in masks]
            game.step(states, actions)
        batches.append(states)
    states = np.concatenate(batches)
    for _ in range(3):
        states = states[~states["done"]]
        seeds = rng.integers(1 << 63, size=len(states), dtype=np.uint64)
        results = search.run(game, game.view(states, states["to_move"]), seeds, workspace=workspace)
        for result in results:
            digest.update(summary(result))
        game.step(states, [result.best for result in results])
    return digest.hexdigest()[:16]


if __name__ == "__main__":
    for name in GAMES:
        for setting in SETTINGS:
            print(f'    ("{name}", "{setting}"): "{run(name, setting)}",')
