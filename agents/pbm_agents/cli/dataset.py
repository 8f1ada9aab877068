"""`pbm dataset`: graded sets of games that agents play against themselves."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pbm_envs.registry import parse_game
from pbm_envs.toolbox import require

from ..arena import Run
from ..data import GRADES, export_records, is_complete, make_games
from ..data.export import FORMATS, choices
from .export import say_written
from .settings import check_one_given, with_run, with_settings

EXAMPLES = """
  pbm dataset chameleon:size=5 --grade medium --games 1000 --out medium
  pbm dataset curio --agent mcts:simulations=100 --games 500 --out curio-100 --workers 2
  pbm dataset unlur:radius=4 --grade mixed --games 3000 --out mixed --label mcts:simulations=200
"""


@with_settings(make_games, skip=("game", "folder", "agents", "run"))
@with_settings(export_records, skip=("source", "out", "seed", "title", "with_games", "progress"), into="form")
@with_run()
def dataset(
    game: Annotated[str, typer.Argument(metavar="GAME[:OPTION=VALUE,...]", help="The game.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of the games and the data set.")],
    settings: dict[str, Any],
    form: dict[str, Any],
    run: dict[str, Any],
    grade: Annotated[
        str | None, typer.Option(metavar="GRADE", help=f"Strength of the agents: {', '.join(GRADES)}.")
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", "-a", metavar="AGENT", help="Instead of a grade, an agent; can be repeated."),
    ] = None,
    minari_id: Annotated[str | None, typer.Option(metavar="ID", help="Id of the data set. Needs --to minari.")] = None,
) -> None:
    """Make a graded data set of games.

    Agents play against themselves, and every position becomes a row. `FOLDER/games.jsonl` holds the games,
    `FOLDER/parquet` the data set. The same command makes the same rows; if it was stopped, it resumes.
    """
    check_one_given(grade=grade, agent=agent or None)
    if grade is not None and grade not in GRADES:
        raise ValueError(f"--grade is {grade!r}: expected one of {', '.join(GRADES)}")
    to = form.pop("to")
    form = {"label": None, "seed": settings["seed"], **form}
    if (to == "minari") != (minari_id is not None):
        raise ValueError(f"--to is {to} and --minari-id is {minari_id}: expected an id for Minari, and for it alone")
    require(to.capitalize(), "data", *FORMATS[to])  # before any game is played
    rules, names = parse_game(game), GRADES[grade] if grade else tuple(agent or ())
    make_games(rules, out, names, **settings, run=Run(**run, progress=True))
    place = minari_id or str(out / to)
    if minari_id is None and is_complete(place, choices(**form, with_games=True)):
        print(f"{place} is complete")
        return
    say_written(
        export_records(out, place, to, title=f"{rules.name}, {grade or ', '.join(names)}", progress=True, **form), place
    )
