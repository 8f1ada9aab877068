"""Adds episodes to the HDF5 file of a Minari data set, several times faster than Minari does, and into less space.

The layout is Minari's: a group `episode_<k>` with the attributes `id` and `total_steps`, and in it `observations`,
`actions`, `rewards`, `terminations`, `truncations` and `infos`. Minari writes each array in chunks that can grow, by
h5py's general interface; finished episodes do not grow, and most arrays here are a few hundred bytes, which HDF5 can
keep beside their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np

FILE = "main_data.hdf5"
COMPACT = 60_000
"""Bytes up to which an array is kept beside its name; HDF5 allows a little more."""


@final
class EpisodeFile:
    """The file, open for writing: a context manager."""

    def __init__(self, folder: Path, episodes: int) -> None:
        """`folder` is the data set's, in which there are so many `episodes` already."""
        import h5py

        self.h5, self.episodes, self.steps = h5py, episodes, 0
        self._file = h5py.File(folder / FILE, "a")
        self._compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        self._compact.set_layout(h5py.h5d.COMPACT)
        self._one = h5py.h5s.create(h5py.h5s.SCALAR)
        self._kinds: dict[np.dtype[Any], Any] = {}

    def __enter__(self) -> EpisodeFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, episodes: Sequence[Mapping[str, Any]]) -> None:
        """Write episodes, each as the arguments of Minari's EpisodeBuffer."""
        for episode in episodes:
            group = self.h5.h5g.create(self._file.id, f"episode_{self.episodes}".encode())
            steps = len(episode["rewards"])
            for name, value in ((b"id", self.episodes), (b"total_steps", steps)):
                self.h5.h5a.create(group, name, self._kind(np.dtype(np.int64)), self._one).write(np.array(value))
            self._write(group, episode)
            self.episodes += 1
            self.steps += steps

    def _write(self, group: Any, arrays: Mapping[str, Any]) -> None:
        for name, value in arrays.items():
            if isinstance(value, Mapping):
                self._write(self.h5.h5g.create(group, name.encode()), value)
                continue
            array = np.ascontiguousarray(value)
            space = self.h5.h5s.create_simple(array.shape)
            layout = self._compact if array.nbytes <= COMPACT else None
            data = self.h5.h5d.create(group, name.encode(), self._kind(array.dtype), space, layout)
            data.write(self.h5.h5s.ALL, self.h5.h5s.ALL, array)

    def _kind(self, kind: np.dtype[Any]) -> Any:
        """HDF5's type."""
        if kind not in self._kinds:
            self._kinds[kind] = self.h5.h5t.py_create(kind, logical=True)
        return self._kinds[kind]
