"""`pbm export`: recorded games as a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..data import FORMATS, export_records

EXAMPLES = """
  pbm export results --to parquet --out positions
  pbm export games.jsonl --to parquet --out positions --label mcts:simulations=200
  pbm export results --to minari --out pbm/chameleon-5/tournament-v0
"""
To = Annotated[str, typer.Option(metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.")]
Label = Annotated[
    str | None,
    typer.Option(metavar="AGENT", help="A searching agent that fills the columns policy and value."),
]
FullStates = Annotated[bool, typer.Option("--full-states", help="Add a column with what is hidden from the player.")]
ShardRows = Annotated[int, typer.Option(help="Rows of a file.")]


def export(
    records: Annotated[Path, typer.Argument(metavar="RECORDS", help="A tournament's folder, records, or a data set.")],
    out: Annotated[str, typer.Option(metavar="FOLDER", help="The folder to make; for Minari the id of the data set.")],
    to: To = "parquet",
    label: Label = None,
    seed: Annotated[int, typer.Option(help="Of the labelling search.")] = 0,
    full_states: FullStates = False,
    no_games: Annotated[bool, typer.Option("--no-games", help="Leave the records themselves out.")] = False,
    shard_rows: ShardRows = 100_000,
) -> None:
    """Write recorded games as a data set, one row for each position.

    A row holds what the player to move knew, what was played and what came of it. The folder has a card (README.md) and
    the schema; it appears when it is complete.
    """
    summary = export_records(
        records,
        out,
        to,
        label=label,
        seed=seed,
        full_states=full_states,
        with_games=not no_games,
        shard_rows=shard_rows,
        progress=True,
    )
    said = f"{summary.rows:,} positions of " if summary.rows else ""
    print(f"written: {said}{summary.games:,} games to {out}")
