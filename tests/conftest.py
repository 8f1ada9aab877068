"""Tests of one game go to one process (`--dist loadgroup`), so that its kernels are compiled once."""

import os
import signal

import pytest
from pbm_agents.players import kinds, names  # noqa: F401  (names registers our kinds, which no test may undo)

from pbm_envs import games, registry

os.environ.setdefault("RAY_gcs_server_port_wait_time_s", "120")  # Ray waits 30 s, too short on a busy machine

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # run in the background: what the tests start would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in games():
            if name in item.nodeid.lower():
                own_folder = f"tests/{name}/" in item.nodeid  # Curio's is as long as all the rest
                item.add_marker(pytest.mark.xdist_group(f"{name} {'folder' if own_folder else 'shared'}"))
                break


@pytest.fixture(autouse=True)
def _registry_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Games and agents that a test registers are gone after it."""
    monkeypatch.setattr(registry, "_registered", dict(registry._registered))
    monkeypatch.setattr(kinds, "_registered", dict(kinds._registered))
