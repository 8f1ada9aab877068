"""`pbm tournament`: a tournament of named agents."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.registry import parse_game

from ..arena import Run, Tournament, finished_games
from ..arena.tournament import GAMES as GAMES_FILE
from ..arena.tournament import play_in_folder
from .rate import report
from .settings import with_run, with_settings
from .terminal import stopped

EXAMPLES = """
  pbm tournament results -g chameleon:size=7 -a random -a mcts:simulations=100 -a mcts:simulations=1000
  pbm tournament results2 -g curio -g trinim:num_players=3 -a random -a my_module:MyAgent --openings 50 --workers 4
  pbm tournament results3 -g unlur -a my_module:MyAgent -a mcts -a random --form gauntlet --opening-moves 2
"""
FLAGS = {"games": "--game -g", "agents": "--agent -a", "boards": "--board"}


@with_settings(Tournament, flags=FLAGS)
@with_run()
def tournament(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the games. It is made if missing.")],
    settings: dict[str, Any],
    run: dict[str, Any],
) -> None:
    """Let agents play a tournament, and rate them.

    The same command resumes a tournament after any interruption. The games do not depend on the number of workers.
    Exit code 3 means that a fault (of a server, a file, memory) or the budget has left games unplayed.
    `pbm rate FOLDER` prints the tables again and writes them, with plots.
    """
    chosen = Tournament(tuple(map(parse_game, settings.pop("games"))), **settings)
    try:
        play_in_folder(chosen.plan(), folder, Run(**run, progress=True))
    except KeyboardInterrupt:
        kept = sum(1 for _ in finished_games(folder)) if (folder / GAMES_FILE).exists() else 0
        planned = sum(map(len, chosen.batches(chosen.key or "-")))
        stopped(f"{kept} of {planned} games are kept in {folder}; the same command plays the others")
    report(finished_games(folder))
