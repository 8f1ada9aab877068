"""Write records as a data set in a folder: shards, games, schema and card, or nothing at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from pbm_envs.authoring import Option
from pbm_envs.records import GameRecord, read_records
from pbm_envs.toolbox import checked, in_one_piece, require

from ..arena import tournament_records
from ..common.progress import progress_bar
from ..learning.training_data import ended_games
from ..players.agent import Agent
from ..players.names import make_agent
from .card import CARD, Summary, card_text
from .minari import write_minari
from .parquet import RECORDS, ParquetWriter, parquet_records
from .rows import analysis_of, columns_of, position_tables, shape_of

FORMATS = {"parquet": ("pyarrow",), "minari": ("pyarrow", "minari", "PIL")}
"""The formats and the modules that they need."""
SCHEMA = "schema.json"


def records_from(source: str | Path) -> list[GameRecord]:
    """Return the games of a tournament's folder, of a file of records, or of a data set in Parquet."""
    path = Path(source)
    if (path / RECORDS).exists():
        return list(parquet_records(path))
    return tournament_records(path) if path.is_dir() else list(read_records(path))


@checked
def export_records(
    source: str | Path,
    out: str | Path,
    to: Annotated[str, Option(choices=tuple(FORMATS), help="The format.")] = "parquet",
    *,
    label: Annotated[
        str | None, Option(help="Agent whose search adds a policy and a value to each position. Not for Minari.")
    ] = None,
    seed: Annotated[int, Option(low=0, help="Seed of the labelling search.")] = 0,
    full_states: Annotated[bool, Option(help="Add a column with the full state, which shows what is hidden.")] = False,
    with_games: Annotated[bool, Option(help="Also write the records, which show everything that is hidden.")] = True,
    shard_rows: Annotated[int, Option(low=1, help="Rows per file.")] = 100_000,
    title: str = "",
    progress: bool = False,
) -> Summary:
    """Write the positions of recorded games. The folder appears when it is complete, with a card in it.

    `source` is a tournament's folder, a file of records, or a data set in Parquet. `out` is the folder to make;
    for Minari it is the id of the data set, such as `pbm/chameleon-5/expert-v0`, which is written to Minari's folder.

    Raises:
        ValueError: The format is wrong, the folder exists, or the records are of several games or missing.
    """
    require(to.capitalize(), "data", *FORMATS[to])
    records = records_from(source)
    if not records:
        raise ValueError(f"{source} holds no games: expected some")
    if to == "minari" and (label or full_states):
        raise ValueError("Minari's episodes have no policies and no full states: expected another format")
    game = records[0].rules()
    made_with = choices(label, seed, full_states, with_games, shard_rows)
    summary = Summary(title or f"Positions of {game.name}", game, to, label, seed, full_states, with_games)
    for record in ended_games(records):
        summary.count_game(record)
    if to == "minari":
        write_minari(summary, _with_progress(records, progress), str(out))
        return summary
    agent, folder = labelling_agent(label), Path(out)
    if folder.exists():
        raise ValueError(f"{folder} exists already: expected a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with in_one_piece(folder) as part:
        part.mkdir()
        with ParquetWriter(part, shard_rows, full_states) as writer:
            games = _with_progress(records, progress)
            for table in position_tables(games, label=agent, seed=seed, full_states=full_states):
                writer.write(table)
            if with_games:
                writer.write_records(records)
            summary.shards = writer.shards
        (part / CARD).write_text(card_text(summary), encoding="utf-8")
        about = json.dumps(schema(summary) | {"made_with": made_with}, indent=1)
        (part / SCHEMA).write_text(about + "\n", encoding="utf-8")
    return summary


def labelling_agent(label: str | None) -> Agent | None:
    """Return the agent with this name, None without one; ValueError if it does not search."""
    agent = make_agent(label) if label else None
    if agent is not None:
        analysis_of(agent, str(label))
    return agent


def choices(
    label: str | None, seed: int, full_states: bool, with_games: bool, shard_rows: int
) -> dict[str, str | int | None]:
    """Return the settings on which a data set of given games depends."""
    return locals()


def is_complete(folder: str | Path, made_with: dict[str, str | int | None]) -> bool:
    """Return whether `export_records` has completed this data set with the same `choices`.

    Raises:
        ValueError: The folder has a data set made with other choices, or other content.
    """
    folder = Path(folder)
    if not folder.exists():
        return False
    try:
        there = json.loads((folder / SCHEMA).read_text(encoding="utf-8"))["made_with"]
        changed = [
            f"{name} {there.get(name)} there and {value} here"
            for name, value in made_with.items()
            if there.get(name) != value
        ]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise ValueError(f"{folder} exists and does not say how it was made: expected another folder") from None
    if changed:
        raise ValueError(f"{folder} holds another data set: {'; '.join(changed)}. For this one, name another folder")
    return True


def schema(summary: Summary) -> dict[str, Any]:
    """Return the machine-readable schema of the columns."""
    game = summary.game
    columns = [column._asdict() | {"shape": list(shape_of(column, game))} for column in columns_of(summary.full_states)]
    return {"game": game.name, "options": dict(game.options), "columns": columns}


def _with_progress(records: Sequence[GameRecord], progress: bool) -> Iterator[GameRecord]:
    """Yield the records, with a progress bar if `progress` is set."""
    with progress_bar(progress, total=len(records), unit="game", desc="exporting") as bar:
        for record in records:
            yield record
            bar.update()
