"""Early end of searches, before their budget is spent: a board was closed, or its time is up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

IsOver: TypeAlias = Callable[[], bool]

_is_over: ContextVar[IsOver | None] = ContextVar("_is_over", default=None)


@contextmanager
def end_searches_when(is_over: IsOver) -> Iterator[None]:
    """End searches run in this block and thread as soon as `is_over()` is true, with their results so far.

    They call it after every simulation, or batch of simulations, and make at least one. Evaluators are not interrupted.

    >>> import threading
    >>> import numpy as np
    >>> from pbm_agents import Search
    >>> from pbm_envs import Chameleon
    >>> game, rng, closed = Chameleon(size=3), np.random.default_rng(0), threading.Event()
    >>> closed.set()
    >>> with end_searches_when(closed.is_set):
    ...     [result] = Search(simulations=1_000_000, parallel_simulations=1).run(game, game.init(1, rng), rng)
    >>> result.simulations
    1
    """
    token = _is_over.set(is_over)
    try:
        yield
    finally:
        _is_over.reset(token)


def ending() -> IsOver | None:
    """Return the condition that ends searches in this thread, or None if there is none."""
    return _is_over.get()
