"""How long until the first step? A new process: import, make, reset, observe, step; cold (nothing compiled) and warm.

pip install -e ".[bench]" && python benchmarks/start_up.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time

from machine import machine

from pbm_envs import registered_games

FIRST_STEP = """
import numpy, pbm_envs.{name}_v0 as module
env = module.env()
env.reset(seed=1)
env.step(int(numpy.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
"""
PEERS = {
    "open_spiel hex": """
import pyspiel
state = pyspiel.load_game("hex(board_size=11)").new_initial_state()
state.observation_tensor()
state.apply_action(state.legal_actions()[0])
""",
    "pgx hex, not compiled": """
import jax, pgx
env = pgx.make("hex")
state = env.init(jax.random.PRNGKey(1))
env.step(state, state.legal_action_mask.argmax())
""",
    "pettingzoo connect_four_v3": """
import warnings
warnings.simplefilter("ignore")
import numpy
from pettingzoo.classic import connect_four_v3
env = connect_four_v3.env()
env.reset(seed=1)
env.step(int(numpy.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
""",
}
WARM = 5


def seconds(program: str, cache: str) -> float:
    start = time.perf_counter()
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": cache, "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    print(machine())
    print(f"\nseconds from the start of Python to the end of the first step; warm: median of {WARM}")
    print(f"{'':28} {'cold':>6} {'warm':>6}")
    programs = {f"pbm_envs {name}": FIRST_STEP.format(name=name) for name in registered_games()}
    for name, program in (programs | PEERS).items():
        with tempfile.TemporaryDirectory() as cache:
            cold = seconds(program, cache)
            warm = statistics.median(seconds(program, cache) for _ in range(WARM))
        print(f"{name:28} {cold:6.1f} {warm:6.1f}", flush=True)


if __name__ == "__main__":
    main()
