"""`pbm tournament`: agents by name play one another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from pbm_envs.registry import parse_game

from ..arena import FORMS, Tournament, play_tournament, tournament_records
from ..arena.tournament import GAMES as GAMES_FILE
from .playing import BatchSize, FirstSeed, Key, OpeningMoves, Ray, Workers
from .rate import report
from .wrapping import wrapped

EXAMPLES = """
  pbm tournament results -g chameleon:size=7 -a random -a mcts:simulations=100 -a mcts:simulations=1000
  pbm tournament results2 -g curio -g trinim:num_players=3 -a random -a my_module:MyAgent --openings 50 --workers 4
  pbm tournament results3 -g unlur -a my_module:MyAgent -a mcts -a random --form gauntlet --opening-moves 2
"""
GAMES = Annotated[
    list[str],
    typer.Option("--game", "-g", metavar="GAME[:OPTION=VALUE,...]", help="A game; can be repeated."),
]
AGENTS = Annotated[
    list[str], typer.Option("--agent", "-a", metavar="AGENT", help="An agent by name; at least two of them.")
]


def tournament(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where the games are written; it is made if missing.")
    ],
    games: GAMES,
    agents: AGENTS,
    form: Annotated[str, typer.Option(metavar="FORM", help=f"Who meets whom: {', '.join(FORMS)}.")] = FORMS[0],
    openings: Annotated[int, typer.Option(help="Openings of each game; each is played from all seats.")] = 10,
    board: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="A board to start from; can be repeated.")
    ] = None,
    opening_moves: OpeningMoves = 0,
    seed: FirstSeed = 0,
    key: Key = "",
    batch: BatchSize = 32,
    workers: Workers = 1,
    move_seconds: Annotated[
        float | None, typer.Option(metavar="LIMIT", help="An agent that takes longer for a move forfeits the game.")
    ] = None,
    ray: Ray = None,
) -> None:
    """Let agents play a tournament, and rate them.

    However it was stopped, the same command goes on with it. The games do not depend on the number of workers.
    `pbm rate FOLDER` prints the tables again and writes them, with plots.
    """
    chosen = Tournament(
        games=tuple(parse_game(text) for text in games),
        agents=tuple(agents),
        form=form,
        openings=openings,
        boards=tuple(board or ()),
        opening_moves=opening_moves,
        seed=seed,
        key=key,
        batch=batch,
        move_seconds=move_seconds,
    )
    try:
        records = play_tournament(chosen, folder, workers, ray or False, progress=True)
    except KeyboardInterrupt:
        stopped(folder, sum(map(len, chosen.batches(key or "-"))))
    report(records)


def stopped(folder: Path, planned: int) -> NoReturn:
    """Say how many games are kept in the folder of a tournament that was stopped, and end the command."""
    kept = len(tournament_records(folder)) if (folder / GAMES_FILE).exists() else 0
    said = f"pbm: {kept} of {planned} games are kept in {folder}; the same command goes on with the others"
    typer.echo("\n" + wrapped(said, err=True), err=True)
    raise typer.Exit(130)
