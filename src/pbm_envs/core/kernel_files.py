"""Files of compiled kernels, in a folder that other users cannot write; incomplete files are ignored."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock, Timeout
from platformdirs import user_cache_dir

from .compiling import COMPILING
from .files import in_one_piece

logger = logging.getLogger("pbm_envs")

HEAD = b"pbm_envs kernel 1\n"
LOCK = ".lock"
O_BINARY: int = getattr(os, "O_BINARY", 0)
LONGEST_WAIT = 60.0
"""The maximum wait for another process to compile a kernel, in seconds; that process may have been stopped."""
POLL_SECONDS = 0.02


@cache
def cache_directory() -> Path | None:
    """Return the folder of compiled kernels, constant for the whole process; None if no folder can be used.

    The folder is `PBM_ENVS_CACHE_DIR`, or the user's cache folder, or a private folder among the temporary files. A
    read-only folder is used if it contains kernels (such as those of a container image).
    """
    chosen = os.environ.get("PBM_ENVS_CACHE_DIR") or user_cache_dir("pbm_envs", appauthor=False)
    user = str(os.getuid()) if sys.platform != "win32" else os.environ.get("USERNAME", "user")
    for folder in (Path(chosen), Path(tempfile.gettempdir(), f"pbm_envs-{user}")):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(folder.glob("*.kernel")):
                tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        if _is_ours(folder.stat(), stat.S_IWOTH):
            return folder
        logger.warning("kernels are not kept in %s: others own it or can write there", folder)
    logger.warning("kernels are kept in memory only, since no cache folder can be written: %s", chosen)
    return None


def read(path: Path) -> bytes | None:
    """Return the content of a file; None if it is missing, damaged or owned by somebody else."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | O_BINARY), "rb") as file:
            if not _is_ours(os.fstat(file.fileno()), stat.S_IWGRP | stat.S_IWOTH):
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
    """Write a file atomically; only log a failure, such as a full disk, since the kernel works without its file."""
    try:
        with in_one_piece(path) as part, open(os.open(part, os.O_WRONLY | os.O_CREAT | O_BINARY, 0o600), "wb") as file:
            file.write(HEAD + hashlib.sha256(content).digest() + content)
    except OSError as error:
        logger.info("the compiled kernel could not be kept: %s", error)


def claim(path: Path, kernel: Any) -> BaseFileLock | None:
    """Lock the creation of a kernel's file; another process may have created it when this returns.

    Returns the lock for `release`; None if another process holds it for too long, or the file system has no locks. The
    system releases the lock when this process ends, however it ends. Waiting is reported as compiling.
    """
    lock = FileLock(path.with_suffix(LOCK), mode=0o600)
    try:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            logger.info("waiting for %s, which another process compiles", path.name)
            COMPILING.begin(kernel)
            try:
                lock.acquire(timeout=LONGEST_WAIT, poll_interval=POLL_SECONDS)
            finally:
                COMPILING.end(kernel)
    except (Timeout, OSError) as error:
        logger.info("other processes may compile %s too: %s", path.name, error)
        return None
    return lock


def release(path: Path | None, lock: BaseFileLock | None) -> None:
    """Release a lock of `claim` and remove its file; processes that lock it later check for `path` again."""
    if path is not None and lock is not None:
        with contextlib.suppress(OSError):
            lock.release()
        if path.exists():
            with contextlib.suppress(OSError):
                path.with_suffix(LOCK).unlink()


def _is_ours(status: os.stat_result, forbidden: int) -> bool:
    """Return whether this user or the system owns a file, and it has none of the `forbidden` mode bits."""
    return sys.platform == "win32" or (status.st_uid in (os.getuid(), 0) and not status.st_mode & forbidden)
