"""The private interfaces of Numba, all of them: what the cache of kernels and the two decorators use.

Numba documents neither how a compiled function is taken apart and put together again nor how a dispatcher asks its
cache. Where one of `NEEDED` is gone, kernels are compiled in every process, and a line in the log says so. Without one
of the other names kernels are slower or take longer to compile, as its function here says.
"""

# mypy: disable-error-code="misc, unused-ignore"

from __future__ import annotations

import importlib
import itertools
import logging
import os
import pickle
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
    "compiler.CompileResult._reduce",  # takes a compiled function apart: without it nothing is kept
    "compiler.CompileResult._rebuild",  # puts it together again: without it nothing is kept
    "bytecode.FunctionIdentity._unique_ids",  # numbers symbols: without it nothing is kept, as symbols could clash
    "caching._Cache.load_overload",  # how a dispatcher asks for a kernel: without it nothing is kept
    "caching._Cache.save_overload",  # how it hands a kernel over: without it nothing is kept
    "dispatcher.Dispatcher.enable_caching",  # fills `_cache`, which we replace: without it nothing is kept
)
"""Names below `numba.core`."""


def _found(name: str) -> Any:
    """Return what has this name below `numba.core`; None if nothing has."""
    module, *attributes = name.split(".")
    try:
        value: Any = importlib.import_module(f"numba.core.{module}")
    except ImportError:
        return None
    for attribute in attributes:
        value = getattr(value, attribute, None)
    return value


def missing() -> list[str]:
    """Return which of the needed names this version of Numba lacks."""
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
"""Settings of Numba that change no machine code and differ between machines; those of `DUMP_*` and `CUDA_*` do too."""


def attach(dispatcher: Any, kernel_cache: Any) -> None:
    """Give a dispatcher its `KernelCache`; only log it if Numba has no place for one."""
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
    """Return whether Numba has the option `_nrt`; without it kernels count references, and are slower."""
    return _found("cpu.CPUTargetOptions._nrt") is not None


def call_from_kernels(dispatcher: Any, called: Any) -> Any:
    """Let kernels that call `dispatcher` call `called`; without these two methods they call `dispatcher` itself."""
    if all(hasattr(called, method) for method in ("get_call_template", "get_overload")):
        dispatcher.get_call_template, dispatcher.get_overload = called.get_call_template, called.get_overload
    return dispatcher


class KernelFlags(Flags):
    """Numba's settings for compiling a kernel; the class marks it as one."""


def mark_kernel(dispatcher: Any) -> None:
    """Let `core.instructions` serve in what this dispatcher compiles; without these names Numba's own functions do."""
    compiler: Any = getattr(dispatcher, "_compiler", None)
    if hasattr(compiler, "_customize_flags"):
        compiler._customize_flags = KernelFlags


def in_kernel() -> bool:
    """Return whether the function whose calls Numba is typing is a kernel."""
    return isinstance(ConfigStack.top_or_none(), KernelFlags)


def pack(result: Any) -> bytes | None:
    """Return a compiled function as bytes; None if it holds addresses of this process, or may hold overloads unseen."""
    if result.library.has_dynamic_globals or any(result.lifted) or _types(result) is None:
        return None
    return pickle.dumps(result._replace(type_annotation=None)._reduce(), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes, target_context: Any) -> Any:
    """Return the compiled function that `pack` has made bytes of, ready to be called."""
    return _found("compiler.CompileResult")._rebuild(target_context, *pickle.loads(packed))


def overloads(result: Any) -> Iterator[Callable[..., Any]]:
    """Yield the functions that were given to `numba.extending.overload` for what a compiled function calls."""
    for kind in (_types(result) or {}).values():
        templates = getattr(kind, "templates", None) or [getattr(kind, "template", None)]
        yield from (each._overload_func for each in templates if hasattr(each, "_overload_func"))


def _types(result: Any) -> dict[str, Any] | None:
    """Return the types of all that a compiled function uses; without `typemap` None, and nothing is kept."""
    return getattr(getattr(result, "type_annotation", None), "typemap", None)


def target(signature: Any, target_context: Any) -> tuple[tuple[types.Type, ...], tuple[str, ...]]:
    """Return the types of the arguments and the processor of what a dispatcher asks its cache for."""
    return tuple(sigutils.normalize_signature(signature)[0]), tuple(map(str, target_context.codegen().magic_tuple()))


def settings() -> list[tuple[str, str]]:
    """Return every setting of Numba, from the environment or set by a program, that may change what it generates."""
    return [
        (name, repr(value))
        for name, value in sorted(vars(config).items())
        if name.isupper() and name not in IRRELEVANT_SETTINGS and not name.startswith(("CUDA_", "DUMP_", "_"))
    ]


def name_functions_apart() -> None:
    """Number what this process compiles from a random start.

    Numba numbers functions as it compiles them, from 1, and makes symbols of name, number and types. So two functions
    that two processes have compiled may have one symbol: a kernel for two board sizes (symbols name a record type by a
    number, too), two closures of one factory, the helpers of two kernels. In a third process that loads both from the
    cache, one would be called for the other.
    """
    if not MISSING:
        _found("bytecode.FunctionIdentity")._unique_ids = itertools.count(secrets.randbits(62))


name_functions_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=name_functions_apart)
