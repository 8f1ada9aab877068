"""`pbm ladder`: an agent's rating on a frozen ladder."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.registry import parse_game
from pbm_envs.toolbox import describe_error, write_text

from ..arena import Run, ladders, load_ladder, measure_exploitability, plot_placement, rate_on_ladder, save_plot
from ..arena.exploitability import RUNGS
from ..common.faults import InfrastructureError
from .settings import check_one_given, with_run, with_settings
from .terminal import table

EXAMPLES = """
  pbm ladder
  pbm ladder mcts:simulations=200 -g trinim
  pbm ladder my_module:MyAgent -g chameleon --interval 50 --workers 2 --out rating
  pbm ladder my_module:MyAgent --ladder ladder/curio-5x5/v1 --exploit 1 --exploit 2
"""


@with_settings(rate_on_ladder, skip=("agent", "ladder", "folder", "run"), flags={"half_width": "--interval"})
@with_run()
def ladder(
    settings: dict[str, Any],
    run: dict[str, Any],
    agent: Annotated[
        str | None, typer.Argument(metavar="AGENT", help="An agent by name. Without it, the ladders are listed.")
    ] = None,
    game: Annotated[
        str | None,
        typer.Option("--game", "-g", metavar="GAME[:OPTION=VALUE,...]", help="A game that has a ladder."),
    ] = None,
    ladder: Annotated[
        str | None, typer.Option(metavar="LADDER", help="The ladder by name or id, instead of the game.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The folder of games and card. [default: ladder-NAME]")
    ] = None,
    exploit: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", help="For Curio: measure exploitability in curio-ladder-N; can be repeated. 0 turns it off."
        ),
    ] = None,
) -> None:
    """Rate an agent on a frozen ladder.

    The agent plays the most informative opponents of the ladder, each opening from every seat, until the 95% interval
    is as narrow as requested. The same command resumes a rating after any interruption. The result is a card, printed
    and written as `card.txt`, `card.json` and, with the extra `plot`, `card.png` and `card.svg`. A card of Curio also
    has the agent's exploitability in the smallest games, where it can be computed exactly (see `pbm exploit`).
    """
    if agent is None:
        rows = [
            [each.id, repr(each.game), str(len(each.rungs)), f"{each.rungs[-1].name}: {each.rungs[-1].elo:,.0f}"]
            for each in ladders().values()
        ]
        table(["ladder", "game", "opponents", "strongest, Elo"], rows, numbers=["opponents"])
        return
    check_one_given(game=game, ladder=ladder)
    chosen = load_ladder(parse_game(game) if game is not None else str(ladder))
    folder = out or Path(f"ladder-{chosen.name}")
    rating = rate_on_ladder(agent, chosen, folder, **settings, run=Run(**run, progress=True))
    games = [number for number in exploit or RUNGS if number] if chosen.game.name == "curio" else []
    try:
        found = measure_exploitability(agent, games, seed=settings["seed"], progress=True) if games else {}
        rating.exploitability = found
    except InfrastructureError:
        raise
    except Exception as error:  # the agent cannot play that game
        print(f"no exploitability: {describe_error(error)}")
    print(rating)
    for name, text in (("txt", str(rating)), ("json", json.dumps(rating.as_dict(), indent=1, ensure_ascii=False))):
        write_text(folder / f"card.{name}", text + "\n")
    try:
        save_plot(plot_placement(rating), folder / "card")
    except ImportError as error:
        print(f"no picture: {error}")
