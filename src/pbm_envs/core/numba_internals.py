"""All private interfaces of Numba that the kernel cache and the two decorators use.

If one of `NEEDED` is missing, kernels are compiled in every process, and the log says so. Without one of the other
names, kernels are slower or take longer to compile, as documented at its function here.
"""

# mypy: disable-error-code="misc, unused-ignore"

from __future__ import annotations

import itertools
import logging
import os
import pickle
import pkgutil
import secrets
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numba
from numba.core import config, sigutils, types
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack

logger = logging.getLogger("pbm_envs")

NEEDED = (
    "compiler.CompileResult._reduce",  # serializes a compiled function: without it nothing is cached
    "compiler.CompileResult._rebuild",  # deserializes it: without it nothing is cached
    "bytecode.FunctionIdentity._unique_ids",  # numbers symbols: without it nothing is cached, as symbols could clash
    "caching._Cache.load_overload",  # a dispatcher loads a kernel by it: without it nothing is cached
    "caching._Cache.save_overload",  # a dispatcher saves a kernel by it: without it nothing is cached
    "dispatcher.Dispatcher.enable_caching",  # sets `_cache`, which we replace: without it nothing is cached
)
"""Names below `numba.core`."""


def _found(name: str) -> Any:
    """Return the object with this name below `numba.core`, or None."""
    try:
        return pkgutil.resolve_name(f"numba.core.{name.replace('.', ':', 1)}")
    except (ImportError, AttributeError):
        return None


def missing() -> list[str]:
    """Return the needed names that this version of Numba lacks."""
    return [name for name in NEEDED if _found(name) is None]


MISSING = missing()

IRRELEVANT_SETTINGS = {
    "CACHE_DIR",
    "CACHE_LOCATOR_CLASSES",
    "COLOR_SCHEME",
    "DEBUG_CACHE",
    "NUMBA_DEFAULT_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "THREADING_LAYER",
    "THREADING_LAYER_PRIORITY",
}
"""Settings of Numba that do not affect machine code but differ between machines; so do `DUMP_*` and `CUDA_*`."""


def attach(dispatcher: Any, kernel_cache: Any) -> None:
    """Give a dispatcher its `KernelCache`; only log a message if Numba does not support that."""
    if not hasattr(dispatcher, "_cache") and not MISSING:
        MISSING.append("dispatcher.Dispatcher._cache")
    if MISSING:
        _log_missing()
        return
    dispatcher._cache = kernel_cache
    compile_signature = dispatcher.compile

    def compile_and_finish(signature: Any) -> Any:
        with global_compiler_lock:
            try:
                return compile_signature(signature)
            finally:
                kernel_cache.finish(signature)

    dispatcher.compile = compile_and_finish


@cache
def _log_missing() -> None:
    logger.warning(
        "compiled kernels are not kept, and every process compiles them: Numba %s has no %s",
        numba.__version__,
        ", ".join(MISSING),
    )


def has_stack_arrays() -> bool:
    """Return whether Numba has the option `_nrt`; without it, kernels count references and are slower."""
    return _found("cpu.CPUTargetOptions._nrt") is not None


def call_from_kernels(dispatcher: Any, called: Any) -> Any:
    """Make kernels that call `dispatcher` call `called`; without these two methods they call `dispatcher` itself."""
    if all(hasattr(called, method) for method in ("get_call_template", "get_overload")):
        dispatcher.get_call_template, dispatcher.get_overload = called.get_call_template, called.get_overload
    return dispatcher


class KernelFlags(Flags):
    """Numba's compiler flags for a kernel; the class identifies a kernel."""


def mark_kernel(dispatcher: Any) -> None:
    """Enable `core.instructions` for a dispatcher; without these names it uses Numba's own functions."""
    compiler: Any = getattr(dispatcher, "_compiler", None)
    if hasattr(compiler, "_customize_flags"):
        compiler._customize_flags = KernelFlags


def in_kernel() -> bool:
    """Return whether Numba is currently typing a kernel."""
    return isinstance(ConfigStack.top_or_none(), KernelFlags)


def pack(result: Any) -> bytes | None:
    """Serialize a compiled function; None if it contains addresses of this process, or may use unknown overloads."""
    if result.library.has_dynamic_globals or any(result.lifted) or _types(result) is None:
        return None
    return pickle.dumps(result._replace(type_annotation=None)._reduce(), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes, target_context: Any) -> Any:
    """Return a callable compiled function from the bytes returned by `pack`."""
    return _found("compiler.CompileResult")._rebuild(target_context, *pickle.loads(packed))


def overloads(result: Any) -> Iterator[Callable[..., Any]]:
    """Yield the implementations registered by `numba.extending.overload` that a compiled function calls."""
    for kind in (_types(result) or {}).values():
        templates = getattr(kind, "templates", None) or [getattr(kind, "template", None)]
        yield from (each._overload_func for each in templates if hasattr(each, "_overload_func"))


def _types(result: Any) -> dict[str, Any] | None:
    """Return the types of all variables of a compiled function; without `typemap` None, and nothing is cached."""
    return getattr(getattr(result, "type_annotation", None), "typemap", None)


def target(signature: Any, target_context: Any) -> tuple[tuple[types.Type, ...], tuple[str, ...]]:
    """Return the argument types and the processor of a dispatcher's cache request."""
    return tuple(sigutils.normalize_signature(signature)[0]), tuple(map(str, target_context.codegen().magic_tuple()))


def settings() -> list[tuple[str, str]]:
    """Return every setting of Numba, from the environment or set by a program, that may affect generated code."""
    return [
        (name, repr(value))
        for name, value in sorted(vars(config).items())
        if name.isupper() and name not in IRRELEVANT_SETTINGS and not name.startswith(("CUDA_", "DUMP_", "_"))
    ]


def name_functions_apart() -> None:
    """Start the numbering of this process's compiled functions at a random number.

    Numba makes symbols from name, number and types. If all processes numbered from 1, as it does, functions of two
    processes could have the same symbol, and in a third that loads both, one would be called instead of the other.
    """
    if not MISSING:
        _found("bytecode.FunctionIdentity")._unique_ids = itertools.count(secrets.randbits(62))


name_functions_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=name_functions_apart)
