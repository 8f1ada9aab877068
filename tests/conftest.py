"""Tests of one game go to one process (`--dist loadgroup`), so that its kernels are compiled once."""

import gc
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from filelock import FileLock
from pbm_agents.players import kinds, names  # noqa: F401  (names registers our kinds, which no test may undo)

from pbm_envs import registered_games, registry
from pbm_envs.core.kernel_files import cache_directory

ROOT = Path(__file__).parents[1]
STARTS = 6
os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "120")  # Ray waits 30 s, too short on a busy machine

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # run in the background: what the tests start would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "wasm" in getattr(item, "fixturenames", ()):  # the other process does not wait for what is built
            item.add_marker(pytest.mark.xdist_group("wasm"))
            continue
        for name in registered_games():
            if name in item.nodeid.lower():
                own_folder = f"tests/{name}/" in item.nodeid  # Curio's is as long as all the rest
                item.add_marker(pytest.mark.xdist_group(f"{name} {'folder' if own_folder else 'shared'}"))
                break


@pytest.hookimpl(tryfirst=True)
def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A test module that cannot be imported is an error. (`--doctest-ignore-import-errors`, for modules of the package
    that need an extra, would leave it out in silence.)
    """
    is_test = Path(report.nodeid).name.startswith("test_")
    if is_test and report.skipped and "unable to import module" in str(report.longrepr):
        report.outcome = "failed"


@pytest.fixture(autouse=True)
def _registry_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games and agents that a test registers are gone after it."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(kinds, "_registered", dict(kinds._registered))


@pytest.fixture(autouse=True)
def _keys_of_tournaments(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tournament without a key plays the same games whenever the test is run."""
    numbers = itertools.count()
    drawn = SimpleNamespace(token_hex=lambda size: f"{next(numbers):0{2 * size}x}")
    monkeypatch.setattr("pbm_agents.arena.tournament.secrets", drawn)


@pytest.fixture(scope="session")
def wasm(tmp_path_factory):
    """The folder of the games as WebAssembly, built once for all processes, with the page of `make play` beside it.

    The variable PBM_ENVS_WASM names one that is built already: build/wasm after `make play`.
    """
    if built := os.environ.get("PBM_ENVS_WASM"):
        return Path(built)
    missing = [] if shutil.which("node") else ["Node"]
    missing += [] if importlib.util.find_spec("ziglang") else ["the extra `wasm`"]
    if missing:
        pytest.skip(f"needs Node and the extra `wasm`: there is no {' and no '.join(missing)}")
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "browser" / "wasm"
    folder.parent.mkdir(exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not (folder.parent / "site" / "play" / "offline.js").exists():
            for script in ("build.py", "play.py"):
                environment = os.environ | {"PBM_ENVS_WASM": str(folder)}
                command = [sys.executable, ROOT / "browser" / script]
                done = subprocess.run(command, capture_output=True, text=True, env=environment)
                assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def home_of_ray(tmp_path_factory):
    """Where Ray keeps a token, which it reads only once a process."""
    return tmp_path_factory.mktemp("ray")


def prepare_ray(home, monkeypatch):
    """Set Ray's variables here; return those of its processes."""
    variables = {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "src", ROOT / "agents")))}
    if cache_directory():  # not in this home: nothing is compiled anew
        variables["PBM_ENVS_CACHE_DIR"] = str(cache_directory())
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    return variables


def start_ray(start, stop, **settings):
    """Start a part of Ray, which gives up if that takes half a minute, as on a busy machine: it may try again.

    A test that uses it ignores warnings, Ray's own, of processes that a failed start leaves behind.
    """
    for number in range(STARTS):
        try:
            start(**settings)
            return
        except Exception as error:
            if number == STARTS - 1 or "timed out" not in str(error):
                raise
        stop()
        gc.collect()  # here, where warnings are ignored


@pytest.fixture
def ray(home_of_ray, monkeypatch):
    """Ray with two processors (see `start_ray`)."""
    ray = pytest.importorskip("ray")
    settings = {"address": "local", "runtime_env": {"env_vars": prepare_ray(home_of_ray, monkeypatch)}}
    start_ray(ray.init, ray.shutdown, num_cpus=2, include_dashboard=False, **settings)
    yield ray
    ray.shutdown()
    gc.collect()


@pytest.fixture
def cluster(home_of_ray, monkeypatch, tmp_path):
    """A Ray cluster of three nodes here (see `start_ray`), the first of which does no tasks; PBM_TESTS_MARK is set."""
    utils = pytest.importorskip("ray.cluster_utils")
    for name, value in prepare_ray(home_of_ray, monkeypatch).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PBM_TESTS_MARK", str(tmp_path / "mark"))
    cluster = utils.Cluster()
    for settings in ({"num_cpus": 0, "include_dashboard": False}, {"num_cpus": 1}, {"num_cpus": 1}):
        start_ray(cluster.add_node, lambda: None, **settings)
    yield cluster
    utils.ray.shutdown()
    cluster.shutdown()
    gc.collect()
