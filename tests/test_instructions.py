"""`int`, `min`, `max`, `np.empty` and `np.zeros` in kernels give what Numba's own give, and compile no functions."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba.core import config, event
from numba.core.cpu import CPUTargetOptions
from numpy.typing import NDArray

from pbm_envs.core.kernels import stack_kernel
from pbm_envs.core.numba_internals import mark_kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python")


def choose(a: Any, b: Any) -> Any:
    return min(a, b), max(a, b), int(a), int(a < b)


def allocate(rows: Any, columns: Any) -> Any:
    zeros, empty = np.zeros((rows, columns), np.int16), np.empty(rows, np.uint64)
    for k in range(rows):
        empty[k] = k
    return zeros, empty


@stack_kernel
def write_tables(count: int, squares: NDArray[np.int16], sums: NDArray[np.uint64]) -> None:
    """With arrays on the stack, of given and of constant lengths, one of them in a call that is made many times."""
    table, one = np.zeros((2, count), np.int16), np.empty(1, np.int64)
    for k in range(count):
        table[1, k] = k * k
    one[0] = 0
    for row in range(2):
        for k in range(count):
            squares[row, k] = table[row, k]
            one[0] += table[row, k]
    for k in range(count):
        sums[k] = sum_below(k)
    sums[count] = one[0]


@stack_kernel
def sum_below(count: int) -> int:
    numbers, total = np.zeros((count, 3), np.uint8), np.zeros(3, np.float64)
    for k in range(count):
        numbers[k, k % 3] = k
        for j in range(3):
            total[j] += numbers[k, j]
    return int(total[0] + total[1] + total[2])


def compiled(function: Any, *arguments: Any) -> tuple[Any, set[str]]:
    """What a function that is no kernel of a file returns, and the names of the functions compiled for it."""
    names = set()

    class Listener(event.Listener):  # type: ignore[misc, unused-ignore]
        def on_start(self, happened: Any) -> None:
            names.add(happened.data["dispatcher"].py_func.__qualname__)

        def on_end(self, happened: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        return function(*arguments), names


def as_kernel(function: Any) -> Any:
    dispatcher = numba.njit(function)
    mark_kernel(dispatcher)
    return dispatcher


@pytest.mark.parametrize(
    ("a", "b"), [(np.int8(-3), 5), (7, np.int8(7)), (np.uint8(200), np.uint8(3)), (np.int16(4), np.uint8(9))]
)
def test_numbers_are_those_of_numba(a: Any, b: Any) -> None:
    values, names = compiled(as_kernel(choose), a, b)
    assert values == numba.njit(choose)(a, b) == (min(a, b), max(a, b), int(a), int(a < b))
    assert names == {"choose"}


def test_types_are_those_of_numba() -> None:
    kernel, plain = as_kernel(choose), numba.njit(choose)
    for a, b in [(np.int8(1), np.int64(2)), (np.uint64(1), np.uint64(2)), (np.uint8(1), np.int32(2)), (1.5, 2)]:
        kernel(a, b), plain(a, b)
        assert kernel.nopython_signatures == plain.nopython_signatures


def test_arrays_are_those_of_numba() -> None:
    (zeros, empty), names = compiled(as_kernel(allocate), 5, 3)
    assert zeros.dtype == np.int16
    assert zeros.shape == (5, 3)
    assert not zeros.any()
    assert zeros.flags.c_contiguous
    assert zeros.flags.writeable
    assert empty.tolist() == [0, 1, 2, 3, 4]
    assert empty.dtype == np.uint64
    assert not any("ol_np" in name for name in names)


@pytest.mark.parametrize("count", [0, 1, 7, 200])
def test_arrays_on_the_stack_are_arrays(count: int) -> None:
    squares, sums = np.full((2, count), -1, np.int16), np.zeros(count + 1, np.uint64)
    write_tables(count, squares, sums)
    expected = np.arange(count, dtype=np.int32) ** 2
    assert squares[0].tolist() == [0] * count
    assert squares[1].tolist() == expected.astype(np.int16).tolist()
    assert sums.tolist() == [k * (k - 1) // 2 for k in range(count)] + [int(squares.astype(np.int64).sum()) % 2**64]


@stack_kernel
def make_row(count: int) -> NDArray[np.int64]:
    return np.zeros(count, np.int64)


@pytest.mark.skipif(not hasattr(CPUTargetOptions, "_nrt"), reason="arrays do not lie on the stack")
def test_a_kernel_cannot_return_an_array_that_lies_on_its_stack() -> None:
    with pytest.raises(numba.TypingError, match="Only accept returning of array passed into the function"):
        make_row(3)
