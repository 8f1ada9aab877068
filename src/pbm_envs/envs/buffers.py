"""Memory for observations and masks that other libraries read without a copy.

Arrays begin at multiples of 64 bytes, since JAX copies others. PyTorch tensors share the memory (extra `torch`):

    envs = chameleon_v0.vector_env(1024, buffers="torch", copy=False, pin_memory=True)
    planes, info = envs.reset(seed=7)                     # tensors; the next step overwrites them
    on_gpu = planes.to("cuda", non_blocking=True)         # one asynchronous copy, from pinned memory

The next step must not overwrite a buffer that a GPU is still reading: wait for the copy before `step`, or alternate
between two environments with half the games each, so that one plays while the other's observations are copied (double
buffering: `docs/guides/loops/double_buffering.py`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.checks import import_extra

ALIGNMENT = 64
"""The alignment in bytes that XLA, and so JAX, requires of memory that it does not copy."""


def aligned(shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    """Return an uninitialized array of one-byte numbers, aligned to `ALIGNMENT`."""
    memory = np.empty(math.prod(shape) + ALIGNMENT, np.int8)
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % ALIGNMENT)


def import_torch() -> Any:
    return import_extra("torch", "buffers='torch' needs PyTorch", "torch")


def pinned(shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    """Return zeros in page-locked memory, which a GPU copies asynchronously; raise ValueError without a GPU."""
    torch = import_torch()
    try:
        memory = torch.zeros(shape, dtype=torch.int8, pin_memory=True)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"pin_memory is True, but memory cannot be pinned here ({reason}): expected a GPU") from error
    return memory.numpy().view(dtype)


def as_tensors(value: Any) -> Any:
    """Return arrays as tensors that share their memory, also inside tuples, dicts and arrays of arrays."""
    torch = import_torch()
    if isinstance(value, np.ndarray):
        if value.dtype != object:
            return torch.from_numpy(value)
        tensors = np.full(len(value), None, object)
        for row, one in enumerate(value):
            if one is not None:
                tensors[row] = torch.from_numpy(one)
        return tensors
    if isinstance(value, dict):
        return {name: as_tensors(one) for name, one in value.items()}
    return tuple(as_tensors(one) for one in value) if isinstance(value, tuple) else value


def as_array(actions: Any) -> Any:
    """Return actions in memory that NumPy can read, also those of a tensor on any device."""
    return actions.detach().cpu() if hasattr(actions, "detach") else actions
