"""Graded sets: games that agents of known strength play against themselves, as D4RL has them for control."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pbm_envs import Game, __version__
from pbm_envs.authoring import Option, check_range
from pbm_envs.records import GameRecord
from pbm_envs.toolbox import checked, derive

from ..arena.openings import Opening, draw_opening
from ..arena.schedule import Batch
from ..arena.tournament import SCHEMA, Bar, play_in_folder
from ..players.names import make_agent

GRADES = {
    "random": ("random",),
    "medium": ("mcts:simulations=30",),
    "expert": ("mcts:simulations=1000",),
    "mixed": ("random", "mcts:simulations=30", "mcts:simulations=1000"),
}
"""The agents of each grade; of several, each plays an equal part of the games."""


@checked
def make_games(
    game: Game,
    folder: str | Path,
    agents: Sequence[str],
    games: Annotated[int, Option(low=1, help="Games, in all.")] = 1000,
    *,
    seed: Annotated[int, Option(low=0, help="Seed of the first game, and of --label. The others follow.")] = 0,
    opening_moves: Annotated[int, Option(low=0, help="Random moves that begin each game. They make no rows.")] = 0,
    batch: Annotated[int, Option(low=1, help="Games that are played, and written, at once.")] = 64,
    workers: int = 1,
    ray: bool | str = False,
    progress: bool = False,
    accept_changes: bool = False,
) -> list[GameRecord]:
    """Let each agent play its part of the games against itself, and keep them in `folder`.

    Args:
        game: The rules.
        folder: Made if missing. Stopped in whatever way, the same call goes on.
        agents: By name; of several, each plays an equal part, the first ones one more if need be.
        games: Games, in all.
        seed: Seed of the first game; the others follow. The same seed makes the same games.
        opening_moves: Random moves that each game begins with; they make no rows.
        batch: Games that are played, and written, at once.
        workers: Processes that play.
        ray: The address of a Ray cluster that plays instead; True: the one that runs or is started here.
        progress: Show a bar.
        accept_changes: As in `play_tournament`.

    Raises:
        ValueError: No agents, a number that is impossible, or a folder that holds something else.
    """
    if not agents or len(set(agents)) < len(agents):
        raise ValueError(f"agents are {', '.join(agents) or 'none'}: expected some, each only once")
    check_range("games", games, len(agents))
    for name in agents:
        make_agent(name)
    command: dict[str, Any] = {
        "schema": SCHEMA,
        "version": __version__,
        "test": "dataset",
        "games": [{"game": game.name, "options": dict(game.options)}],
        "agents": list(agents),
        "count": games,
        "opening_moves": opening_moves,
        "seed": seed,
        "batch": batch,
    }
    batches: list[Batch] = []
    for k, name in enumerate(agents):
        first, last = games * k // len(agents), games * (k + 1) // len(agents)
        openings = [draw_opening(game, seed + number, None, opening_moves) for number in range(first, last)]
        for start in range(0, len(openings), batch):
            batches.append(_batch(game, name, first + start, openings[start : start + batch], seed))
    records = play_in_folder(
        folder, command, lambda key: batches, workers, ray, Bar(progress), accept_changes=accept_changes
    )
    return sorted(records, key=lambda record: record.number)


def _batch(game: Game, agent: str, number: int, openings: Sequence[Opening], seed: int) -> Batch:
    """Games of an agent against itself."""
    return Batch(
        number,
        game,
        (agent,),
        seats=((agent,) * game.num_players,) * len(openings),
        openings=tuple(openings),
        seed=derive("", "agents", seed, number),
    )
