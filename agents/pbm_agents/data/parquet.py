"""Parquet: positions in shards, and the games beside them. Needs the extra `data` (pyarrow)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from pbm_envs import Game, __version__
from pbm_envs.records import GameRecord
from pbm_envs.toolbox import require

from .rows import GAMES_AT_ONCE, Column, Table, columns_of, shape_of

ROW_GROUP = 8192
"""Rows per row group, which a reader loads at once."""
RECORDS = "games.parquet"
COMPRESSION = "zstd"


class ParquetWriter:
    """A context manager that writes tables to `positions-00000.parquet`, ..., and records to `games.parquet`."""

    def __init__(self, folder: Path, shard_rows: int, full_states: bool) -> None:
        """Start a new shard after every `shard_rows` rows."""
        self.arrow, self.parquet = _pyarrow()
        self.folder, self.shard_rows, self.columns = folder, shard_rows, columns_of(full_states)
        self.shards: list[int] = []
        self._writer: Any = None

    def write(self, table: Table) -> None:
        """Add rows, starting new shards as needed."""
        schema = self._schema(table.game)
        data = self.arrow.table([self._array(column, table) for column in self.columns], schema=schema)
        while len(data):
            if self._writer is None:
                path = self.folder / f"positions-{len(self.shards):05}.parquet"
                self._writer = self.parquet.ParquetWriter(path, schema, compression=COMPRESSION)
                self.shards.append(0)
            some = data.slice(0, self.shard_rows - self.shards[-1])
            self._writer.write_table(some, row_group_size=ROW_GROUP)
            self.shards[-1] += len(some)
            data = data.slice(len(some))
            if self.shards[-1] == self.shard_rows:
                self._writer.close()
                self._writer = None

    def write_records(self, records: Sequence[GameRecord]) -> None:
        """Write the games. The name of their column tells whether they reveal hidden information."""
        name = "record" if records[0].rules().perfect_information else "full_state_record"
        types = [("game_id", self.arrow.int64()), (name, self.arrow.string())]
        schema = self.arrow.schema(types)
        with self.parquet.ParquetWriter(self.folder / RECORDS, schema, compression=COMPRESSION) as writer:
            for first in range(0, len(records), GAMES_AT_ONCE):
                some = records[first : first + GAMES_AT_ONCE]
                ids, texts = range(first, first + len(some)), [record.to_json() for record in some]
                writer.write_table(self.arrow.table([ids, texts], schema=schema))

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._writer is not None:
            self._writer.close()

    def _schema(self, game: Game) -> Any:
        """Return the Arrow schema: fixed-size lists, with each column's meaning and shape in its metadata."""
        fields = []
        for column in self.columns:
            kind = self.arrow.string() if column.kind == "str" else self.arrow.from_numpy_dtype(np.dtype(column.kind))
            shape = shape_of(column, game)
            if shape:
                kind = self.arrow.list_(kind, int(np.prod(shape)))
            metadata = {"meaning": column.meaning, "shape": json.dumps(shape)}
            fields.append(self.arrow.field(column.name, kind, nullable=column.nullable, metadata=metadata))
        described = {"game": game.name, "options": json.dumps(dict(game.options)), "pbm_envs": __version__}
        return self.arrow.schema(fields, metadata=described)

    def _array(self, column: Column, table: Table) -> Any:
        values, shape = table.columns[column.name], shape_of(column, table.game)
        if column.kind == "str":
            return self.arrow.array(values, self.arrow.string())
        kind = self.arrow.from_numpy_dtype(np.dtype(column.kind))
        size = int(np.prod(shape))
        if values is None:
            return self.arrow.nulls(len(table), self.arrow.list_(kind, size) if shape else kind)
        flat = self.arrow.array(np.ascontiguousarray(values).reshape(-1), kind)
        return self.arrow.FixedSizeListArray.from_arrays(flat, size) if shape else flat


def parquet_records(folder: str | Path) -> Iterator[GameRecord]:
    """Yield the records from which a data set was made; ValueError if the folder has none."""
    _, parquet = _pyarrow()
    path = Path(folder) / RECORDS
    if not path.exists():
        raise ValueError(
            f"{folder} holds no {RECORDS}: expected a data set that was exported to Parquet with its games"
        )
    for group in parquet.ParquetFile(path).iter_batches():
        for text in group.column(group.schema.names[1]).to_pylist():
            yield GameRecord.from_json(text)


def _pyarrow() -> tuple[Any, Any]:
    require("Parquet", "data", "pyarrow")
    import pyarrow
    import pyarrow.parquet

    return pyarrow, pyarrow.parquet
