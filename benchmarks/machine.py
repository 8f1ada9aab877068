"""The machine on which a figure was measured."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

from cpuinfo import get_cpu_info


def machine() -> str:
    """Return the processor, Python and the versions of the main libraries, in two lines."""
    packages = ("pbm-envs", "numpy", "numba", "gymnasium", "pettingzoo")
    return (
        f"{get_cpu_info().get('brand_raw', 'unknown processor')}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}\n" + ", ".join(f"{name} {version(name)}" for name in packages)
    )
