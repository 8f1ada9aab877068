"""Fixtures of the tests that train."""

import pytest


@pytest.fixture
def one_thread():
    """PyTorch computes on one thread: more wait for each other on a busy machine."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
