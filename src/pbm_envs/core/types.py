"""The types that annotations name everywhere. Shapes stand beside them, as `core.game` explains."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Planes: TypeAlias = NDArray[np.int8]
"""An observation, or several: (rows, cols, planes) last."""
States: TypeAlias = NDArray[np.void]
"""(B,) records of a game: full states or views."""
Record: TypeAlias = np.void
"""One record."""
Rng: TypeAlias = np.random.Generator
Seeds: TypeAlias = NDArray[np.uint64]
"""(B,) random streams, one a row, advanced in place: see `core.randomness`."""
Tables: TypeAlias = tuple[Any, ...]
"""Arrays and numbers that the kernels of a game are given: its geometry and settings."""
