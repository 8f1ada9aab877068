"""Compiled rules: the `kernel` decorator and the cache that keeps what it has compiled.

Numba's own cache looks only at the file of the function it stores; here one kernel calls another across files
(Chameleon and Unlur share `chains.py`). So each compiled kernel is kept in a file of its own, whose name is a hash of
everything it was made from: the kernel, the types of its arguments, the processor, the versions of Python, Numba and
NumPy, and the text of its source file and of every file of ours that this imports. A change of the rules is another
name, so an old file is never read again; two processes never write different things under one name; and nothing is
written beside the sources, so an installed package may be read-only.

The files lie in the user's cache folder or in `PBM_ENVS_CACHE_DIR`; deleting them is always safe. With
`NUMBA_DISABLE_JIT=1` kernels are plain Python.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import logging
import os
import pickle
import platform
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.misc.appdirs import AppDirs

logger = logging.getLogger("pbm_envs")

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` with Numba when it is first called, and keep the result for the next process if the function
    comes from a file.

    Kernels call one another by name and never take a function as an argument (Numba would compile them anew in every
    process).
    """
    if config.DISABLE_JIT:
        return np.errstate(over="ignore")(function)  # compiled integers wrap around in silence too
    dispatcher = numba.njit(nogil=True)(function)
    if os.path.isfile(function.__code__.co_filename):  # else it was typed into a notebook
        dispatcher._cache = KernelCache(function)
    return dispatcher


def record_type(dtype: np.dtype[np.void]) -> object:
    """Numba's type for records of `dtype`, under a number that is the same in every process. Keep a reference to it as
    long as kernels may be given such records.

    Numba numbers record types as it meets them and puts the number into the names of compiled functions. Kernels for
    two board sizes, each the first that its process compiled, would thus have the same name, and a third process that
    loads both would call one for the other.
    """
    if config.DISABLE_JIT:
        return None
    record = numba.from_dtype(dtype)
    record._code = (1 << 30) + int(hashlib.sha256(record.name.encode()).hexdigest(), 16) % (1 << 30)
    return record


class KernelCache(_Cache):
    """The compiled variants of one kernel on disk, one file a signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._enabled = True

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
        target_context.refresh()
        path = self._path(sig, target_context)
        if path is not None:
            try:
                return CompileResult._rebuild(target_context, *pickle.loads(path.read_bytes()))
            except FileNotFoundError:
                pass
            except Exception as error:  # a damaged file: whatever unpickling it raises, compiling mends it
                logger.info("compiling anew: %s could not be read (%s)", path, error)
        _announce()
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        path = self._path(sig, cres.target_context)
        if path is None or cres.library.has_dynamic_globals:
            return
        try:
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem)
            with os.fdopen(handle, "wb") as file:
                pickle.dump(cres._reduce(), file, protocol=-1)
            os.replace(name, path)
        except OSError as error:  # full disk, folder gone: the kernel is compiled and works
            logger.info("the compiled kernel could not be kept: %s", error)

    def _path(self, sig: Any, target_context: Any) -> Path | None:
        folder = cache_directory()
        if folder is None or not self._enabled:
            return None
        name = f"{self._function.__module__}.{self._function.__qualname__}"
        made_from = (
            name,
            str(sig),
            target_context.codegen().magic_tuple(),
            (sys.version, platform.machine(), numba.__version__, np.__version__),
            source_key(self._function.__code__.co_filename, self._function.__module__),
        )
        return folder / f"{name}-{hashlib.sha256(repr(made_from).encode()).hexdigest()[:32]}.kernel"


@cache
def _announce() -> None:
    """Say once a process that the first call takes long."""
    logger.warning(
        "compiling game kernels for this machine: a few seconds for each game and board size, once (kept in %s)",
        cache_directory() or "memory only, no cache folder is writable",
    )


@cache
def cache_directory() -> Path | None:
    """Where compiled kernels are kept: `PBM_ENVS_CACHE_DIR`, else the user's cache folder, else a private folder
    among the temporary files; None if none of them can be written. Read once a process.
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
        if sys.platform == "win32" or folder.stat().st_uid == os.getuid():  # what we unpickle must be our own
            return folder
    return None


@cache
def source_key(path: str, module: str) -> str:
    """Hash of the source file of `module` and, through its imports, of every source file of ours that it uses.

    Ours is what lies in the module's own top-level package or in pbm_envs.
    """
    packages = {module.partition(".")[0], "pbm_envs"}
    texts: dict[str, bytes] = {}
    pending = [(module, path)]
    while pending:
        name, file = pending.pop()
        if file in texts:
            continue
        texts[file] = Path(file).read_bytes()
        is_package = Path(file).name == "__init__.py"
        for imported in _imports(texts[file], name if is_package else name.rpartition(".")[0]):
            if imported.partition(".")[0] in packages:
                pending += _source_of(imported)
    digest = hashlib.sha256()
    for file in sorted(texts):
        digest.update(hashlib.sha256(texts[file]).digest())
    return digest.hexdigest()


def _imports(text: bytes, package: str) -> list[str]:
    """Every module that a source may import: for `from a import b` both `a` and `a.b`."""
    names = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names += [base, *(f"{base}.{alias.name}" for alias in node.names)]
    return names


def _source_of(module: str) -> list[tuple[str, str]]:
    """The module's name and source file; nothing if there is no such module (the name of a function, say)."""
    loaded = sys.modules.get(module)
    if loaded is not None and loaded.__file__ is not None:
        return [(module, loaded.__file__)]
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return []
    return [(module, spec.origin)] if spec is not None and spec.origin is not None else []
