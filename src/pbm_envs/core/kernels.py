"""The decorators `kernel` and `stack_kernel`, which compile rules with Numba when they are first called.

With `NUMBA_DISABLE_JIT=1`, and where Numba is not installed, kernels are plain Python.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])
COMPILES = False
"""True if kernels are compiled."""
try:
    import numba
except ImportError as error:
    logging.getLogger("pbm_envs").warning("kernels run as plain Python, hundreds of times slower: %s", error)
else:
    COMPILES = not numba.config.DISABLE_JIT


def kernel(function: Function) -> Function:
    """Compile `function` with Numba when it is first called.

    If the function comes from a file, the result is cached on disk for the next process.

    Kernels call one another by name, or as variables of the enclosing function, and never take a function as an
    argument (Numba would recompile them in every process).
    """
    return _compiled(function, counts_references=True)


def stack_kernel(function: Function) -> Function:
    """Compile `function` as `kernel` does, without reference counts for arrays. Most kernels are of this kind.

    Arrays made by `np.empty` and `np.zeros` lie on the stack until the kernel returns. So their size must be bounded by
    that of the board, not of the batch, and they must be made outside loops; Numba rejects kernels that return them.
    Do not assign to a slice, since that makes an array too.
    """
    return _compiled(function, counts_references=False)


if COMPILES:
    from . import numba_internals
    from .compiling import COMPILING
    from .kernel_cache import KernelCache
    from .layouts import register_records as register_records

    NO_REFERENCE_COUNTS = {"_nrt": False} if numba_internals.has_stack_arrays() else {}
    """Options of `numba.njit` for a function whose arrays lie on its stack. If Numba lacks them, kernels count
    references and are slower."""
    FOR_PYTHON = {"no_cfunc_wrapper": True}
    FOR_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    """Options of `numba.njit` for a function that only compiled functions call; a call from Python would crash."""

    def _compiled(function: Function, *, counts_references: bool) -> Function:
        """Make a dispatcher for Python, and one without wrappers, faster to compile, for kernels that call this one."""
        options = {"nogil": True, "error_model": "numpy", **({} if counts_references else NO_REFERENCE_COUNTS)}
        dispatcher, called = (_dispatcher(function, options | some) for some in (FOR_PYTHON, FOR_KERNELS))
        return numba_internals.call_from_kernels(dispatcher, called)

    def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        numba_internals.mark_kernel(dispatcher)
        if os.path.isfile(function.__code__.co_filename):  # not in a notebook cell
            cache = KernelCache(function, options)
            COMPILING.register(cache)
            numba_internals.attach(dispatcher, cache)
        return dispatcher

else:

    def _compiled(function: Function, *, counts_references: bool) -> Function:
        return np.errstate(over="ignore")(function)  # compiled integers wrap around silently too

    def register_records(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
        """Return the type unchanged: plain Python accepts records of any type."""
        return dtype
