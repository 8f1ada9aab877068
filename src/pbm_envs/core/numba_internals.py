"""The private interfaces of Numba that the cache of kernels needs: here and nowhere else.

Numba documents neither how a compiled function is taken apart and put together again nor how a dispatcher asks its
cache. The versions that pyproject.toml allows do it alike; the oldest and the newest of them are tested. Where
something is missing, kernels are compiled in every process, and one line in the log says so.
"""

from __future__ import annotations

import gc
import itertools
import os
import pickle
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

from numba.core import config, sigutils, types
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack

try:
    from numba.core.bytecode import FunctionIdentity
    from numba.core.compiler import CompileResult

    MISSING = [
        f"{holder.__name__}.{name}"
        for holder, name in [
            (CompileResult, "_reduce"),
            (CompileResult, "_rebuild"),
            (FunctionIdentity, "_unique_ids"),
        ]
        if not hasattr(holder, name)
    ]
except ImportError as error:
    MISSING = [str(error)]

try:
    from numba.core.cpu import CPUTargetOptions

    _counts_can_be_omitted = hasattr(CPUTargetOptions, "_nrt")
except ImportError:
    _counts_can_be_omitted = False
try:
    from numba.np.arrayobj import _empty_nd_impl, _parse_empty_args
except ImportError:
    _empty_nd_impl = _parse_empty_args = None
WITHOUT_REFERENCE_COUNTS: dict[str, Any] = {"_nrt": False} if _counts_can_be_omitted else {}
"""Options of `numba.njit` for a function that makes no arrays but on its stack; none, and slower, where Numba has no
such option."""
FOR_PYTHON: dict[str, Any] = {"no_cfunc_wrapper": True}
"""Options of `numba.njit` for a function that Python calls, and no code in C."""
FOR_KERNELS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of `numba.njit` for a function that only compiled functions call: Python would crash."""

IRRELEVANT_SETTINGS = {
    "CACHE_DIR",
    "CACHE_LOCATOR_CLASSES",
    "CHROME_TRACE",
    "COLOR_SCHEME",
    "DEBUG_CACHE",
    "DEVELOPER_MODE",
    "DISABLE_PERFORMANCE_WARNINGS",
    "FULL_TRACEBACKS",
    "FUNCTION_CACHE_SIZE",
    "GDB_BINARY",
    "HIGHLIGHT_DUMPS",
    "HTML",
    "NUMBA_DEFAULT_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "SHOW_HELP",
    "THREADING_LAYER",
    "THREADING_LAYER_PRIORITY",
    "TRACE",
}
"""Settings of Numba that change no machine code; those of `DUMP_*` and `CUDA_*` do not either."""


class Cache(Protocol):
    """What a dispatcher asks of its cache."""

    def load_overload(self, sig: Any, target_context: Any) -> Any: ...

    def save_overload(self, sig: Any, cres: Any) -> None: ...


def attach(dispatcher: Any, cache: Cache) -> bool:
    """Give a dispatcher its cache; False, and nothing done, if this version of Numba has no place for it."""
    if not MISSING:
        asks = getattr(dispatcher, "_cache", None)
        if all(hasattr(asks, method) for method in ("load_overload", "save_overload")):
            dispatcher._cache = cache
            return True
        MISSING.append("Dispatcher._cache")
    return False


def pause_collector(dispatcher: Any) -> None:
    """Let Python look for garbage only when this dispatcher has compiled: Numba makes so many objects that looking
    through them again and again takes a tenth of the time.
    """
    compile_signature = dispatcher.compile

    def compile_without_collector(signature: Any) -> Any:
        if not gc.isenabled():  # it was called while another is compiled, or somebody wants it so
            return compile_signature(signature)
        gc.disable()
        try:
            return compile_signature(signature)
        finally:
            gc.enable()

    dispatcher.compile = compile_without_collector


def compile_within(dispatcher: Any, scope: Callable[[], AbstractContextManager[None]]) -> None:
    """Let whatever this dispatcher compiles or loads be in a scope of its own, of one thread at a time."""
    compile_signature = dispatcher.compile

    def compile_in_scope(signature: Any) -> Any:
        with global_compiler_lock, scope():
            return compile_signature(signature)

    dispatcher.compile = compile_in_scope


class KernelFlags(Flags):  # type: ignore[misc, unused-ignore]
    """What Numba is told about compiling a kernel.

    For every call that it types Numba looks for what it has compiled with the same flags, and compares and hashes them
    option by option. Those of kernels are made in one way, so that it is enough to compare what has been set.
    """

    _hash = hash(Flags())

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, KernelFlags):
            return bool(self._values == other._values)
        return bool(super().__eq__(other))


def mark_kernel(dispatcher: Any) -> None:
    """Let what this dispatcher compiles be known as a kernel (`in_kernel`)."""
    compiler: Any = getattr(dispatcher, "_compiler", None)
    if hasattr(compiler, "_customize_flags"):
        compiler._customize_flags = KernelFlags


def in_kernel() -> bool:
    """Whether the function whose calls Numba gives types is a kernel."""
    return isinstance(ConfigStack.top_or_none(), KernelFlags)


can_allocate_arrays = _empty_nd_impl is not None
allocate_array, parse_array = _empty_nd_impl, _parse_empty_args
"""Of `np.empty` in compiled code: making the array, of a type and lengths; finding these."""


def resolve_calls(dispatcher: Any, called: Any) -> None:
    """Let compiled functions that call `dispatcher` call what `called`, of the same function, compiles: much of the
    time for a set of rules goes into wrappers of functions that Python never calls.
    """
    if all(hasattr(called, method) for method in ("get_call_template", "get_overload")):
        dispatcher.get_call_template, dispatcher.get_overload = called.get_call_template, called.get_overload


def address_and_result(dispatcher: Any, argument_types: tuple[types.Type, ...]) -> tuple[int, types.Type]:
    """Where the function that a dispatcher compiles for such arguments begins, and the type of what it returns."""
    dispatcher.compile(argument_types)
    compiled = dispatcher.overloads[argument_types]
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address, compiled.signature.return_type


def pack(result: Any) -> bytes | None:
    """A compiled function as bytes; None if it holds addresses of this process."""
    if result.library.has_dynamic_globals or any(result.lifted):
        return None
    return pickle.dumps(result._replace(type_annotation=None)._reduce(), protocol=pickle.HIGHEST_PROTOCOL)


def unpack(packed: bytes, target_context: Any) -> Any:
    """The compiled function that `pack` has made bytes of, ready to be called."""
    return CompileResult._rebuild(target_context, *pickle.loads(packed))


def argument_types(signature: Any) -> tuple[types.Type, ...]:
    """The types of the arguments, of a signature as a dispatcher hands it to its cache."""
    arguments: tuple[types.Type, ...] = tuple(sigutils.normalize_signature(signature)[0])
    return arguments


def machine(target_context: Any) -> tuple[str, ...]:
    """The processor that code is generated for."""
    return tuple(map(str, target_context.codegen().magic_tuple()))


def settings() -> list[tuple[str, str]]:
    """Every setting of Numba, from the environment or set by a program, that may change what it generates."""
    return [
        (name, repr(value))
        for name, value in sorted(vars(config).items())
        if name.isupper() and name not in IRRELEVANT_SETTINGS and not name.startswith(("CUDA_", "DUMP_", "_"))
    ]


def name_functions_apart() -> None:
    """Number what this process compiles from a random start.

    Numba numbers functions as it compiles them, from 1, and makes symbols of name, number and types. Two functions that
    processes have compiled apart may so have one symbol: a kernel for two board sizes (symbols name a record type by a
    number, too), two closures of one factory, the helpers of two kernels. In a third process that loads both from the
    cache, one would be called for the other.
    """
    if not MISSING:
        FunctionIdentity._unique_ids = itertools.count(secrets.randbits(62))


name_functions_apart()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=name_functions_apart)
