"""`pbm dataset`: graded sets of games that agents play against themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pbm_envs.registry import parse_game

from ..data import GRADES, export_records, is_complete, make_games
from .export import FullStates, Label, ShardRows, To
from .playing import AcceptChanges, BatchSize, OpeningMoves, Ray, Workers

EXAMPLES = """
  pbm dataset chameleon:size=5 --grade medium --games 1000 --out medium
  pbm dataset curio --agent mcts:simulations=100 --games 500 --out curio-100 --workers 2
  pbm dataset unlur:radius=4 --grade mixed --games 3000 --out mixed --label mcts:simulations=200
"""


def dataset(
    game: Annotated[str, typer.Argument(metavar="GAME[:OPTION=VALUE,...]", help="The game.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where games and data set are written.")],
    grade: Annotated[str | None, typer.Option(metavar="GRADE", help=f"One of {', '.join(GRADES)}.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option("--agent", "-a", metavar="AGENT", help="Instead of a grade; can be repeated.")
    ] = None,
    games: Annotated[int, typer.Option(help="How many, in all.")] = 1000,
    to: To = "parquet",
    minari_id: Annotated[str | None, typer.Option(metavar="ID", help="Of the data set, for Minari.")] = None,
    label: Label = None,
    full_states: FullStates = False,
    opening_moves: OpeningMoves = 0,
    seed: Annotated[int, typer.Option(help="Of the first game; the others follow.")] = 0,
    batch: BatchSize = 64,
    shard_rows: ShardRows = 100_000,
    workers: Workers = 1,
    ray: Ray = None,
    accept_changes: AcceptChanges = False,
) -> None:
    """Make a graded data set of games.

    Agents play against themselves, and every position becomes a row.

    The same command makes the same rows, and goes on where it was stopped. `FOLDER/games.jsonl` holds the games,
    `FOLDER/parquet` the data set.
    """
    if (grade is None) == (not agent):
        raise ValueError(f"--grade is {grade} and --agent is {agent}: expected one of the two")
    if grade is not None and grade not in GRADES:
        raise ValueError(f"--grade is {grade!r}: expected one of {', '.join(GRADES)}")
    if (to == "minari") != (minari_id is not None):
        raise ValueError(f"--to is {to} and --minari-id is {minari_id}: expected an id for Minari, and for it alone")
    rules = parse_game(game)
    names = GRADES[grade] if grade else tuple(agent or ())
    make_games(
        rules,
        out,
        names,
        games,
        seed=seed,
        opening_moves=opening_moves,
        batch=batch,
        workers=workers,
        ray=ray or False,
        progress=True,
        accept_changes=accept_changes,
    )
    place = minari_id or str(out / to)
    if minari_id is None and is_complete(place, label=label, seed=seed, full_states=full_states, shard_rows=shard_rows):
        print(f"{place} is complete")
        return
    title = f"{rules.name}, {grade}" if grade else f"{rules.name}, {', '.join(names)}"
    summary = export_records(
        out,
        place,
        to,
        label=label,
        seed=seed,
        full_states=full_states,
        shard_rows=shard_rows,
        title=title,
        progress=True,
    )
    said = f"{summary.rows:,} positions of " if summary.rows else ""
    print(f"written: {said}{summary.games:,} games to {place}")
