"""After `pbm warm-up` no documented command compiles anything."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from pbm_agents import Search
from pbm_agents.play.ahead import STEPS, compile_rules, compile_search

from pbm_envs import Chameleon, chameleon_v0
from pbm_envs.core.compiling import COMPILING
from pbm_envs.core.kernels import COMPILES
from tests.test_docs import COMMANDS, command_words, commands_of_pages

LEARNING = {"value_states", "feature_batch", "features_of", "is_live", "estimate", "link_moves"}
"""Kernels for scripts that learn."""
AUTHORS = {"begin_ply", "end_in_draw"}
"""Kernels for games of other authors."""
SAMPLING = {"sample_externally", "sample_outcomes", "match", "pick"}
"""Kernels of Monte Carlo CFR, which is for scripts."""
LARGE = {"mask_large_batch", "playout_large_batch"}
"""Kernels for boards of Curio with more cells than a step has."""
NOT_IN_COMMANDS = LEARNING | AUTHORS | SAMPLING | LARGE


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


EVERY_KERNEL = """
from pbm_agents import arena, equilibrium, exact
from pbm_agents.learning import small_network
from pbm_agents.play.ahead import STEPS
from pbm_envs import make_game, registered_games
from pbm_envs.core.compiling import COMPILING, SEARCH, SHARED, rules_of

for name in registered_games():
    for step in STEPS.values():
        step(make_game(name))
parts = {SHARED, SEARCH, *(rules_of(name) for name in registered_games())}
parts |= {f"pbm_agents.{name}" for name in ("arena", "champions", "equilibrium", "exact", "learning")}
print(*(name.rpartition(".")[2] for name in COMPILING.missing(parts)))
"""


@pytest.mark.slow
@pytest.mark.xdist_group("warm-up")
def test_its_steps_use_every_kernel(warm_cache, tmp_path):
    """Of the rules, the search and what commands use."""
    out, _ = run(EVERY_KERNEL, warm_cache, tmp_path)
    assert set(out.split()) <= NOT_IN_COMMANDS


def run(code, cache, folder):
    """Run a program in a folder with this cache; return what it wrote."""
    own = {"PBM_ENVS_CACHE_DIR": str(cache), "MINARI_DATASETS_PATH": str(folder / "minari")}
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=os.environ | paths | own, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, done.stderr


@pytest.fixture(scope="module")
def warm_cache(tmp_path_factory):
    """A cache after `pbm warm-up`, without the kernels of other tests."""
    folder = tmp_path_factory.mktemp("warm")
    cache = folder / "cache"
    out, err = run("from pbm_agents.cli.app import app; app(['warm-up', '--processes', '2'])", cache, folder)
    lines = out.splitlines()
    assert re.split(r"\s{2,}", lines[0].strip()) == list(STEPS)
    for name in ("Chameleon", "Curio", "Trinim", "Unlur"):
        [line] = [line for line in lines if line.startswith(f"{name}(")]
        assert len(re.findall(r"\d+\.\d s", line)) == len(STEPS)
    assert lines[-1].startswith("kept in ")
    assert f"{4 * len(STEPS)}/{4 * len(STEPS)}" in err, "the bar"
    return cache


COMMANDS_OF_A_PAGE = """
from pathlib import Path
from typer.testing import CliRunner
from pbm_agents.cli.app import app
cache = Path({cache!r})
before = set(cache.glob("*.kernel"))
for words in {commands!r}:
    done = CliRunner().invoke(app, words, input="resign\\n")
    assert done.exit_code == 0, (words, done.output)
    assert "compiling" not in done.stderr, words
    assert set(cache.glob("*.kernel")) == before, words
"""


@pytest.mark.slow
@pytest.mark.xdist_group("warm-up")
@pytest.mark.parametrize("page", commands_of_pages())
def test_documented_commands_compile_nothing_after_it(page, warm_cache, tmp_path):
    """Those of a page in one process, which has compiled nothing before."""
    commands = [command_words(line, tmp_path) for line in COMMANDS[page]]
    run(COMMANDS_OF_A_PAGE.format(cache=str(warm_cache), commands=commands), warm_cache, tmp_path)
