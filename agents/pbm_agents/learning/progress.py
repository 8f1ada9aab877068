"""Evaluation of a network after each round, by games against frozen opponents and the best network so far."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import log10
from typing import Any

from pbm_envs import Game

from ..arena.evaluation import evaluate
from ..common.workers import Pool
from ..search import Search
from .settings import Training

OPENING_MOVES = 2
"""Random moves at the start of each evaluation game."""


def measure(game: Game, settings: Training, number: int, mine: Any, best: Any, pool: Pool) -> dict[str, Any]:
    """Play the evaluation games after round `number`, which determines the openings.

    `mine` and `best` are the evaluators of the learner's network and of the best so far; without the latter, the
    learner's network takes over without a match. Returns scores by opponent, Elo against the last opponent, and
    `taken`: whether the learner's network becomes the best.
    """
    jobs: dict[str, Any] = {}
    search = settings.playing_search(mine)
    seed = (settings.seed * 1_000_003 + number) * 10_007
    if settings.evaluation_games:
        for name in settings.opponents:
            jobs[name] = (name, settings.evaluation_games, seed)
    if settings.gate_games and best is not None:
        jobs[""] = (settings.playing_search(best), settings.gate_games, seed + 1)
    scores: Mapping[str, float] = dict(pool.run(partial(_evaluate, search, game), jobs))
    line: dict[str, Any] = {f"against {name}": scores[name] for name in settings.opponents if name in scores}
    if settings.opponents and settings.opponents[-1] in scores:
        line["elo"] = elo(scores[settings.opponents[-1]], settings.evaluation_games, game.num_players)
    line["taken"] = True
    if "" in scores:
        line |= {"against best": scores[""], "taken": scores[""] >= 1 / game.num_players}
    return line


def in_words(line: Mapping[str, Any]) -> str:
    """Return a line of the curve as readable text."""
    parts = (f"{name} {value:.2f}" for name, value in line.items() if name.startswith("against "))
    rating = f", Elo {line['elo']:+.0f}" if "elo" in line else ""
    taken = "" if line["taken"] else "; the network before stays the best"
    speed = line["positions_a_second"]
    speed = "" if speed is None else f"{speed:.0f} per second, "
    return (
        f"round {line['round']}: {line['positions']:,} positions, {speed}losses "
        f"{line['policy_loss']:.3f} and {line['value_loss']:.3f}; {', '.join(parts)}{rating}{taken}"
    )


def elo(score: float, games: int, players: int = 2) -> float:
    """Return the Elo difference implied by a score; with three players, against two equal opponents.

    >>> round(elo(0.75, 1000)), round(elo(1.0, 40)), round(elo(1 / 3, 10**9, players=3))
    (191, 763, 0)

    At the scores 0 and 1, half a point of the `games` games is assumed to be missing.
    """
    kept = (score * games + 0.5) / (games + 1)
    return 400 * log10(kept * (players - 1) / (1 - kept))


def _evaluate(search: Search, game: Game, job: tuple[Any, int, int]) -> float:
    """Return the score of a search against an opponent."""
    opponent, games, seed = job
    results = evaluate(search, game, {"opponent": opponent}, games=games, seed=seed, opening_moves=OPENING_MOVES)
    return results["opponent"].score.value
