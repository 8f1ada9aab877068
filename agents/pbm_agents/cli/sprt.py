"""`pbm sprt`: a sequential test of two agents."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.registry import parse_game
from pbm_envs.toolbox import write_text

from ..arena import Run, SequentialTest, play_sprt
from .settings import GameName, with_run, with_settings

EXAMPLES = """
  pbm sprt my_module:New my_module:Old -g chameleon:size=7
  pbm sprt mcts:simulations=200,c=0.1 mcts:simulations=200 -g unlur --elo0 0 --elo1 20 --opening-moves 2 --workers 2
  pbm sprt my_module:Faster my_module:Slow -g trinim:num_players=3 --elo0 -10 --elo1 0 --out test
"""


@with_settings(SequentialTest, skip=("game", "new", "old"))
@with_run()
def sprt(
    new: Annotated[str, typer.Argument(metavar="NEW", help="An agent by name.")],
    old: Annotated[str, typer.Argument(metavar="OLD", help="The agent to compare it with.")],
    game: GameName,
    settings: dict[str, Any],
    run: dict[str, Any],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of the games.")] = Path("sprt"),
) -> None:
    """Test whether NEW is stronger than OLD.

    Runs a sequential probability ratio test, as for chess engines, on openings that are played from all seats. The same
    command resumes a test after any interruption. The result does not depend on the number of workers; it is written
    to `FOLDER/result.json`.
    """
    result = play_sprt(SequentialTest(parse_game(game), new, old, **settings), out, Run(**run, progress=True))
    write_text(out / "result.json", json.dumps(result.as_dict(), indent=1, ensure_ascii=False) + "\n")
    print(result)
