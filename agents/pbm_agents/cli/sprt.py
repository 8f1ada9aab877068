"""`pbm sprt`: a sequential test of two agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..arena import SequentialTest, play_sprt
from ..play.options import parse_game_with_options

EXAMPLES = """
  pbm sprt my_module:New my_module:Old -g chameleon:size=7
  pbm sprt mcts:simulations=200,c=0.1 mcts:simulations=200 -g unlur --elo0 0 --elo1 20 --opening-moves 2 --workers 2
  pbm sprt my_module:Faster my_module:Slow -g trinim:num_players=3 --elo0 -10 --elo1 0 --out test
"""


def sprt(
    new: Annotated[str, typer.Argument(metavar="NEW", help="An agent by name.")],
    old: Annotated[str, typer.Argument(metavar="OLD", help="The agent that it is compared with.")],
    game: Annotated[str, typer.Option("--game", "-g", metavar="GAME[:OPTION=VALUE,...]", help="The game they play.")],
    elo0: Annotated[float, typer.Option(help="H0: NEW is so much stronger.")] = 0.0,
    elo1: Annotated[float, typer.Option(help="H1: NEW is so much stronger.")] = 10.0,
    alpha: Annotated[float, typer.Option(help="How often H1 may be accepted although H0 is true.")] = 0.05,
    beta: Annotated[float, typer.Option(help="How often H0 may be accepted although H1 is true.")] = 0.05,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the games are kept.")] = Path("sprt"),
    openings: Annotated[int, typer.Option(help="After so many openings it ends undecided.")] = 10_000,
    opening_moves: Annotated[int, typer.Option(help="Random moves that each opening begins with.")] = 0,
    seed: Annotated[int, typer.Option(help="Of the first opening; the others follow.")] = 0,
    key: Annotated[
        str, typer.Option(metavar="TEXT", help="The secret of another test's folder, to play its games again.")
    ] = "",
    batch: Annotated[int, typer.Option(help="Games that are played, and written, at once.")] = 32,
    workers: Annotated[int, typer.Option(help="Processes that play.")] = 1,
    ray: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Play on this Ray cluster; 'local' starts one here.")
    ] = None,
) -> None:
    """Test whether NEW is stronger than OLD.

    A sequential probability ratio test on openings that are played from all seats, as chess engines are tested. Stopped
    in whatever way, the same command goes on; the result does not depend on the workers. `FOLDER/result.json` holds it.
    """
    test = SequentialTest(
        parse_game_with_options(game), new, old, elo0, elo1, alpha, beta, openings, opening_moves, seed, batch, key
    )
    result = play_sprt(test, out, workers, ray or False, progress=True)
    part = out / "result.json.part"
    part.write_text(json.dumps(result.as_dict(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(out / "result.json")
    print(result)
