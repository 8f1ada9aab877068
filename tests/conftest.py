"""Tests of one game go to one process (`--dist loadgroup`), so that its kernels are compiled once."""

import signal

import pytest

from pbm_envs import GAMES

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # run in the background: what the tests start would ignore it too
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name in GAMES:
            if name in item.nodeid.lower():
                own_folder = f"tests/{name}/" in item.nodeid  # Curio's is as long as all the rest
                item.add_marker(pytest.mark.xdist_group(f"{name} {'folder' if own_folder else 'shared'}"))
                break
