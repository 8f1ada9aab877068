"""Recording of the kernels that Python calls."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from boards import CHAMPIONS
from numba.core.dispatcher import Dispatcher
from pbm_agents import make_agent

from pbm_envs import Game
from pbm_envs.core import layouts

CHAMPION = "champion:simulations=60"


class Call(NamedTuple):
    """A call of a kernel."""

    kernel: Any
    arguments: tuple[Any, ...]
    before: list[Any]
    """The flattened arguments before the call, if copies were wanted."""
    after: list[Any]
    """And after it."""


def leaves(arguments: Any) -> list[Any]:
    """Return the arguments of a kernel with tuples flattened."""
    return [leaf for each in arguments for leaf in (leaves(each) if isinstance(each, tuple) else [each])]


def copy_of(array: Any) -> Any:
    """Return a copy with the same bytes between fields too, which `copy` does not set."""
    return np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape)


def layout_of(array: Any) -> Any:
    """Return the layout of a batch of records of a game, or None for another array."""
    known = layouts._registered.get(array.dtype) if array.ndim == 1 and array.dtype.names else None
    return None if known is None else known[2]


@contextmanager
def recorded(modules: tuple[str, ...] = ("pbm_envs.",), *, copies: bool = False) -> Iterator[list[Call]]:
    """Record calls of the kernels of these modules from Python. They must have been compiled for the arguments."""
    calls: list[Call] = []

    def copied(arguments: Any) -> list[Any]:
        return [copy_of(each) if isinstance(each, np.ndarray) else each for each in leaves(arguments)] if copies else []

    def recorder(kernel: Any) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            before = copied(arguments)
            result = kernel(*arguments)
            calls.append(Call(kernel, arguments, before, copied(arguments)))
            return result

        return call

    named = [module for name, module in sys.modules.items() if name.startswith("pbm_")]
    found = [(vars(module), name, value) for module in named for name, value in vars(module).items()]
    kernels = [each for each in found if isinstance(each[2], Dispatcher) and each[2].__module__.startswith(modules)]
    try:
        for namespace, name, kernel in kernels:
            namespace[name] = recorder(kernel)
        yield calls
    finally:
        for namespace, name, kernel in kernels:
            namespace[name] = kernel


def champion_calls(game: Game, *, copies: bool = False) -> dict[str, list[Call]]:
    """Return calls of the kernels that the champion uses in one game, except those of its tree search, by name."""
    found: dict[str, list[Call]] = {}
    rng = np.random.default_rng(5)
    states = game.init(1, rng)
    while not states["done"][0]:
        views = game.view(states, states["to_move"])
        make_agent(CHAMPION).act(game, views, np.random.default_rng(0))  # compiles
        with recorded(CHAMPIONS, copies=copies) as calls:
            make_agent(CHAMPION).act(game, views, np.random.default_rng(0))
        for call in calls:
            found.setdefault(call.kernel.py_func.__name__, []).append(call)
        game.step(states, [rng.choice(np.flatnonzero(game.legal_action_mask(states)[0]))])
    return found
