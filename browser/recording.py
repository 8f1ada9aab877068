"""Recording of the kernels that Python calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numba.core.dispatcher import Dispatcher


class Call(NamedTuple):
    """A call of a kernel."""

    kernel: Any
    arguments: tuple[Any, ...]


@contextmanager
def recorded() -> Iterator[list[Call]]:
    """Record calls of the games' kernels from Python. They must have been compiled for the arguments."""
    calls: list[Call] = []

    def recorder(kernel: Any) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            result = kernel(*arguments)
            calls.append(Call(kernel, arguments))
            return result

        return call

    named = [module for name, module in sys.modules.items() if name.startswith("pbm_")]
    found = [(vars(module), name, value) for module in named for name, value in vars(module).items()]
    kernels = [each for each in found if isinstance(each[2], Dispatcher) and each[2].__module__.startswith("pbm_envs.")]
    try:
        for namespace, name, kernel in kernels:
            namespace[name] = recorder(kernel)
        yield calls
    finally:
        for namespace, name, kernel in kernels:
            namespace[name] = kernel
