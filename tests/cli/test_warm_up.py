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
from tests.test_docs import COMMANDS, command_words, commands_of_pages

LEARNING = {"value_states", "feature_batch", "features_of", "is_live"}
"""Kernels for scripts that learn the champions' weights, and for games of other authors."""
SAMPLING = {"sample_externally", "sample_outcomes", "match", "pick"}
"""Kernels of Monte Carlo CFR, which is for scripts."""
LARGE = {"mask_large_batch", "playout_large_batch"}
"""Kernels for boards of Curio with more cells than a step has; they are known once another test has such a board."""
NOT_IN_COMMANDS = LEARNING | SAMPLING | LARGE


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
    from pbm_agents.learning import small_network  # noqa: F401

    from pbm_envs import make_game, registered_games

    for name in registered_games():
        for step in STEPS.values():
            step(make_game(name))
    parts = {SHARED, SEARCH, *(rules_of(name) for name in registered_games())}
    parts |= {f"pbm_agents.{name}" for name in ("arena", "champions", "equilibrium", "exact", "learning")}
    assert {name.rpartition(".")[2] for name in COMPILING.missing(parts)} <= NOT_IN_COMMANDS


def pbm(words, cache, folder):
    """Run a command in a folder with this cache; return what it wrote to stderr."""
    own = {"PBM_ENVS_CACHE_DIR": str(cache), "MINARI_DATASETS_PATH": str(folder / "minari")}
    command = [sys.executable, "-m", "pbm_agents.cli", *words]
    done = subprocess.run(command, env=os.environ | own, cwd=folder, capture_output=True, text=True, input="resign\n")
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def warm_cache(tmp_path_factory):
    """A copy of the cache after `pbm warm-up`, since other tests write into the common one."""
    folder = tmp_path_factory.mktemp("warm")
    pbm(["warm-up"], cache_directory(), folder)
    cache = folder / "cache"
    shutil.copytree(cache_directory(), cache, copy_function=os.link, ignore=shutil.ignore_patterns("*.part", "*.lock"))
    cache.chmod(0o700)
    return cache


@pytest.mark.slow
@pytest.mark.parametrize("page", commands_of_pages())
def test_documented_commands_compile_nothing_after_it(page, warm_cache, tmp_path):
    before = set(warm_cache.glob("*.kernel"))
    for line in COMMANDS[page]:
        assert "compiling" not in pbm(command_words(line, tmp_path), warm_cache, tmp_path), line
        assert set(warm_cache.glob("*.kernel")) == before, line
