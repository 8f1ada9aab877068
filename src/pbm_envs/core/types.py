"""Types for annotations. Docstrings give the shapes, as `core.game` explains."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Planes: TypeAlias = NDArray[np.int8]
"""One or more observations: the last axes are (rows, cols, planes)."""
States: TypeAlias = NDArray[np.void]
"""(B,) records of a game: full states or views."""
Record: TypeAlias = np.void
"""One record."""
Rng: TypeAlias = np.random.Generator
Seeds: TypeAlias = NDArray[np.uint64]
"""(B,) random streams, one per row, advanced in place: see `core.randomness`."""
Tables: TypeAlias = tuple[Any, ...]
"""Arrays and numbers passed to the kernels of a game: its geometry and settings."""
