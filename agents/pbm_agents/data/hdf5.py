"""HDF5: positions in shards, a data set for each column. Extra `data` (h5py)."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from pbm_envs import Game, __version__
from pbm_envs.records import GameRecord

from .parquet import record_column
from .rows import Table, columns_of, shape_of

CHUNK = 1024
"""Rows that are compressed together."""


class Hdf5Writer:
    """Writes tables to `positions-00000.h5`, ..., and records to `games.h5`. A context manager."""

    suffix = "h5"

    def __init__(self, folder: Path, shard_rows: int, full_states: bool) -> None:
        """A new shard begins after `shard_rows` rows."""
        try:
            import h5py
        except ImportError:
            raise ImportError("HDF5 needs h5py: pip install 'pbm-envs[data]'") from None
        self.h5py = h5py
        self.folder, self.shard_rows, self.columns = folder, shard_rows, columns_of(full_states)
        self.shards: list[int] = []
        self._file: Any = None
        self._records: Any = None

    def write(self, table: Table) -> None:
        """Add rows, in as many shards as they need."""
        start = 0
        while start < len(table):
            if self._file is None:
                self._file = self._new_file(table)
                self.shards.append(0)
            stop = min(len(table), start + self.shard_rows - self.shards[-1])
            for column in self.columns:
                values = table.columns[column.name]
                if values is not None:
                    _extend(self._file[column.name], values[start:stop])
            self.shards[-1] += stop - start
            start = stop
            if self.shards[-1] == self.shard_rows:
                self._file.close()
                self._file = None

    def write_records(self, first: int, records: list[GameRecord]) -> None:
        """Add games, of which the first has the id `first`."""
        if self._records is None:
            self._records = self.h5py.File(self.folder / "games.h5", "w")
            self._records.create_dataset("game_id", (0,), np.int64, maxshape=(None,))
            text = self.h5py.string_dtype("utf-8")
            self._records.create_dataset(record_column(records[0].rules()), (0,), text, maxshape=(None,))
        for name, values in (
            ("game_id", list(range(first, first + len(records)))),
            (record_column(records[0].rules()), [record.to_json() for record in records]),
        ):
            _extend(self._records[name], values)

    def __enter__(self) -> Hdf5Writer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for file in (self._file, self._records):
            if file is not None:
                file.close()

    def _new_file(self, table: Table) -> Any:
        """Empty columns, each with its meaning; columns that no row fills are left out."""
        game: Game = table.game
        file = self.h5py.File(self.folder / f"positions-{len(self.shards):05}.h5", "w")
        file.attrs.update({"game": game.name, "options": json.dumps(dict(game.options)), "pbm_envs": __version__})
        for column in self.columns:
            if table.columns[column.name] is None:
                continue
            kind = self.h5py.string_dtype("utf-8") if column.kind == "str" else np.dtype(column.kind)
            shape = shape_of(column, game)
            data = file.create_dataset(
                column.name, (0, *shape), kind, maxshape=(None, *shape), chunks=(CHUNK, *shape), compression="lzf"
            )
            data.attrs["meaning"] = column.meaning
        return file


def _extend(data: Any, values: Any) -> None:
    data.resize(len(data) + len(values), axis=0)
    data[-len(values) :] = values
