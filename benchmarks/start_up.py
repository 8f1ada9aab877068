"""How long until the first step? A new process: import, make, reset, observe, step; cold (nothing compiled) and warm.

python benchmarks/start_up.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from machine import machine

from pbm_envs import GAMES

FIRST_STEP = """
import numpy, pbm_envs.{name}_v0 as module
env = module.env()
env.reset(seed=1)
env.step(int(numpy.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
"""
WARM = 5


def seconds(name: str, cache: str) -> float:
    start = time.perf_counter()
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": cache}
    subprocess.run(
        [sys.executable, "-c", FIRST_STEP.format(name=name)], env=environment, check=True, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - start


def main() -> None:
    print(machine())
    print(f"\nseconds from the start of Python to the end of the first step; warm: median of {WARM}")
    print(f"{'':12} {'cold':>6} {'warm':>6}")
    for name in GAMES:
        with tempfile.TemporaryDirectory() as cache:
            cold = seconds(name, cache)
            warm = statistics.median(seconds(name, cache) for _ in range(WARM))
        print(f"{name:12} {cold:6.1f} {warm:6.1f}")


if __name__ == "__main__":
    main()
