"""Random numbers inside kernels: SplitMix64 (Steele, Lea & Flood 2014), one stream a row.

`seeds(rng, n)` draws a start for each row from NumPy's generator; so what happens to a row does not depend on the rows
beside it, and a kernel call need not unpack a `Generator` (20 microseconds, ten times the rest of a small call).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .kernels import kernel

Seeds = NDArray[np.uint64]

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_30, SHIFT_27, SHIFT_31, SHIFT_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
UNIT = 2.0**-53


def seeds(rng: np.random.Generator, count: int) -> Seeds:
    """(count,)"""
    return rng.bit_generator.random_raw(count)


@kernel
def draw(seeds: Seeds, row: int, count: int) -> int:
    """An integer in 0..count-1, all equally likely (to within 2**-53)."""
    seeds[row] += STEP
    mixed = seeds[row]
    mixed = (mixed ^ (mixed >> SHIFT_30)) * MIX_1
    mixed = (mixed ^ (mixed >> SHIFT_27)) * MIX_2
    mixed = mixed ^ (mixed >> SHIFT_31)
    return int(float(mixed >> SHIFT_11) * UNIT * count)
