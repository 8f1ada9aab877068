"""The boards that are built, and the searches that they can make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pbm_agents.champions.agent import pattern_selection, playouts_of
from pbm_agents.search import Search

from pbm_envs import Game

OUT = Path(os.environ.get("PBM_ENVS_WASM", Path(__file__).parents[1] / "build" / "wasm"))
"""The folder of the modules."""
BOARDS: dict[str, tuple[dict[str, Any], ...]] = {
    "chameleon": ({}, {"size": 3}, {"size": 4}, {"size": 5}, {"size": 7}, {"size": 9}),
    "curio": ({}, {"base": 3, "rows": 4, "cols": 4}, {"base": 2, "rows": 4, "cols": 3}),
    "trinim": ({}, {"size": 6}, {"num_players": 3}),
    "unlur": ({}, {"radius": 3}, {"radius": 4}, {"radius": 5}),
}
"""The boards of each game, by the options that differ from the default, with those of lessons, puzzles and rules."""
PATTERNS = ("chameleon", "unlur")
"""Games whose champion is a search with learned patterns."""


def searches(game: Game, simulations: int) -> dict[str, Search]:
    """Return the searches of a game: `plain`, and `champion` where patterns have been learned."""
    found = {"plain": Search(simulations=simulations)}
    if game.name in PATTERNS:
        rule, playouts = pattern_selection(game), playouts_of(game)
        found["champion"] = Search(simulations=simulations, selection=rule, evaluator=playouts)
    return found
