"""A persistent replay buffer: the newest examples of self-play in a folder of memory-mapped arrays.

    buffer = ReplayBuffer("runs/buffer", game, capacity=100_000)     # makes the folder, or opens it
    buffer.add(self_play(game, search, 64, rng))
    batch = buffer.sample(512, rng)                                  # Examples, drawn uniformly
    batch = augmented(game, batch, rng.integers(len(game.symmetries), size=512))

One process writes; others may open the same folder and read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from pbm_envs import Game
from pbm_envs.authoring import check_range
from pbm_envs.foreign import parse_object
from pbm_envs.toolbox import quoted, write_text

from .training_data import Examples

FORMAT = "pbm_agents.learning.replay_buffer 1"


@final
class ReplayBuffer:
    """A buffer of the last `capacity` examples.

    The operating system pages the memory-mapped files (`Examples` gives their size) in and out as needed, so a buffer
    may be larger than the machine's memory.
    """

    def __init__(self, folder: str | Path, game: Game, capacity: int, *, full_observations: bool = False) -> None:
        """Create a buffer, or open the existing one.

        Args:
            folder: Folder for its arrays, one file for each field of `Examples`, and `buffer.json`.
            game: The game of all examples.
            capacity: The number of examples to keep.
            full_observations: Whether the examples have full observations.

        Raises:
            ValueError: The folder holds a buffer of another game or capacity, a damaged one, or something else.
        """
        check_range("capacity", capacity, 1)
        self.folder, self.game, self.capacity = Path(folder), game, capacity
        self._about = {"format": FORMAT, "game": game.name, "options": dict(game.options), "capacity": capacity}
        if full_observations:
            self._about["full_observations"] = True
        added = self._opened()
        self.added = added or 0
        """The number of examples ever added."""
        self.folder.mkdir(parents=True, exist_ok=True)
        empty: tuple[NDArray[Any], ...] = tuple(_empty(game, full_observations))
        self._arrays = Examples(
            *(self._array(name, part, added is None) for name, part in zip(Examples._fields, empty, strict=True))
        )
        if added is None:
            self._write_state()

    def __len__(self) -> int:
        """Return the number of examples held."""
        return min(self.added, self.capacity)

    def add(self, examples: Examples) -> None:
        """Add examples, replacing the oldest if the buffer is full. They are on disk when this returns."""
        count = len(examples.returns)
        parts: tuple[NDArray[Any], ...] = tuple(examples)
        arrays: tuple[NDArray[Any], ...] = tuple(self._arrays)
        for name, part, held in zip(Examples._fields, parts, arrays, strict=True):
            if part.shape != (count, *held.shape[1:]) or part.dtype != held.dtype:
                raise ValueError(
                    f"{name} are {part.dtype} {part.shape}: expected {held.dtype} {(count, *held.shape[1:])}, as of "
                    f"examples of {self.game!r}"
                )
        newest: tuple[NDArray[Any], ...] = tuple(examples.rows(slice(max(0, count - self.capacity), None)))
        kept = min(count, self.capacity)
        places = (self.added + count - kept + np.arange(kept)) % self.capacity
        for part, held in zip(newest, arrays, strict=True):
            held[places] = part
            if isinstance(held, np.memmap):
                held.flush()
        self.added += count
        self._write_state()

    def sample(self, count: int, rng: np.random.Generator) -> Examples:
        """Return examples drawn uniformly with replacement; ValueError if the buffer is empty."""
        if not len(self):
            raise ValueError("the buffer is empty: expected examples to draw from")
        return self._arrays.rows(rng.integers(len(self), size=count))

    def newest(self, count: int) -> Examples:
        """Return the last `count` examples, or all if there are fewer, in the order in which they were added."""
        count = min(count, len(self))
        return self._arrays.rows((self.added - count + np.arange(count)) % self.capacity)

    def _array(self, name: str, like: NDArray[Any], new: bool) -> NDArray[Any]:
        if 0 in like.shape[1:]:  # an empty file cannot be mapped
            return np.zeros((self.capacity, *like.shape[1:]), like.dtype)
        path, shape = self.folder / f"{name}.npy", (self.capacity, *like.shape[1:])
        if new:
            return np.lib.format.open_memmap(path, mode="w+", dtype=like.dtype, shape=shape)
        try:
            held = np.lib.format.open_memmap(path, mode="r")  # a writable map would extend a short file
        except Exception as error:  # NumPy parses the header as Python, which can raise anything
            raise ValueError(f"{quoted(path)} cannot be read: expected a file written by ReplayBuffer") from error
        if held.dtype != like.dtype or held.shape != shape:
            raise ValueError(f"{quoted(path)} holds {held.dtype} {held.shape}: expected {like.dtype} {shape}")
        return np.lib.format.open_memmap(path, mode="r+")

    def _opened(self) -> int | None:
        """Return the number of examples ever added to the existing buffer; None if there is none."""
        path = self.folder / "buffer.json"
        try:
            state = parse_object(path.read_text(encoding="utf-8"), "the state of a ReplayBuffer")
        except FileNotFoundError:
            if self.folder.is_dir() and any(self.folder.iterdir()):
                raise ValueError(
                    f"{str(self.folder)!r} holds no buffer but something else: expected a new or empty folder"
                ) from None
            return None
        except (OSError, ValueError) as error:
            raise ValueError(f"{str(path)!r} cannot be read: expected a file written by ReplayBuffer") from error
        if state.get("format") != FORMAT:
            raise ValueError(f"{str(path)!r} is not from a buffer: expected a file written by ReplayBuffer")
        added = state.pop("added", None)
        about = json.loads(json.dumps(self._about))
        if state != about or not isinstance(added, int) or added < 0:
            other = {name: value for name, value in state.items() if value != about.get(name)}
            raise ValueError(f"{str(self.folder)!r} holds a buffer of {other}: expected {about}")
        return added

    def _write_state(self) -> None:
        write_text(self.folder / "buffer.json", json.dumps(self._about | {"added": self.added}))


def _empty(game: Game, full_observations: bool) -> Examples:
    """Return zero examples with the right shapes and types."""
    observations = np.zeros((0, *game.observation_shape), np.int8)
    none = Examples.without_search(
        observations,
        np.zeros((0, game.num_actions), np.bool_),
        np.zeros((0, game.num_actions), np.float32),
        np.zeros((0, game.num_players), np.float32),
    )
    return none._replace(full_observations=observations) if full_observations else none
