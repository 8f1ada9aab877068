"""The on-disk cache of compiled kernels.

Numba's own cache looks only at the file of the function it stores, but kernels call one another across files. So each
compiled kernel has a file of its own, whose name contains a hash of everything it was compiled from: its code and
constants, those of every kernel that it calls (`fingerprint`), the types of its arguments, the processor, the settings
of Numba, and the versions of Python, Numba and NumPy. The hash is computed again before the result is saved; so a
process never loads a file that differs from what it would compile, even if the sources change meanwhile.

When several processes need a kernel, one compiles it, and the others wait for its file (`kernel_files.claim`). Kernels
are not recursive, so no two processes wait for each other.
"""

from __future__ import annotations

import hashlib
import logging
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from filelock import BaseFileLock

from . import instructions, kernel_files, layouts, numba_internals
from .compiling import COMPILING
from .fingerprint import NoFingerprintError, describe_code, describe_type, fingerprint, foreign, refuse, unchanged
from .kernel_files import cache_directory

logger = logging.getLogger("pbm_envs")


def _hash(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:24]


GENERATORS = [
    describe_code(compile(Path(module.__file__ or "").read_bytes(), "", "exec", optimize=2))
    for module in (layouts, instructions)
]
"""The code of the modules that generate code for game records and for some calls, without comments and docstrings."""
VERSIONS = (sys.version, platform.machine(), numba.__version__, llvmlite.__version__, np.__version__, _hash(GENERATORS))


class KernelCache:
    """The compiled variants of one kernel on disk. Its methods run under Numba's lock for compiling."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function = function  # fingerprinted later: kernels that it calls may not be defined yet
        self._options = sorted(options.items())
        self._compiling: dict[Any, tuple[Path | None, BaseFileLock | None]] = {}
        self.module = function.__module__
        self.name = f"{self.module}.{function.__qualname__}".replace(".<locals>", "")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for this signature; or report that it must be compiled and return None."""
        path, lock = self._path(sig, target_context), None
        if path is not None and not path.exists():
            lock = kernel_files.claim(path, self)
        packed = None if path is None else kernel_files.read(path)
        if packed is not None:
            target_context.refresh()
            try:
                loaded = numba_internals.unpack(packed, target_context)
            except Exception as error:  # unpickling may raise anything
                logger.info("compiling anew: %s could not be loaded (%r)", path, error)
            else:
                kernel_files.release(path, lock)
                COMPILING.ready.add(self.name)
                return loaded
        self._compiling[sig] = path, lock
        COMPILING.begin(self)
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Save a compiled kernel, unless its code or constants have changed meanwhile."""
        COMPILING.ready.add(self.name)
        path, _ = self._compiling[sig]
        if path is None:
            return
        if overload := foreign(numba_internals.overloads(cres)):
            refuse(self._function)
            logger.warning(
                "%s is compiled in every process: it calls %s, an overload, whose changes would not be noticed "
                "(kernels may call kernels)",
                self.name,
                overload,
            )
        elif not unchanged(self._function) or self._path(sig, cres.target_context) != path:
            logger.info("%s is not kept: what it is compiled from has changed", self.name)
        elif (packed := numba_internals.pack(cres)) is not None:
            kernel_files.write(path, packed)

    def finish(self, sig: Any) -> None:
        """Release the lock and report the end of what `load_overload` began, whether or not compilation succeeded."""
        if sig in self._compiling:
            kernel_files.release(*self._compiling.pop(sig))
            COMPILING.end(self)

    def is_kept(self) -> bool:
        """Return whether the cache has a file of this kernel, for any types."""
        folder = cache_directory()
        try:
            return folder is not None and any(folder.glob(f"{self.name}-{self._made_from}-*.kernel"))
        except NoFingerprintError:
            return False

    @property
    def _made_from(self) -> str:
        """Hash everything except the types, the processor, and whether the caller is Python or another kernel."""
        return _hash(fingerprint(self._function), numba_internals.settings(), VERSIONS)

    def _path(self, sig: Any, target_context: Any) -> Path | None:
        folder = cache_directory()
        if folder is None:
            return None
        try:
            types, machine = numba_internals.target(sig, target_context)
            compiled_for = _hash([describe_type(each) for each in types], self._options, machine)
            return folder / f"{self.name}-{self._made_from}-{compiled_for}.kernel"
        except NoFingerprintError as reason:
            logger.info("%s is compiled in every process: %s", self.name, reason)
            return None
