"""`pbm export`: recorded games as a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..data import export_records
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
    records: Annotated[Path, typer.Argument(metavar="RECORDS", help="A tournament's folder, records, or a data set.")],
    out: Annotated[str, typer.Option(metavar="FOLDER", help="The folder to make; for Minari the id of the data set.")],
    settings: dict[str, Any],
) -> None:
    """Write recorded games as a data set, one row for each position.

    A row holds what the player to move knew, what was played and what came of it. The folder has a card (README.md) and
    the schema; it appears when it is complete.
    """
    summary = export_records(records, out, progress=True, **settings)
    said = f"{summary.rows:,} positions of " if summary.rows else ""
    print(f"written: {said}{summary.games:,} games to {out}")
