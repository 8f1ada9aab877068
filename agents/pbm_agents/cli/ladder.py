"""`pbm ladder`: an agent's rating on a frozen ladder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.registry import parse_game
from pbm_envs.toolbox import describe_error

from ..arena import ladders, load_ladder, measure_exploitability, plot_placement, rate_on_ladder, save_plot
from ..arena.exploitability import RUNGS
from ..common.faults import InfrastructureError
from .playing import AcceptChanges, FirstSeed, Key, Ray, Workers, write_whole
from .terminal import table

EXAMPLES = """
  pbm ladder
  pbm ladder mcts:simulations=200 -g trinim
  pbm ladder my_module:MyAgent -g chameleon --interval 50 --workers 2 --out rating
  pbm ladder my_module:MyAgent --ladder ladder/curio-5x5/v1 --exploit 1 --exploit 2
"""


def ladder(
    agent: Annotated[
        str | None, typer.Argument(metavar="AGENT", help="An agent by name; without: the ladders.")
    ] = None,
    game: Annotated[
        str | None,
        typer.Option("--game", "-g", metavar="GAME[:OPTION=VALUE,...]", help="The game, with options of a ladder."),
    ] = None,
    ladder: Annotated[
        str | None, typer.Option(metavar="LADDER", help="The ladder by name or id, instead of the game.")
    ] = None,
    interval: Annotated[float, typer.Option(help="End at this half width of the 95% interval, in Elo points.")] = 35.0,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where games and card are kept. [default: ladder-NAME]")
    ] = None,
    openings: Annotated[int, typer.Option(help="End after so many openings at the latest.")] = 2000,
    seed: FirstSeed = 0,
    key: Key = "",
    workers: Workers = 1,
    ray: Ray = None,
    accept_changes: AcceptChanges = False,
    exploit: Annotated[
        list[int] | None,
        typer.Option(metavar="RUNG", help="Of Curio: also measure exploitability in curio-ladder-RUNG; 0: in none."),
    ] = None,
) -> None:
    """Rate an agent on a frozen ladder.

    It plays the opponents from whom most is to be learnt, each opening from every seat, until the interval is as narrow
    as asked for. Stopped in whatever way, the same command goes on. The card is printed and written as `card.txt`,
    `card.json`, and, with the extra `plot`, `card.png` and `card.svg`. A card of Curio also shows how exploitable the
    agent is in the smallest games that have exact answers (`pbm exploit` says more).
    """
    if agent is None:
        rows = [
            [each.id, repr(each.game), str(len(each.rungs)), f"{each.rungs[-1].name}: {each.rungs[-1].elo:,.0f}"]
            for each in ladders().values()
        ]
        table(["ladder", "game", "opponents", "strongest, Elo"], rows, numbers=["opponents"])
        return
    if (game is None) == (ladder is None):
        raise ValueError(f"--game is {game} and --ladder is {ladder}: expected one of the two")
    chosen = load_ladder(parse_game(game) if game is not None else str(ladder))
    folder = out or Path(f"ladder-{chosen.name}")
    rating = rate_on_ladder(
        agent,
        chosen,
        folder,
        interval,
        most_openings=openings,
        seed=seed,
        key=key,
        workers=workers,
        ray=ray or False,
        accept_changes=accept_changes,
        progress=True,
    )
    rungs = [rung for rung in exploit or RUNGS if rung] if chosen.game.name == "curio" else []
    try:
        rating.exploitability = measure_exploitability(agent, rungs, seed=seed, progress=True) if rungs else {}
    except InfrastructureError:
        raise
    except Exception as error:  # an agent that cannot play there
        print(f"no exploitability: {describe_error(error)}")
    print(rating)
    for name, text in (("txt", str(rating)), ("json", json.dumps(rating.as_dict(), indent=1, ensure_ascii=False))):
        write_whole(folder / f"card.{name}", text)
    try:
        save_plot(plot_placement(rating), folder / "card")
    except ImportError as error:
        print(f"no picture: {error}")
