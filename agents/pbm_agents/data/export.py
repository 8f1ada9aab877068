"""From records to a data set in a folder: shards, games, schema and card, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pbm_envs.authoring import Option
from pbm_envs.records import GameRecord, read_records
from pbm_envs.toolbox import checked, in_one_piece

from ..arena import tournament_records
from ..common.progress import progress_bar
from ..players.names import make_agent
from .card import CARD, Summary, card_text
from .minari import write_minari
from .parquet import RECORDS, ParquetWriter, parquet_records
from .rows import GAMES_AT_ONCE, columns_of, position_tables, shape_of

FORMATS = ("parquet", "minari")
SHARD_ROWS = 100_000
SCHEMA = "schema.json"


def records_from(source: str | Path) -> list[GameRecord]:
    """The games of a tournament's folder, of a file of records, or of a data set in Parquet."""
    path = Path(source)
    if (path / RECORDS).exists():
        return list(parquet_records(path))
    return tournament_records(path) if path.is_dir() else list(read_records(path))


@checked
def export_records(
    source: str | Path,
    out: str | Path,
    to: Annotated[str, Option(choices=FORMATS, help="The format.")] = "parquet",
    *,
    label: Annotated[
        str | None, Option(help="Agent whose search gives each position a policy and a value. Not for Minari.")
    ] = None,
    seed: Annotated[int, Option(low=0, help="Seed of the labelling search.")] = 0,
    full_states: Annotated[bool, Option(help="Add a column with what is hidden from the player.")] = False,
    with_games: Annotated[bool, Option(help="Write the records, too. They show everything that is hidden.")] = True,
    shard_rows: Annotated[int, Option(low=1, help="Rows per file.")] = SHARD_ROWS,
    title: str = "",
    progress: bool = False,
) -> Summary:
    """Write the positions of recorded games; the folder appears when it is complete, and a card is in it.

    Args:
        source: A tournament's folder, a file of records, or a data set in Parquet.
        out: The folder to make; for Minari the id of the data set, such as `pbm/chameleon-5/expert-v0`, which is
            written where Minari keeps its own.
        to: One of FORMATS.
        label: A searching agent by name, for the columns `policy` and `value`. Not for Minari, which has none.
        seed: Of that search.
        full_states: Add the column `full_state`.
        with_games: Write the records beside the positions; of a game of hidden information they show everything.
        shard_rows: Rows of a file.
        title: Of the card.
        progress: Show a bar.

    Returns:
        What has been written.

    Raises:
        ValueError: A wrong format, a folder that is there, records of several games, or none.
    """
    records = records_from(source)
    if not records:
        raise ValueError(f"{source} holds no games: expected some")
    game = records[0].rules()
    summary = Summary(title or f"Positions of {game.name}", game, to, label, seed, full_states, with_games)
    if to == "minari":
        if label or full_states:
            raise ValueError("Minari's episodes have no policies and no full states: expected another format")
        for record in records:
            summary.count_game(record)
        write_minari(_with_progress(records, progress), str(out), card_text(summary))
        return summary
    agent, made_with = make_agent(label) if label else None, _choices(label, seed, full_states, with_games, shard_rows)
    folder = Path(out)
    if folder.exists():
        raise ValueError(f"{folder} is there already: expected a folder to be made")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with in_one_piece(folder) as part:
        part.mkdir()
        with ParquetWriter(part, shard_rows, full_states) as writer:
            games = _with_progress(records, progress)
            tables = position_tables(games, label=agent, seed=seed, full_states=full_states)
            for table in tables:
                summary.count_rows(table)
                writer.write(table)
            for first in range(0, len(records), GAMES_AT_ONCE):
                some = records[first : first + GAMES_AT_ONCE]
                for record in some:
                    summary.count_game(record)
                if with_games:
                    writer.write_records(first, some)
            summary.shards = writer.shards
        (part / CARD).write_text(card_text(summary), encoding="utf-8")
        (part / SCHEMA).write_text(
            json.dumps(schema(summary) | {"made_with": made_with}, indent=1) + "\n", encoding="utf-8"
        )
    return summary


def is_complete(
    folder: str | Path, *, label: str | None, seed: int, full_states: bool, shard_rows: int, with_games: bool = True
) -> bool:
    """Return whether `export_records` has made this data set, with the same arguments.

    Raises:
        ValueError: The folder holds a data set that was made with other arguments, or something else.
    """
    folder = Path(folder)
    if not folder.exists():
        return False
    try:
        there = json.loads((folder / SCHEMA).read_text(encoding="utf-8"))["made_with"]
        changed = [
            f"{name} {there.get(name)} there and {value} here"
            for name, value in _choices(label, seed, full_states, with_games, shard_rows).items()
            if there.get(name) != value
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise ValueError(f"{folder} is there and does not say how it was made: expected another folder") from None
    if changed:
        raise ValueError(f"{folder} holds another data set: {'; '.join(changed)}. For this one, name another folder")
    return True


def _choices(
    label: str | None, seed: int, full_states: bool, with_games: bool, shard_rows: int
) -> dict[str, str | int | None]:
    """Return what a data set of given games depends on."""
    return {
        "label": label,
        "seed": seed,
        "full_states": full_states,
        "with_games": with_games,
        "shard_rows": shard_rows,
    }


def schema(summary: Summary) -> dict[str, Any]:
    """The columns, for programs."""
    columns = [
        {
            "name": column.name,
            "kind": column.kind,
            "shape": list(shape_of(column, summary.game)),
            "nullable": column.nullable,
            "meaning": column.meaning,
        }
        for column in columns_of(summary.full_states)
    ]
    return {"game": summary.game.name, "options": dict(summary.game.options), "columns": columns}


def _with_progress(records: list[GameRecord], progress: bool) -> Iterator[GameRecord]:
    """Yield the records, with a bar if asked for."""
    with progress_bar(progress, total=len(records), unit="game", desc="exporting") as bar:
        for record in records:
            yield record
            bar.update()
