"""Whether kernels are compiled: not with `NUMBA_DISABLE_JIT=1`, nor where Numba is not installed."""

from __future__ import annotations

import logging

try:
    from numba.core import config
except ImportError as error:
    logging.getLogger("pbm_envs").warning("kernels run as plain Python, hundreds of times slower: %s", error)
    COMPILES = False
else:
    COMPILES = not config.DISABLE_JIT
