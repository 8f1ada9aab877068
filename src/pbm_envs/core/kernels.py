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
"""Whether kernels are compiled."""
try:
    import numba
except ImportError as error:
    logging.getLogger("pbm_envs").warning("kernels run as plain Python, hundreds of times slower: %s", error)
else:
    COMPILES = not numba.config.DISABLE_JIT


def kernel(function: Function) -> Function:
    """Compile `function` with Numba when it is first called.

    If the function comes from a file, the result is kept for the next process.

    Kernels call one another by name, or as variables of the function that encloses them, and never take a function as
    an argument (Numba would compile them anew in every process).
    """
    return _compiled(function, counts_references=True)


def stack_kernel(function: Function) -> Function:
    """As `kernel`, for kernels that count no references to arrays. Most kernels are of this kind.

    Numba otherwise counts twice for each array that is handed on: 0.1 microseconds a call with ten arrays.

    Arrays that they make by `np.empty` and `np.zeros` lie on the stack until they return. So these must not be larger
    than a board needs, whatever the batch, and be made outside of loops; Numba refuses to return them. Nothing may be
    assigned to a slice, which makes an array too.
    """
    return _compiled(function, counts_references=False)


if COMPILES:
    from . import numba_internals
    from .compiling import COMPILING
    from .kernel_cache import KernelCache
    from .layouts import register_records as register_records

    NO_REFERENCE_COUNTS = {"_nrt": False} if numba_internals.has_stack_arrays() else {}
    """Options of `numba.njit` for a function whose arrays lie on its stack. Where Numba has no such option, kernels
    count references, and are slower."""
    FOR_PYTHON = {"no_cfunc_wrapper": True}
    FOR_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    """For a function that only compiled functions call: Python would crash."""

    def _compiled(function: Function, *, counts_references: bool) -> Function:
        """Make a dispatcher for Python, and one for kernels that call this one.

        The second has no wrappers for Python and C: compiling takes a fifth less time.
        """
        options = {"nogil": True, **({} if counts_references else NO_REFERENCE_COUNTS)}
        dispatcher, called = (_dispatcher(function, options | some) for some in (FOR_PYTHON, FOR_KERNELS))
        return numba_internals.call_from_kernels(dispatcher, called)

    def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        numba_internals.mark_kernel(dispatcher)
        if os.path.isfile(function.__code__.co_filename):  # else it was typed into a notebook
            cache = KernelCache(function, options)
            COMPILING.register(cache)
            numba_internals.attach(dispatcher, cache)
        return dispatcher

else:

    def _compiled(function: Function, *, counts_references: bool) -> Function:
        return np.errstate(over="ignore")(function)  # compiled integers wrap around in silence too

    def register_records(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
        """Return the type: plain Python takes records of any type."""
        return dtype
