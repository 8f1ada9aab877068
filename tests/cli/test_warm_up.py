"""After `pbm warm-up` no documented command compiles anything."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from pbm_agents import Search
from pbm_agents.play.ahead import STEPS, compile_rules, compile_search

from pbm_envs import Chameleon, chameleon_v0
from pbm_envs.core.compiling import COMPILING, SEARCH, SHARED, rules_of
from pbm_envs.core.kernel_files import cache_directory
from pbm_envs.core.kernels import COMPILES

COMMANDS = (
    "play chameleon random mcts:simulations=20 -o size=7 --seed 7",
    "play curio mcts:simulations=20 champion:simulations=2 --seed 7",
    "play trinim random champion:simulations=20 random -o num_players=3",
    "play unlur random greedy -o radius=3",
    "tournament {folder}/run -a random -a mcts:simulations=20 -g chameleon:size=4 --openings 2",
    "rate {folder}/run",
    "sprt greedy random -g trinim --openings 4 --out {folder}/sprt",
    "exploit random -g curio-ladder-1",
    "bench trinim -o size=3 --seconds 0",
)
"""Short forms of commands that the documentation shows."""
NOT_IN_COMMANDS = {"value_states", "feature_batch", "features_of", "is_live"}
"""Kernels for scripts that learn the champions' weights, and for games of other authors."""


@pytest.mark.skipif(not COMPILES, reason="nothing is compiled")
def test_after_its_steps_environments_and_searches_compile_nothing(monkeypatch):
    """For other sizes, numbers of games, and arrays that cannot be written."""
    compile_rules(Chameleon(size=3))
    compile_search(Chameleon(size=3))
    monkeypatch.setattr(COMPILING, "begin", lambda kernel: pytest.fail(f"{kernel.name} is compiled"))
    env = chameleon_v0.env(size=5)
    env.reset(seed=1)
    env.step(0)
    envs = chameleon_v0.vector_env(4, size=4, opponent="random")
    _, info = envs.reset(seed=1)
    envs.step(info["action_mask"].argmax(axis=1))
    game, rng = Chameleon(size=5), np.random.default_rng(1)
    states = game.init(3, rng)
    Search(simulations=4).run(game, game.view(states, states["to_move"]), rng)


@pytest.mark.slow
def test_its_steps_use_every_kernel():
    """Of the rules, the search and what commands use; in this process, with the cache that all tests share."""
    from pbm_agents import arena, equilibrium, exact  # noqa: F401  (so that their kernels are known)

    from pbm_envs import make_game, registered_games

    for name in registered_games():
        for step in STEPS.values():
            step(make_game(name))
    parts = {SHARED, SEARCH, *(rules_of(name) for name in registered_games())}
    parts |= {f"pbm_agents.{name}" for name in ("arena", "champions", "equilibrium", "exact")}
    assert {name.rpartition(".")[2] for name in COMPILING.missing(parts)} <= NOT_IN_COMMANDS


@pytest.mark.slow
def test_documented_commands_compile_nothing_after_it(tmp_path):
    cache = tmp_path / "cache"  # of its own after the warm-up, since other tests write into the common one
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(cache_directory())}

    def run(words):
        command = [sys.executable, "-m", "pbm_agents.cli", *words.split()]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, done.stderr
        return done.stderr

    run("warm-up")
    shutil.copytree(cache_directory(), cache, copy_function=os.link, ignore=shutil.ignore_patterns("*.part", "*.lock"))
    cache.chmod(0o700)
    environment["PBM_ENVS_CACHE_DIR"] = str(cache)
    before = set(cache.glob("*.kernel"))
    for words in COMMANDS:
        assert "compiling" not in run(words.format(folder=tmp_path)), words
        assert set(cache.glob("*.kernel")) == before, words
