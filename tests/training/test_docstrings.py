"""Code in the docstrings of what is made for other libraries runs (the rest: `tests/test_docs.py`)."""

import importlib

import pytest
from pbm_agents import Search, make_agent

from pbm_envs import Chameleon, Curio, chameleon_v0

pytestmark = [pytest.mark.libraries, pytest.mark.filterwarnings("default")]  # whatever the library warns of
LIBRARIES = {
    "pbm_agents.learning.network": "torch",
    "pbm_agents.learning.recurrent": "torch",
    "pbm_agents.learning.trainer": "torch",
    "pbm_envs.adapters.sb3": "sb3_contrib",
    "pbm_envs.adapters.rllib": "ray",
}
"""Which library the module needs."""


@pytest.mark.parametrize("name", LIBRARIES)
def test_code_in_the_docstring_runs(name, tmp_path, monkeypatch):
    library = pytest.importorskip(LIBRARIES[name])
    names = {
        "Chameleon": Chameleon,
        "Curio": Curio,
        "chameleon_v0": chameleon_v0,
        "Search": Search,
        "make_agent": make_agent,
    }
    if library.__name__ == "sb3_contrib":
        names["MaskablePPO"] = library.MaskablePPO
        names["RecordEpisodeStatistics"] = importlib.import_module("gymnasium.wrappers.vector").RecordEpisodeStatistics
    if library.__name__ == "ray":
        names["register_env"] = importlib.import_module("ray.tune.registry").register_env
        names["PPOConfig"] = importlib.import_module("ray.rllib.algorithms.ppo").PPOConfig
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    code = "\n".join(line[4:] for line in module.__doc__.splitlines() if line.startswith("    "))
    assert code
    exec(compile(code, name, "exec"), vars(module) | names)
