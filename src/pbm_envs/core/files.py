"""Atomic writing of files and folders: a reader finds the old content or the new, never a part."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARTIAL = re.compile(r"\..+\.[0-9a-f]{16}\.part(\..+)?")


@contextmanager
def in_one_piece(path: str | Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield a path beside `path`, and move what the block writes there to `path` when the block ends.

    The temporary name is unique and keeps the suffix of `path`. If the block raises, `path` is unchanged and the
    temporary file or folder is removed; a process that is killed leaves it behind. An OSError names `path`.

    Args:
        path: The file or folder to write. An existing file or symbolic link is replaced; links are not followed.
        durable: Wait until the content of a file is on disk, so that it survives a loss of power.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with in_one_piece(Path(folder, "a.txt")) as part:
    ...         _ = part.write_text("all of it")
    ...     Path(folder, "a.txt").read_text(), len(os.listdir(folder))
    ('all of it', 1)
    """
    path = Path(path)
    part = path.with_name(f".{path.stem}.{secrets.token_hex(8)}.part{path.suffix}")
    try:
        yield part
        if durable:
            with open(part, "r+b") as file:
                os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(part)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def write_text(path: str | Path, text: str, *, durable: bool = False) -> None:
    """Write a text file atomically, in UTF-8 and with the line endings as given."""
    with in_one_piece(path, durable=durable) as part:
        part.write_bytes(text.encode())


def is_partial(path: Path) -> bool:
    """Return whether `in_one_piece` left this file or folder behind in a process that was killed."""
    return PARTIAL.fullmatch(path.name) is not None
