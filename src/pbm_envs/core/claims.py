"""Claims: of several processes that need a compiled kernel, one compiles it, and the others wait for its file.

A claim is a lock of one byte in a file beside the kernels, at a place that is a hash of the kernel's name. It is a
record lock (`fcntl.lockf`): the system takes it away when its process ends, however it ends, and a process made by
`fork` does not have it. Closing the file releases all that a process has claimed, so it is open only while something
is. While a kernel is compiled, those that it calls are claimed in turn; no kernel calls one that leads back to it, so
no two processes wait for each other. Where files cannot be locked (Windows, some file systems), every process compiles
for itself.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

logger = logging.getLogger("pbm_envs")

FILE = "claims.lock"
"""Beside the kernels, and always empty."""
LONGEST_WAIT = 60.0
"""Seconds after which a process waits no more, for any kernel: the one that it waits for may have been stopped."""
POLL = 0.02
"""Seconds between two attempts."""


class Claims:
    """What this process has claimed. Not for several threads at once: Numba's lock for compiling keeps them apart."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._places: list[int] = []
        self._patient = True

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release at the end what has been claimed meanwhile."""
        before = len(self._places)
        try:
            yield
        finally:
            with suppress(OSError):
                while len(self._places) > before:
                    _unlock(self._descriptor, self._places.pop())
                if not before and self._descriptor is not None:
                    os.close(self._descriptor)
            if not before:
                self._places, self._descriptor = [], None

    def claim(self, path: Path, waits: Callable[[], None]) -> bool:
        """Claim the making of a file, once no other process has claimed it.

        Args:
            path: The file.
            waits: Called before waiting for another process.

        Returns:
            Whether another process had claimed it; the file may be there now.
        """
        place = int.from_bytes(hashlib.sha256(path.name.encode()).digest()[:7], "big")
        began = None
        try:
            if self._descriptor is None:
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
                self._descriptor = os.open(path.parent / FILE, flags, 0o600)
            while not _lock(self._descriptor, place):
                if began is None and self._patient:
                    logger.info("waiting for %s, which another process compiles", path.name)
                    began = monotonic()
                    waits()
                if began is None or monotonic() - began > LONGEST_WAIT:
                    logger.info("not waiting for %s, which another process compiles", path.name)
                    self._patient = False
                    return began is not None
                sleep(POLL)
            self._places.append(place)
        except OSError as error:
            logger.info("other processes may compile %s too: %s", path.name, error)
        return began is not None


CLAIMS = Claims()

if sys.platform == "win32":

    def _lock(descriptor: int, place: int) -> bool:
        return True

    def _unlock(descriptor: int | None, place: int) -> None:
        pass

else:
    import fcntl

    def _lock(descriptor: int, place: int) -> bool:
        """Whether this process has locked the byte; OSError where files cannot be locked."""
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _unlock(descriptor: int | None, place: int) -> None:
        if descriptor is not None:
            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)
