"""The logarithm and the exponential function in kernels, equal to the last bit on every machine and in WebAssembly.

The mathematical libraries of Linux, macOS, Windows and browsers round differently, and a search that compares scores
can then take another path. These functions use only operations that IEEE 754 defines exactly. Their error is below one
unit in the last place.
"""

from __future__ import annotations

import numpy as np

from .kernels import stack_kernel

LN2_HIGH, LN2_LOW, LOG2_E, ROOT = 6.93147180369123816490e-01, 1.90821492927058770002e-10, 1.4426950408889634, 2.0**0.5
MANTISSA_BITS, BIAS = np.int64(52), np.int64(1023)
MANTISSA, ONE = np.int64((1 << 52) - 1), np.int64(1023 << 52)
LEAST = -708.0
"""The least argument whose exponential is not rounded to 0."""


@stack_kernel
def log(x: float) -> float:
    """Return the natural logarithm of a finite number above 1e-307, by the algorithm of FreeBSD's `e_log.c`."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits >> MANTISSA_BITS) - BIAS
    mantissa = np.int64((bits & MANTISSA) | ONE).view(np.float64)
    if mantissa > ROOT:
        mantissa, exponent = mantissa * 0.5, exponent + 1
    f, k = mantissa - 1.0, np.float64(exponent)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01))
    odd = 1.818357216161805012e-01 + w * 1.479819860511658591e-01
    odd = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * odd))
    half = 0.5 * f * f
    return k * LN2_HIGH - ((half - (s * (half + (even + odd)) + k * LN2_LOW)) - f)


@stack_kernel
def exp(x: float) -> float:
    """Return e ** x for a number up to 708, by the algorithm of FreeBSD's `e_exp.c`; 0 below -708."""
    return exp_in_range(x) if x >= LEAST else 0.0


@stack_kernel
def exp_in_range(x: float) -> float:
    """Return e ** x for a number from -708 to 708. The compiler can make SIMD instructions of a loop over it."""
    whole = np.int32(LOG2_E * x + (0.5 if x > 0 else -0.5))  # not 64 bits, which few processors convert so
    k, multiple = np.int64(whole), np.float64(whole)
    high, low = x - multiple * LN2_HIGH, multiple * LN2_LOW
    r = high - low
    t = r * r
    c = 6.61375632143793436117e-05 + t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08)
    c = r - t * (1.66666666666666019037e-01 + t * (-2.77777777770155933842e-03 + t * c))
    y = 1.0 - ((low - (r * c) / (2.0 - c)) - high)
    return y * np.int64((k + BIAS) << MANTISSA_BITS).view(np.float64)
