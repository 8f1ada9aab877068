"""The progress of a run: games against frozen opponents and the best network so far; words, a plot and a film."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import log10
from pathlib import Path
from typing import Any

from pbm_envs import Game
from pbm_envs.records import GameRecord, read_records
from pbm_envs.render.animation import animate
from pbm_envs.toolbox import in_one_piece

from ..arena.evaluation import evaluate, wilson
from ..arena.match import play_games
from ..arena.openings import draw_opening
from ..arena.plots import plot_training, save_plot
from ..players.names import as_agent
from .round_games import EVALUATION, Job, Score
from .settings import Training

OPENING_MOVES = 2
"""Random moves at the start of each evaluation game."""
GAMES_OF_A_JOB = 16
"""Least number of games that a job of evaluation plays; more only to complete an opening."""
FILM_SIZE = 360
"""Pixels of the longer side of the film."""
BEST = ""
"""The name of the best network among the opponents."""


def evaluation_jobs(game: Game, settings: Training, number: int, gate: bool) -> dict[str, Job]:
    """Return the jobs that evaluate the network of round `number` (from 0), which determines the openings.

    Args:
        game: The game.
        settings: Name the opponents, and the numbers of games.
        number: The round.
        gate: Whether to play against the best network so far, too.
    """
    against = [(name, settings.evaluation_games, 0) for name in settings.opponents]
    if gate:
        against.append((BEST, settings.gate_games, 1))
    openings = -(-GAMES_OF_A_JOB // game.num_players)
    jobs = {}
    for k, (opponent, games, stream) in enumerate(against):
        seed = (settings.seed * 1_000_003 + number) * 10_007 + stream
        for part, first in enumerate(range(0, games, openings * game.num_players)):
            size = min(games - first, openings * game.num_players)
            job = opponent, size, seed + part * openings
            jobs[f"{EVALUATION}-{number}-{k}-{part}"] = Job(EVALUATION, job)
    return jobs


def evaluation_function(game: Game, settings: Training, mine: Any, best: Any) -> Callable[[Any], Score]:
    """Return the function that plays a job of evaluation, given the evaluators of the network and of the best one."""
    return partial(_evaluate, game, settings, mine, best)


def measured(game: Game, scores: Sequence[tuple[str, Score]], last: str | None) -> dict[str, Any]:
    """Return a part of a line of the curve: scores by opponent, Elo with its interval, and `taken`.

    `taken` says whether the network becomes the best; without games against the best so far, it does.

    Args:
        game: The game.
        scores: Opponents, each with the score of some games.
        last: The opponent whose Elo is 0.
    """
    totals: dict[str, Score] = {}
    for opponent, score in scores:
        before = totals.get(opponent, Score(0, 0.0))
        totals[opponent] = Score(before.games + score.games, before.points + score.points)
    means = {opponent: score.points / score.games for opponent, score in totals.items()}
    line: dict[str, Any] = {f"against {name}": mean for name, mean in means.items() if name != BEST}
    if last in totals:
        games = totals[last].games
        rate = wilson(means[last], games)
        line |= {
            name: elo(score, games, game.num_players)
            for name, score in (("elo", rate.value), ("elo_low", rate.low), ("elo_high", rate.high))
        }
    line["taken"] = True
    if BEST in means:
        line |= {"against best": means[BEST], "taken": means[BEST] >= 1 / game.num_players}
    return line


def newest_game(game: Game, settings: Training, best: Any, number: int) -> GameRecord:
    """Return the record of a game of the best network against itself after round `number` (from 0)."""
    opening = draw_opening(game, number, None, OPENING_MOVES)
    agents, seats = {"network": as_agent(settings.playing_search(best))}, ["network"] * game.num_players
    [record] = play_games(game, agents, [seats], [opening], (settings.seed, number))
    return record


def draw_pictures(game: Game, curve: Sequence[Mapping[str, Any]], out: Path) -> list[str]:
    """Plot the curve and draw a film of `game.jsonl` in the folder of a run; return which extras are missing."""
    missing = []
    try:
        if curve:
            save_plot(plot_training(curve, f"{game!r}"), out / "curve")
    except ImportError as error:
        missing.append(str(error))
    try:
        if (out / "game.jsonl").exists():
            [record] = read_records(out / "game.jsonl")
            with in_one_piece(out / "game.gif") as part:
                part.write_bytes(animate(record, "all", size=FILM_SIZE).gif())
    except ImportError as error:
        missing.append(str(error))
    return missing


def in_words(line: Mapping[str, Any]) -> str:
    """Return a line of the curve as readable text."""
    parts = (f"{name} {value:.2f}" for name, value in line.items() if name.startswith("against "))
    rating = ""
    if "elo" in line:
        rating = f", Elo {line['elo']:+.0f} ({line['elo_low']:+.0f} to {line['elo_high']:+.0f})"
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


def _evaluate(game: Game, settings: Training, mine: Any, best: Any, job: tuple[str, int, int]) -> Score:
    """Return the score of a network against an opponent."""
    name, games, seed = job
    opponent = settings.playing_search(best) if name == BEST else name
    own = settings.playing_search(mine)
    [result] = evaluate(own, game, {"opponent": opponent}, games=games, seed=seed, opening_moves=OPENING_MOVES).values()
    return Score(result.games, result.score.value * result.games)
