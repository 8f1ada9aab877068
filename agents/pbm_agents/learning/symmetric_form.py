"""Of all symmetric forms of a position one is chosen: the same whatever form is given, on any device."""

from __future__ import annotations

import numpy as np

from pbm_envs.authoring import Ints
from pbm_envs.toolbox import Floats

WEIGHT = 131
"""Greatest weight of a number of an observation: sums of so many are exact in single precision."""


def form_weights(places: Ints) -> Floats:
    """(2, N, S) float32: an observation's weight under each symmetry, in two parts, of which the first counts first.

    Weights as good as random, and always the same: small whole numbers, whose sums are exact on any device.

    Args:
        places: (S, N) where in an observation each number comes from, as `symmetry_tables` says.
    """
    size = places.shape[1]
    weights = np.zeros((2, size, len(places)), np.float32)
    sines = np.sin(np.arange(1, size + 1, dtype=np.float64)[None] ** 2 + [[1.0], [2.0]])
    for k, come_from in enumerate(places):
        weights[:, come_from, k] = np.round(WEIGHT * sines)
    return weights
