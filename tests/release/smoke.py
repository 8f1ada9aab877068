"""Run by a Python with nothing but the package and its extra `cli`: `python smoke.py`, away from the source tree."""

import subprocess
import sys
import warnings
from importlib.resources import files
from pathlib import Path

import gymnasium
import numpy as np
import pbm_agents
from pbm_agents import Search, as_policy, make_agent

import pbm_envs
from pbm_envs import Chameleon, registered_games, sample_actions

SMALL = {name: dict(game.configurations[0]) for name, game in registered_games().items()}
"""The first configuration of each game is its smallest."""


def installed() -> None:
    for package in (pbm_envs, pbm_agents):
        place = Path(package.__file__ or "")
        assert place.is_relative_to(sys.prefix), f"{place} does not lie in {sys.prefix}"
        assert (files(package) / "py.typed").is_file()
    for name in registered_games():
        assert (files(pbm_envs) / "games" / name / "rules.md").read_text(encoding="utf-8").startswith("# ")


def match(name: str) -> None:
    """PettingZoo: random play, to the end."""
    module = __import__(f"pbm_envs.{name}_v0", fromlist=["env"])
    env, policy = module.env(**SMALL[name], render_mode="ansi"), as_policy(make_agent("random"), seed=7)
    env.reset(seed=7)
    for _ in env.agent_iter():
        env.step(policy(env))
    returns = env.unwrapped.states["returns"][0]
    assert env.unwrapped.states["done"].all()
    assert returns.sum() == 0
    print(env.render().splitlines()[-1], returns.tolist())


def vector(name: str) -> None:
    """Gymnasium: many games for some steps."""
    rng = np.random.default_rng(7)
    envs = gymnasium.make_vec(f"pbm/{registered_games()[name].__name__}-v0", num_envs=8, **SMALL[name])
    planes, info = envs.reset(seed=7)
    ended = 0
    for _ in range(30):
        planes, _, terminated, truncated, info = envs.step(sample_actions(info["action_mask"], rng))
        ended += int((terminated | truncated).sum())
    assert planes.shape == envs.observation_space.shape
    assert ended


def search() -> None:
    game, rng = Chameleon(size=3), np.random.default_rng(7)
    [result] = Search(simulations=20_000).run(game, game.init(1, rng), rng)
    assert result.proven, "the second player can always swap, and wins"
    assert result.value.tolist() == [-1, 1]


def commands() -> None:
    pbm = Path(sys.executable).with_name("pbm")
    for words in (["--help"], ["games"], ["play", "trinim", "random", "random", "-o", "size=3", "-o", "num_players=3"]):
        said = subprocess.run([pbm, *words], capture_output=True, text=True, check=False)
        assert said.returncode == 0, (words, said)
        assert said.stdout
        assert "Traceback" not in said.stderr


if __name__ == "__main__":
    warnings.simplefilter("error", UserWarning)
    installed()
    for name in registered_games():
        match(name)
        vector(name)
    search()
    commands()
    print(f"pbm_envs {pbm_envs.__version__} works in Python {sys.version.split()[0]}")
