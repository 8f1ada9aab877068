"""Resets over and over on the same object: memory must not grow."""

import gc
from pathlib import Path

import numpy as np
import pytest

from pbm_envs import make_game
from tests.environments import MODULES

VECTOR = 64
STATM = Path("/proc/self/statm")


def resets(kind, game):
    """What starts so many games, a multiple of VECTOR, with a ply in each."""
    module, rng = MODULES[game.name], np.random.default_rng(0)
    make = {"aec": module.raw_env, "vector": lambda: module.vector_env(VECTOR), "single": module.single_env}
    env = make[kind]() if kind in make else None

    def start(count):
        for k in range(count // VECTOR if kind == "vector" else count):
            seed = k if k % 2 else None
            if kind == "rules":
                states = game.init(1, rng)
                game.step(states, game.legal_action_mask(states).argmax(axis=1))
            elif kind == "aec":
                env.reset(seed=seed)
                env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
            else:
                mask = env.reset(seed=seed)[1]["action_mask"]
                env.step(mask.argmax(axis=-1))

    return start


@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="reads memory from Linux's /proc")
@pytest.mark.parametrize("kind", ["rules", "aec", "vector", "single"])
def test_resets_leave_nothing_behind(kind):
    """Sixty bytes kept of each reset would be noticed."""
    start, resident = resets(kind, make_game("curio")), []
    for _ in range(10):
        start(1024)
        gc.collect()
        resident.append(int(STATM.read_text().split()[1]) * 4096)
    assert resident[-1] - resident[0] < 1 << 19
