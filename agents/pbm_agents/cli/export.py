"""`pbm export`: recorded games as a data set."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..data import export_records
from ..data.card import Summary
from .settings import with_settings

EXAMPLES = """
  pbm export results --to parquet --out positions
  pbm export games.jsonl --to parquet --out positions --label mcts:simulations=200
  pbm export results --to minari --out pbm/chameleon-5/tournament-v0
"""


@with_settings(
    export_records, skip=("source", "out", "title", "progress"), flags={"with_games": "--with-games/--no-games"}
)
def export(
    records: Annotated[
        Path, typer.Argument(metavar="RECORDS", help="A tournament's folder, a file of records, or a data set.")
    ],
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Folder to make; for Minari, id of the data set.")],
    settings: dict[str, Any],
) -> None:
    """Write recorded games as a data set, one row for each position.

    A row has the view of the player to move, the move and the result of the game. The folder appears when it is
    complete; it has a card (README.md) and the schema.
    """
    say_written(export_records(records, out, progress=True, **settings), out)


def say_written(summary: Summary, place: str) -> None:
    """Print a summary of the data set and its place."""
    positions = f"{summary.rows:,} positions of " if summary.rows else ""
    print(f"written: {positions}{summary.games:,} games to {place}")
