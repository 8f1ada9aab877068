"""An adapter without its library says what to install."""

import importlib
import sys

import pytest


@pytest.mark.parametrize(
    ("adapter", "library", "install"),
    [("sb3", "stable_baselines3", "pip install sb3-contrib"), ("rllib", "ray", r"pip install 'ray\[rllib\]'")],
)
def test_what_to_install(adapter, library, install, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"pbm_envs.adapters.{adapter}", raising=False)
    with pytest.raises(ImportError, match=install):
        importlib.import_module(f"pbm_envs.adapters.{adapter}")
