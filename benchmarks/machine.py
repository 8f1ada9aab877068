"""What a figure was measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

from cpuinfo import get_cpu_info


def machine() -> str:
    """Processor, Python and the versions that matter, in two lines."""
    packages = ("pbm-envs", "numpy", "numba", "gymnasium", "pettingzoo")
    return (
        f"{get_cpu_info().get('brand_raw', 'unknown processor')}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}\n" + ", ".join(f"{name} {version(name)}" for name in packages)
    )
