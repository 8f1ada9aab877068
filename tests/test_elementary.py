"""Logarithm and exponential function in kernels: close to those of the library, and the same bits everywhere."""

import math

import numpy as np
import pytest

from pbm_envs.core.elementary import exp, log

ULP = 2.0**-52


def test_log_is_accurate():
    numbers = [*range(1, 3000), *np.geomspace(1e-300, 1e300, 3001).tolist(), 0.5, math.sqrt(2), 1 - ULP, 1 + ULP]
    assert all(abs(log(float(x)) - math.log(x)) <= ULP * max(abs(math.log(x)), ULP) for x in numbers)


def test_exp_is_accurate():
    numbers = [*np.linspace(-708, 708, 5001).tolist(), *np.linspace(-1, 1, 2001).tolist()]
    assert all(abs(exp(x) - math.exp(x)) <= ULP * math.exp(x) for x in numbers)
    assert exp(-708.5) == exp(-1e9) == exp(-math.inf) == 0


@pytest.mark.parametrize(
    ("function", "argument", "bits"),
    [
        (log, 3.0, "0x1.193ea7aad030ap+0"),
        (log, 48.0, "0x1.ef8383c50bb74p+1"),
        (exp, -0.1, "0x1.cf46d99d52b3ap-1"),
        (exp, -5.3, "0x1.47210c95c89b1p-8"),
        (exp, 1.0, "0x1.5bf0a8b14576ap+1"),
    ],
)
def test_bits_are_the_same_everywhere(function, argument, bits):
    """The bits that this machine found: another one, or a browser, has to find them too."""
    assert float(function(argument)).hex() == bits
