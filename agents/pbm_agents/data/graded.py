"""Graded data sets: self-play games of agents of known strength, like D4RL's data sets for control."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pbm_envs import Game
from pbm_envs.authoring import Option, check_range
from pbm_envs.records import GameRecord
from pbm_envs.toolbox import check_game, checked, derive, quoted

from ..arena import Run, tournament_records
from ..arena.openings import draw_opening
from ..arena.schedule import Batch, Plan
from ..arena.tournament import ALONE, play_in_folder
from ..players.names import make_agent

GRADES = {
    "random": ("random",),
    "medium": ("mcts:simulations=30",),
    "expert": ("mcts:simulations=1000",),
    "mixed": ("random", "mcts:simulations=30", "mcts:simulations=1000"),
}
"""The agents of each grade; several agents play equal shares of the games."""


@checked
def make_games(
    game: Game,
    folder: str | Path,
    agents: Sequence[str],
    games: Annotated[int, Option(low=1, help="Games in all.")] = 1000,
    *,
    seed: Annotated[int, Option(low=0, help="Seed of the first game, and of --label. Each further game adds 1.")] = 0,
    opening_moves: Annotated[
        int, Option(low=0, help="Random moves at the start of each game, which make no rows.")
    ] = 0,
    batch: Annotated[int, Option(low=1, help="Games that are played and written together.")] = 64,
    run: Run = ALONE,
) -> list[GameRecord]:
    """Play the games of each agent against itself, keep them in `folder`, and return them.

    The agents play equal shares of the games; if these do not divide evenly, the first agents play one more. The same
    call makes the same games, and resumes after any interruption. `folder` is made if missing; `run` has the settings
    of the run.

    Raises:
        ValueError: There are no agents, a number is invalid, or the folder has other content.
        InfrastructureError: As for `play_tournament`.
    """
    check_game(game)
    named = isinstance(agents, (list, tuple)) and all(isinstance(name, str) for name in agents)
    if not named or not agents or len(set(agents)) < len(agents):
        raise ValueError(f"agents are {quoted(agents)}: expected a list of names, each only once")
    check_range("games", games, len(agents))
    games = int(games)
    for name in agents:
        make_agent(name)
    batches: list[Batch] = []
    for k, name in enumerate(agents):
        first, last = games * k // len(agents), games * (k + 1) // len(agents)
        for number in range(first, last, batch):
            numbers = range(number, min(number + batch, last))
            openings = tuple(draw_opening(game, seed + each, None, opening_moves) for each in numbers)
            seats = ((name,) * game.num_players,) * len(openings)
            batches.append(Batch(number, game, (name,), seats, openings, derive("", "agents", seed, number)))
    settings = {"test": "dataset", "count": games, "opening_moves": opening_moves, "seed": seed, "batch": batch}
    play_in_folder(Plan((game,), agents, settings, lambda key: [batches]), folder, run)
    return tournament_records(folder)
