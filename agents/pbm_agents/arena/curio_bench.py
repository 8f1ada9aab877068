"""Curio-Bench: six games of Curio with default rules, evaluated by one protocol."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pbm_envs import Game, make_game, sample_actions
from pbm_envs.authoring import take_rows
from pbm_envs.foreign import check_fields

from ..equilibrium import Policy, PublicTree, exploitability, exploitability_bounds
from ..equilibrium.responses import SearchResponder
from ..players.names import make_agent
from .evaluation import evaluate

FORMAT = "curio-bench 1"
HASHED_GAMES = 64
"""Random games whose masks, observations and returns are part of a hash of rules."""


class Level(NamedTuple):
    """A game, with the parameters of the evaluation there."""

    rules: str
    """The hash of its rules."""
    information_sets: int | None
    """The number of information sets of both players, if they can be counted."""
    samples: int
    """Actions sampled per information set from an agent without probabilities; 0 if there is no exact evaluation."""


LEVELS = {
    1: Level("e011882adce5739c", 39_446, 16),
    2: Level("d261443ea833efa2", 409_962, 4),
    3: Level("b2322be5d702db1c", 1_640_958, 2),
    4: Level("4cc0cc17da652e7d", None, 0),
    5: Level("65f0bf9f3b536e65", None, 0),
    6: Level("61eb7d3b6bcad735", None, 0),
}
"""The frozen levels: other rules, levels or protocols would be another benchmark."""
GAMES, OPPONENTS = 200, ("random", "greedy")
"""The number of games against each opponent on every level, and the opponents."""
CHAMPION = "champion:simulations=1000"
RESPONSE_GAMES, RESPONSE_SECONDS = 20, 60.0
"""Where there is no exact evaluation: the strong opponent, and games in each seat and budget of the search response."""
ROW = {"format": str, "level": int, "rules": str, "agent": str, "by": str}
"""The fields of a submission. `agent` is an agent's name, or the file of a `Policy` beside the submission (.npz)."""


def rules_hash(game: Game) -> str:
    """Return a hash of the options and of random games: masks, both players' observations, and returns."""
    digest = blake2b(repr(sorted(game.options.items())).encode(), digest_size=8)
    rng = np.random.default_rng(2026)
    states = game.init(HASHED_GAMES, rng)
    while len(states):
        masks = game.legal_action_mask(states)
        digest.update(np.packbits(masks).tobytes())
        for player in range(game.num_players):
            digest.update(np.ascontiguousarray(game.observe(game.view(states, player))).tobytes())
        game.step(states, sample_actions(masks, rng))
        digest.update(states["returns"].tobytes() + states["to_move"].tobytes())
        states = take_rows(states, np.flatnonzero(~states["done"]))
    return digest.hexdigest()


def check_submission(given: dict[str, Any]) -> dict[str, Any]:
    """Return a submission; ValueError unless it is valid and names the rules of its level."""
    check_fields(given, ROW, "a submission to Curio-Bench")
    if given["format"] != FORMAT or given["level"] not in LEVELS:
        raise ValueError(f"format {given['format']!r}, level {given['level']}: expected {FORMAT!r}, 1 to {len(LEVELS)}")
    expected = LEVELS[given["level"]].rules
    if given["rules"] != expected:
        raise ValueError(f"rules are {given['rules']!r}: expected {expected!r}, the hash of level {given['level']}")
    return given


def evaluated(given: dict[str, Any], folder: Path, seed: int) -> dict[str, Any]:
    """Return the figures of a submission.

    Returns:
        `score_*` against the opponents, and `exploitability` as two bounds, or else its `lower_bounds` with 95%
        intervals by responder: on average over the seats, no opponent wins more than the exploitability.
    """
    level, game = LEVELS[given["level"]], make_game(f"curio-bench-{given['level']}")
    if (found := rules_hash(game)) != level.rules:
        raise ValueError(f"the rules of level {given['level']} have hash {found}: expected {level.rules}")
    tree = PublicTree.build(game, memory=8.0) if level.samples else None
    if given["agent"].endswith(".npz"):
        if tree is None:
            raise ValueError(f"level {given['level']} has no public tree: expected an agent")
        value = exploitability(tree, Policy.load(tree, folder / given["agent"]))
        return {"exploitability": [value, value]}
    agent: Any = make_agent(given["agent"])
    if tree is not None:
        bounds = exploitability_bounds(tree, agent, samples=level.samples, seed=seed)
        row: dict[str, Any] = {"exploitability": [sum(bounds.low) / 2, sum(bounds.high) / 2]}
    else:
        responder = SearchResponder(game, agent, samples=8, batch=8, seconds=RESPONSE_SECONDS)
        response = responder.run(RESPONSE_GAMES, np.random.default_rng(seed), progress=True)
        strong = evaluate(agent, game, [CHAMPION], GAMES, seed)[CHAMPION].score
        row = {
            "lower_bounds": {
                "search": [response.exploitability, *response.interval],
                CHAMPION: [1 - 2 * share for share in (strong.value, strong.high, strong.low)],
            }
        }
    for name, score in evaluate(agent, game, OPPONENTS, GAMES, seed).items():
        row[f"score_{name}"] = round(float(score.score.value), 4)
    return row
