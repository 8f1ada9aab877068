"""Readers of untrusted data: records, puzzles, ladders, trees, policies, networks, checkpoints, messages.

All readers of files and messages that somebody else may have written use these functions. They import nothing named in
the data, take linear time, bound memory before they allocate it, and raise only ValueError.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

import numpy as np

from .core.checks import quoted
from .core.game import Game
from .core.state import Array
from .registry import make_registered_game

MOST_TEXT = 1 << 26
"""The maximum number of characters of JSON."""
MOST_BYTES = 1 << 32
"""The maximum number of bytes of the arrays in a file."""
MOST_AXES = 8
SCALAR = (str, int, float, bool, type(None))
"""The types that the value of an option can have."""


def parse_object(text: str | bytes, what: str, most: int = MOST_TEXT) -> dict[str, Any]:
    """Return a JSON object.

    Raises ValueError for a text that is longer than `most` or contains NaN or Infinity. `what` names the expected
    object in errors, with its article.
    """
    if not isinstance(text, (str, bytes)):
        raise ValueError(f"{quoted(text)} is not {what}: expected JSON text")
    if len(text) > most:
        raise ValueError(f"{len(text):,} characters are too long for {what}: expected at most {most:,}")
    try:
        given = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{quoted(text, 60)} is not {what}: expected a JSON object ({str(error)[:100]})") from None
    if not isinstance(given, dict):
        raise ValueError(f"{quoted(text, 60)} is not {what}: expected a JSON object")
    return given


def fits(value: Any, kind: Any) -> bool:
    """Return whether a JSON value is of a kind: a type, types, [kind] for a list, or {str: kind} for an object."""
    if isinstance(kind, list):
        return isinstance(value, list) and all(fits(element, kind[0]) for element in value)
    if isinstance(kind, dict):
        return isinstance(value, dict) and all(fits(element, kind[str]) for element in value.values())
    return isinstance(value, kind) and (not isinstance(value, bool) or kind is bool or kind == SCALAR)


def wrong_fields(given: Mapping[str, Any], kinds: Mapping[str, Any]) -> list[str]:
    """Return the names of fields that are missing, of the wrong kind (`fits`), or unknown."""
    wrong = [name for name, kind in kinds.items() if name not in given or not fits(given[name], kind)]
    return wrong + sorted(given.keys() - kinds.keys(), key=str)


def check_fields(given: Mapping[str, Any], kinds: Mapping[str, Any], what: str) -> None:
    """Raise ValueError unless an object has exactly these fields, each of its kind (`fits`)."""
    if wrong := wrong_fields(given, kinds):
        listed = ", ".join(repr(name)[1:-1] for name in wrong)
        raise ValueError(f"missing, unknown or of a wrong type in {what}: {listed[:300]}")


def registered_game(name: Any, options: Any) -> Game:
    """Return the game named in untrusted data; only registered names are accepted, and nothing is imported."""
    try:
        return make_registered_game(name, dict(options))
    except (TypeError, ValueError) as error:
        raise ValueError(f"game {quoted(name)} with options {quoted(options)}: {error}") from None


def json_kinds(record_class: Any) -> dict[str, Any]:
    """Return the JSON kind (`fits`) of each field of a dataclass, by its annotation."""

    def kind(hint: Any) -> Any:
        parts = get_args(hint)
        if get_origin(hint) is tuple:
            return [kind(parts[0])]
        if get_origin(hint) in (dict, Mapping):
            return {str: SCALAR if parts[1] is Any else kind(parts[1])}
        return dict if is_dataclass(hint) else (int, float) if hint is float else parts or hint

    return {name: kind(hint) for name, hint in get_type_hints(record_class).items()}


def check_array(array: Any, name: str, shape: tuple[int, ...], kinds: str = "f") -> Array:
    """Return the array itself; raise ValueError unless it has this shape, a dtype of these kinds, and finite values."""
    given = np.asarray(array)
    if given.shape != shape or given.dtype.kind not in kinds:
        raise ValueError(f"{name} are {given.dtype} {given.shape}: expected {shape}, dtype of kind {kinds!r}")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ValueError(f"{name} hold infinite numbers or NaN: expected finite numbers")
    return given


def read_arrays(path: str | Path, what: str, names: tuple[str, ...] | None = None) -> dict[str, Array]:
    """Return the arrays of an `.npz` file, at most `MOST_BYTES`; nothing in the file is executed.

    `what` names the expected file in errors, with its article. The file must have exactly the arrays `names` (or any).
    """
    arrays, left = {}, MOST_BYTES
    try:
        with zipfile.ZipFile(path) as file:
            for info in file.infolist():
                with file.open(info) as member:
                    data = member.read(left + 1)
                if len(data) > left:
                    raise ValueError(f"more than {MOST_BYTES:,} bytes of arrays")
                left -= len(data)
                arrays[info.filename.removesuffix(".npy")] = _array(data)
    except FileNotFoundError:
        raise ValueError(f"there is no file {str(path)!r}") from None
    except Exception as error:  # zipfile and the decompressors raise many types of errors for damaged files
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{str(path)!r} is not {what}: expected an .npz file ({reason})") from None
    if names is not None and arrays.keys() != set(names):
        raise ValueError(f"{str(path)!r} holds {quoted(sorted(arrays))}: expected {', '.join(names)}, {what}")
    return arrays


def _array(data: bytes) -> Array:
    """Return the array in the bytes of an `.npy` file, whose header must match the length of the data."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = reader(file, max_header_size=10_000)
    rest = data[file.tell() :]
    if dtype.hasobject or len(shape) > MOST_AXES or any(length < 0 for length in shape):
        raise ValueError(f"an array is {dtype} {shape}")
    size = dtype.itemsize
    for length in shape:
        size *= length
    if size != len(rest):
        raise ValueError(f"an array is {dtype} {shape}, {size:,} bytes, and there are {len(rest):,}")
    return np.frombuffer(rest, dtype).reshape(shape, order="F" if fortran else "C")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")
