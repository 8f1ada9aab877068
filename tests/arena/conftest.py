"""Ray on this machine."""

import gc
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STARTS = 3


@pytest.fixture(scope="session")
def home_of_ray(tmp_path_factory):
    """Where Ray keeps a token, which it reads only once a process."""
    return tmp_path_factory.mktemp("ray")


@pytest.fixture
def ray(home_of_ray, monkeypatch):
    """Ray with two processors. It gives up if its start takes half a minute, as on a busy machine: it may try again.

    A test that uses it ignores warnings, Ray's own, of processes that a failed start leaves behind.
    """
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("HOME", str(home_of_ray))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    for start in range(STARTS):
        try:
            ray.init(num_cpus=2, include_dashboard=False, runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}})
            break
        except Exception as error:
            if start == STARTS - 1 or "timed out" not in str(error):
                raise
        ray.shutdown()
        gc.collect()  # here, where warnings are ignored
    yield ray
    ray.shutdown()
    gc.collect()
