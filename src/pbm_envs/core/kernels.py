"""The decorators `kernel` and `stack_kernel`, which compile rules with Numba when they are first called.

With `NUMBA_DISABLE_JIT=1`, and where Numba is not installed, kernels are plain Python.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .jit import COMPILES

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile `function` with Numba when it is first called, and keep the result for the next process if the function
    comes from a file.

    Kernels call one another by name, or as variables of the function that encloses them, and never take a function as
    an argument (Numba would compile them anew in every process).
    """
    return _compiled(function, counts_references=True)


def stack_kernel(function: Function) -> Function:
    """As `kernel`, for kernels that count no references to arrays. Numba otherwise counts twice for each array that is
    handed on: 0.1 microseconds a call with ten arrays. Most kernels are of this kind.

    What they make by `np.empty` and `np.zeros` lies on the stack until they return. So let it be no larger than a board
    needs, whatever the batch, and be made outside of loops; Numba refuses to return an array. Nothing may be assigned
    to a slice, which makes an array too.
    """
    return _compiled(function, counts_references=False)


if COMPILES:
    import numba

    from . import numba_internals
    from .compiling import COMPILING
    from .instructions import mark_kernel
    from .kernel_cache import KernelCache

    try:
        from numba.core.cpu import CPUTargetOptions
    except ImportError:
        CPUTargetOptions = None
    WITHOUT_REFERENCE_COUNTS = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}
    """Options of `numba.njit` for a function whose arrays lie on its stack. Where Numba has no such option, kernels
    count references, and are slower."""
    FOR_PYTHON = {"no_cfunc_wrapper": True}
    FOR_KERNELS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    """For a function that only compiled functions call: Python would crash."""

    def _compiled(function: Function, *, counts_references: bool) -> Function:
        """Make a dispatcher for Python, and one for kernels that call this one.

        The second has no wrappers for Python and C: compiling takes a fifth less time. If a version of Numba does not
        ask a dispatcher for these two methods, kernels call the first one.
        """
        options = {"nogil": True, **({} if counts_references else WITHOUT_REFERENCE_COUNTS)}
        dispatcher, called = _dispatcher(function, options | FOR_PYTHON), _dispatcher(function, options | FOR_KERNELS)
        if all(hasattr(called, method) for method in ("get_call_template", "get_overload")):
            dispatcher.get_call_template, dispatcher.get_overload = called.get_call_template, called.get_overload
        return dispatcher

    def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        mark_kernel(dispatcher)
        if os.path.isfile(function.__code__.co_filename):  # else it was typed into a notebook
            cache = KernelCache(function, options)
            COMPILING.register(cache)
            numba_internals.attach(dispatcher, cache)
        return dispatcher

else:

    def _compiled(function: Function, *, counts_references: bool) -> Function:
        return np.errstate(over="ignore")(function)  # compiled integers wrap around in silence too
