"""Curio's ladder: standard games of increasing size for research on hidden information, with exact solutions.

    pbm_envs.make_game("curio", **ladder(3))
    pettingzoo.make("aec", "pbm/curio-ladder-3-v0")

In these games, hidden information matters: not all games are drawn, the value is neither 0 nor that of a sure win, and
playing an equilibrium without mixing loses value. `docs/guides/exploitability.md` describes each game.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_UNTOLD = {"base": 2, "turn": False, "reveal_captured": False}
"""Options under which neither the capturing nor the captured piece reveals its other face."""

RUNGS: Mapping[int, Mapping[str, Any]] = MappingProxyType(
    {
        1: {**_UNTOLD, "rows": 2, "cols": 3, "face": "small", "capture": "gt", "turn": True, "no_capture_limit": 2},
        2: {**_UNTOLD, "rows": 2, "cols": 3, "face": "small", "capture": "gt", "turn": True, "no_capture_limit": 3},
        3: {**_UNTOLD, "rows": 2, "cols": 3, "no_capture_limit": 2},
        4: {**_UNTOLD, "rows": 2, "cols": 3, "face": "random", "no_capture_limit": 2},
        5: {**_UNTOLD, "rows": 2, "cols": 3, "face": "random", "reveal_captured": True, "no_capture_limit": 2},
        6: {**_UNTOLD, "rows": 2, "cols": 3, "no_capture_limit": 3},
        7: {**_UNTOLD, "rows": 2, "cols": 4, "no_capture_limit": 2},
        8: {"base": 2, "rows": 2, "cols": 4, "face": "random", "capture": "any", "turn": False, "no_capture_limit": 2},
    }
)
"""The options of each rung. They never change: a different game would get a different name."""


BENCH: Mapping[int, Mapping[str, Any]] = MappingProxyType(
    {
        1: {"base": 2, "rows": 2, "cols": 3, "no_capture_limit": 2},
        2: {"base": 2, "rows": 3, "cols": 3, "no_capture_limit": 2},
        3: {"base": 2, "rows": 2, "cols": 3, "no_capture_limit": 3},
        4: {"base": 2, "rows": 4, "cols": 3},
        5: {"base": 3, "rows": 4, "cols": 4},
        6: {},
    }
)
"""The options of `curio-bench-1` to `curio-bench-6`: Curio's default rules, on boards from 2x3, which can be solved, to
the default 5x5. Only sizes and the limit of plies without a capture differ. They never change either."""


def ladder(rung: int) -> dict[str, Any]:
    """Return the options of `curio-ladder-<rung>`, for `make_game("curio", ...)` and for the environments.

    >>> from pbm_envs import make_game
    >>> make_game("curio", **ladder(1)).options["capture"]
    'gt'
    """
    if rung not in RUNGS:
        raise ValueError(f"rung is {rung!r}: expected an integer from 1 to {len(RUNGS)}")
    return dict(RUNGS[rung])
