"""`pbm sprt`: a sequential test of two agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.registry import parse_game

from ..arena import SequentialTest, play_sprt
from .playing import BatchSize, FirstSeed, Key, OpeningMoves, Ray, Workers, write_whole

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
    opening_moves: OpeningMoves = 0,
    seed: FirstSeed = 0,
    key: Key = "",
    batch: BatchSize = 32,
    workers: Workers = 1,
    ray: Ray = None,
    normalized: Annotated[bool, typer.Option(help="Whether --elo0 and --elo1 are normalized Elo.")] = False,
) -> None:
    """Test whether NEW is stronger than OLD.

    A sequential probability ratio test on openings that are played from all seats, as chess engines are tested. Stopped
    in whatever way, the same command goes on; the result does not depend on the workers. `FOLDER/result.json` holds it.
    """
    test = SequentialTest(
        parse_game(game),
        new,
        old,
        elo0,
        elo1,
        alpha,
        beta,
        openings,
        opening_moves,
        seed,
        batch,
        key,
        normalized,
    )
    result = play_sprt(test, out, workers, ray or False, progress=True)
    write_whole(out / "result.json", json.dumps(result.as_dict(), indent=1, ensure_ascii=False))
    print(result)
