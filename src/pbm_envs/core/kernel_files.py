"""Files of compiled kernels: a folder that nobody else can write, and files that are read only if they are whole."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

from numba.misc.appdirs import AppDirs

logger = logging.getLogger("pbm_envs")

HEAD = b"pbm_envs kernel 1\n"
PARTIAL = ".part"
ABANDONED_SECONDS = 3600
"""A partial file of this age was left by a process that was killed."""


@cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept: `PBM_ENVS_CACHE_DIR`, else the user's cache folder, else a private folder
    among the temporary files; None if none of them can be used. Read once a process.
    """
    chosen = os.environ.get("PBM_ENVS_CACHE_DIR")
    user = str(os.getuid()) if sys.platform != "win32" else os.environ.get("USERNAME", "user")
    folders = [chosen] if chosen else [AppDirs("pbm_envs", appauthor=False).user_cache_dir]
    for folder in [Path(name) for name in folders] + [Path(tempfile.gettempdir(), f"pbm_envs-{user}")]:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        if sys.platform == "win32" or _is_ours(folder.stat(), stat.S_IWOTH):
            return folder
        logger.warning("kernels are not kept in %s: others own it or can write there", folder)
    return None


def read(path: Path) -> bytes | None:
    """What was written there; None if there is no such file, or one that is damaged or not our own."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            if sys.platform != "win32" and not _is_ours(os.fstat(file.fileno()), stat.S_IWGRP | stat.S_IWOTH):
                logger.warning("compiling anew: others own %s or can write it", path)
                return None
            content = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        logger.info("compiling anew: %s", error)
        return None
    start = len(HEAD) + hashlib.sha256().digest_size
    if content[:start] != HEAD + hashlib.sha256(content[start:]).digest():
        logger.info("compiling anew: %s is damaged", path)
        return None
    return content[start:]


def write(path: Path, content: bytes) -> None:
    """Replace the file at once, or leave everything as it was; a full disk is no error."""
    _remove_abandoned(path.parent)
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}-", suffix=PARTIAL)
        with os.fdopen(handle, "wb") as file:
            file.write(HEAD + hashlib.sha256(content).digest() + content)
        os.replace(name, path)
    except BaseException as error:
        if name is not None:
            with contextlib.suppress(OSError):
                os.unlink(name)
        if not isinstance(error, OSError):
            raise
        logger.info("the compiled kernel could not be kept: %s", error)  # it works all the same


def _is_ours(status: os.stat_result, forbidden: int) -> bool:
    return status.st_uid == os.getuid() and not status.st_mode & forbidden


@cache
def _remove_abandoned(folder: Path) -> None:
    """Once a process."""
    for path in folder.glob(f"*{PARTIAL}"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink()
