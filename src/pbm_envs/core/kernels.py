"""Compiled rules: the `kernel` decorator and the cache that keeps what it has compiled.

Numba's own cache looks only at the file of the function it stores; here one kernel calls another across files
(Chameleon and Unlur share `chains.py`). So each compiled kernel is kept in a file of its own, whose name is a hash of
everything it was made from: its code and the constants that it reads, the same of every kernel that it calls
(`fingerprint`), the types of its arguments, the processor, the settings of Numba, and the versions of Python, Numba and
NumPy. All of this is taken from memory, where Numba finds it, and is looked at again before the result is kept; so a
file is never read by a process that would compile something else, whatever happens to the sources meanwhile. Nothing is
written beside the sources: an installed package may be read-only.

The files lie in the user's cache folder or in `PBM_ENVS_CACHE_DIR`, which nobody else may be able to write; deleting
them is always safe. With `NUMBA_DISABLE_JIT=1` kernels are plain Python.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import llvmlite
import numba
import numpy as np
from numba.core import config

from . import instructions, kernel_files, layouts, numba_internals
from .claims import CLAIMS
from .fingerprint import NoFingerprintError, describe_type, fingerprint, unchanged
from .kernel_files import cache_directory
from .notices import JupyterLine, in_jupyter

logger = logging.getLogger("pbm_envs")

Function = TypeVar("Function", bound=Callable[..., Any])

PAUSE = 10.0
"""Seconds without compiling, after which it is announced again."""

VERSIONS = (
    sys.version,
    platform.machine(),
    numba.__version__,
    llvmlite.__version__,
    np.__version__,
    *(  # code generated for records of games and for some calls
        hashlib.sha256(Path(module.__file__ or "").read_bytes()).hexdigest() for module in (layouts, instructions)
    ),
)


def kernel(function: Function) -> Function:
    """Compile `function` with Numba when it is first called, and keep the result for the next process if the function
    comes from a file.

    Kernels call one another by name, or as variables of the function that encloses them, and never take a function as
    an argument (Numba would compile them anew in every process).
    """
    return _compiled(function, {})


def stack_kernel(function: Function) -> Function:
    """As `kernel`, for kernels that count no references to arrays. Numba otherwise counts twice for each array that is
    handed on: 0.1 microseconds a call with ten arrays. Most kernels are of this kind.

    What they make by `np.empty` and `np.zeros` lies on the stack until they return. So let it be no larger than a board
    needs, whatever the batch, and be made outside of loops; Numba refuses to return an array. Nothing may be assigned
    to a slice, which makes an array too.
    """
    return _compiled(function, numba_internals.WITHOUT_REFERENCE_COUNTS)


def _compiled(function: Function, options: dict[str, Any]) -> Function:
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)  # compiled integers wrap around in silence too
    dispatcher = _cached_dispatcher(function, {"nogil": True, **options, **numba_internals.FOR_PYTHON})
    called = _cached_dispatcher(function, {"nogil": True, **options, **numba_internals.FOR_KERNELS})
    numba_internals.resolve_calls(dispatcher, called)
    return dispatcher


def _cached_dispatcher(function: Function, options: dict[str, Any]) -> Any:
    dispatcher = numba.njit(**options)(function)
    numba_internals.pause_collector(dispatcher)
    numba_internals.mark_kernel(dispatcher)
    if os.path.isfile(function.__code__.co_filename):  # else it was typed into a notebook
        if numba_internals.attach(dispatcher, KernelCache(function, options)):
            numba_internals.compile_within(dispatcher, CLAIMS.released)
        else:
            _announce_no_cache()
    return dispatcher


class KernelCache:
    """The compiled variants of one kernel on disk, one file a signature."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function = function
        self._options = sorted(options.items())
        self._enabled = True
        self._compiling: dict[Any, Path | None] = {}

    @property
    def cache_path(self) -> str | None:
        folder = cache_directory()
        return None if folder is None else str(folder)

    def enable(self) -> None:
        self._enabled = True

    def disable(self) -> None:
        self._enabled = False

    def flush(self) -> None:
        """Nothing to empty: a file is replaced when its name is written again."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for this signature, or None after announcing that it has to be compiled."""
        path = self._path(sig, target_context)
        if path is not None and not os.path.exists(path):
            self._claim(path)
        packed = None if path is None else kernel_files.read(path)
        if packed is not None:
            target_context.refresh()
            try:
                return numba_internals.unpack(packed, target_context)
            except Exception as error:  # whatever unpickling raises, compiling mends it
                logger.info("compiling anew: %s could not be loaded (%r)", path, error)
        self._compiling[sig] = path
        ANNOUNCEMENTS.begin(self._function.__module__)
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep what has been compiled, unless something that it was compiled from has changed meanwhile."""
        ANNOUNCEMENTS.end(self._function.__module__)
        path = self._compiling.pop(sig, None)
        if path is None:
            return
        if not unchanged(self._function) or self._path(sig, cres.target_context) != path:
            logger.info("%s is not kept: what it is compiled from has changed", self._function.__qualname__)
            return
        packed = numba_internals.pack(cres)
        if packed is not None:
            kernel_files.write(path, packed)

    def _claim(self, path: Path) -> None:
        """Wait while another process compiles this kernel; it is compiled once, and whoever waits is told so too."""
        module = self._function.__module__
        if CLAIMS.claim(path, lambda: ANNOUNCEMENTS.begin(module)):
            ANNOUNCEMENTS.end(module)

    def _path(self, sig: Any, target_context: Any) -> Path | None:
        folder = cache_directory()
        if folder is None or not self._enabled:
            return None
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        try:
            made_from = (
                fingerprint(self._function),
                self._options,
                [describe_type(each) for each in numba_internals.argument_types(sig)],
                numba_internals.machine(target_context),
                numba_internals.settings(),
                VERSIONS,
            )
        except NoFingerprintError as reason:
            logger.info("%s is compiled in every process: %s", name, reason)
            return None
        return folder / f"{name}-{hashlib.sha256(repr(made_from).encode()).hexdigest()[:32]}.kernel"


class Announcements:
    """Says what is compiled, and how long that takes, whenever compiling begins."""

    listeners: set[Callable[[str, bool], None]]
    """Called with what a kernel belongs to, in words, when compiling it begins (False) and when it is done (True), in
    the thread that compiles."""

    def __init__(self) -> None:
        self.listeners = set()
        self._said: set[str] = set()
        self._last = 0.0
        self._line = JupyterLine()

    def begin(self, module: str) -> None:
        """A kernel of this module is about to be compiled: says so, unless it was said a moment ago."""
        if monotonic() - self._last > PAUSE:
            self._said.clear()
        what, duration = _part(module)
        if in_jupyter():
            self._line.begin(what, duration)
        elif what not in self._said:
            self._said.add(what)
            logger.warning(
                "compiling %s: %s, once on this machine (kept in %s; `pbm warm-up` does it ahead)",
                what,
                duration,
                cache_directory() or "memory only, no cache folder can be used",
            )
        self._last = monotonic()
        for listener in tuple(self.listeners):
            listener(what, False)

    def end(self, module: str) -> None:
        """A kernel of this module has been compiled."""
        self._last = monotonic()
        self._line.end()
        for listener in tuple(self.listeners):
            listener(_part(module)[0], True)


ANNOUNCEMENTS = Announcements()


def _part(module: str) -> tuple[str, str]:
    """What a kernel of this module belongs to, and how long that takes to compile (`benchmarks/compiling.py`)."""
    parts = module.split(".")
    if parts[:2] == ["pbm_envs", "games"] and len(parts) > 3:
        return f"the rules of {parts[2]}", "2 to 20 seconds"
    if parts[:2] == ["pbm_agents", "search"]:
        return "the tree search", "2 to 15 seconds"
    return "what all games share" if parts[0] == "pbm_envs" else module, "some seconds"


@cache
def _announce_no_cache() -> None:
    """Say once a process why every process compiles."""
    logger.warning(
        "compiled kernels are not kept, and every process compiles them: Numba %s has no %s",
        numba.__version__,
        ", ".join(numba_internals.MISSING),
    )
