"""`pbm sprt`: a sequential test of two agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.registry import parse_game

from ..arena import SequentialTest, play_sprt
from .playing import AcceptChanges, Ray, Workers, write_whole
from .settings import with_settings

EXAMPLES = """
  pbm sprt my_module:New my_module:Old -g chameleon:size=7
  pbm sprt mcts:simulations=200,c=0.1 mcts:simulations=200 -g unlur --elo0 0 --elo1 20 --opening-moves 2 --workers 2
  pbm sprt my_module:Faster my_module:Slow -g trinim:num_players=3 --elo0 -10 --elo1 0 --out test
"""


@with_settings(SequentialTest, skip=("game", "new", "old"))
def sprt(
    new: Annotated[str, typer.Argument(metavar="NEW", help="An agent by name.")],
    old: Annotated[str, typer.Argument(metavar="OLD", help="The agent that it is compared with.")],
    game: Annotated[str, typer.Option("--game", "-g", metavar="GAME[:OPTION=VALUE,...]", help="The game they play.")],
    settings: dict[str, Any],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the games are kept.")] = Path("sprt"),
    workers: Workers = 1,
    ray: Ray = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Test whether NEW is stronger than OLD.

    A sequential probability ratio test on openings that are played from all seats, as chess engines are tested. Stopped
    in whatever way, the same command goes on; the result does not depend on the workers. `FOLDER/result.json` holds it.
    """
    test = SequentialTest(parse_game(game), new, old, **settings)
    result = play_sprt(test, out, workers, ray or False, progress=True, accept_changes=accept_changes)
    write_whole(out / "result.json", json.dumps(result.as_dict(), indent=1, ensure_ascii=False))
    print(result)
