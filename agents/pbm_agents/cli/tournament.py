"""`pbm tournament`: agents by name play one another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from pbm_envs.registry import parse_game

from ..arena import Budget, Tournament, play_tournament, tournament_records
from ..arena.tournament import GAMES as GAMES_FILE
from .playing import AcceptChanges, Ray, Workers
from .rate import report
from .settings import with_settings
from .wrapping import wrapped

EXAMPLES = """
  pbm tournament results -g chameleon:size=7 -a random -a mcts:simulations=100 -a mcts:simulations=1000
  pbm tournament results2 -g curio -g trinim:num_players=3 -a random -a my_module:MyAgent --openings 50 --workers 4
  pbm tournament results3 -g unlur -a my_module:MyAgent -a mcts -a random --form gauntlet --opening-moves 2
"""
FLAGS = {"games": "--game -g", "agents": "--agent -a", "boards": "--board"}


@with_settings(Tournament, flags=FLAGS)
def tournament(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where the games are written; it is made if missing.")
    ],
    settings: dict[str, Any],
    workers: Workers = 1,
    ray: Ray = None,
    accept_changes: AcceptChanges = False,
    max_requests: Annotated[
        int | None, typer.Option(min=0, help="Pause once agents have sent so many requests, all runs together.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0, help="Pause once agents' answers have cost so much, all runs together.")
    ] = None,
) -> None:
    """Let agents play a tournament, and rate them.

    However it was stopped, the same command goes on with it. The games do not depend on the number of workers.
    Exit code 3 says that a fault (a server, a file, memory) or the budget has left games unplayed.
    `pbm rate FOLDER` prints the tables again and writes them, with plots.
    """
    games = tuple(map(parse_game, settings.pop("games")))
    chosen = Tournament(games, **settings)
    try:
        records = play_tournament(
            chosen,
            folder,
            workers,
            ray or False,
            progress=True,
            accept_changes=accept_changes,
            budget=Budget(max_requests, max_cost),
        )
    except KeyboardInterrupt:
        stopped(folder, sum(map(len, chosen.batches(chosen.key or "-"))))
    report(records)


def stopped(folder: Path, planned: int) -> NoReturn:
    """Say how many games are kept in the folder of a tournament that was stopped, and end the command."""
    kept = len(tournament_records(folder)) if (folder / GAMES_FILE).exists() else 0
    said = f"pbm: {kept} of {planned} games are kept in {folder}; the same command goes on with the others"
    typer.echo("\n" + wrapped(said, err=True), err=True)
    raise typer.Exit(130)
