"""Kernels that other kernels call by address: the same results, and an error for arguments of other types."""

import numba
import numpy as np
import pytest

from pbm_envs.core.calls import call, call_for_flag, call_for_int, table_of_calls
from pbm_envs.core.kernels import kernel, stack_kernel

COUNT, ANY, FILL, FAIL = range(4)


@stack_kernel
def count_above(numbers, least):
    found = 0
    for number in numbers:
        found += number > least
    return found


@kernel
def any_above(numbers, least, *others):
    above = np.array([other > least for other in others])
    return bool((numbers > least).any() or above.any())


@kernel
def fill(numbers, pair):
    numbers[:] = pair[0] + pair[1].sum()


@kernel
def fail(numbers):
    if len(numbers) > 2:
        raise ValueError("too many")


@kernel
def use_all(calls, numbers, count, weights):
    some = numbers[:count]
    found = call_for_int(calls, COUNT, (some, 2))
    if call_for_flag(calls, ANY, (some, 2, count, count)):
        call(calls, FILL, (some, (count, weights)))
    call(calls, FAIL, (some,))
    return found


@kernel
def give_the_wrong(calls, numbers):
    return call_for_int(calls, COUNT, (numbers, numbers))


def table(numbers, weights):
    return table_of_calls(
        (count_above, (numbers, 1)),
        (any_above, (numbers, 1, (1, 1))),
        (fill, (numbers, (1, weights))),
        (fail, (numbers,)),
    )


def test_kernels_are_called_by_address():
    numbers, weights = np.arange(4), np.array([0.5, 1.5])
    calls = table(numbers, weights)
    assert use_all(calls, numbers, 2, weights) == 0
    assert numbers.tolist() == [0, 1, 2, 3], "none is above 2, nor is their number"
    numbers[1] = 3
    assert use_all(calls, numbers, 2, weights) == 1
    assert numbers.tolist() == [4, 4, 2, 3]


def test_errors_come_through():
    numbers, weights = np.arange(4), np.ones(2)
    with pytest.raises(ValueError, match="too many"):
        use_all(table(numbers, weights), numbers, 3, weights)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_arguments_of_other_types_are_refused():
    """Which would otherwise be read as what they are not."""
    numbers = np.arange(4)
    with pytest.raises(TypeError, match="other types"):
        give_the_wrong(table(numbers, np.ones(2)), numbers)
    with pytest.raises(TypeError, match="other types"):
        use_all(table(numbers.astype(np.int32), np.ones(2)), numbers, 2, np.ones(2))
