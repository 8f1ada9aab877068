"""A second process that compiles what a program needs later, while the program compiles what it needs first."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numba.core import config

from pbm_envs import Game
from pbm_envs.core.kernel_files import cache_directory
from pbm_envs.core.kernels import ANNOUNCEMENTS

from ..arena.processes import usable_cores
from ..players.names import make_agent, may_be_named_on_the_web
from ..players.search_agents import SearchAgent

Job: TypeAlias = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function of a module, and its arguments; what it prints is lost."""
PROGRAM = "import sys; sys.path[:] = {path!r}; from pbm_agents.play.ahead import work; work()"
SIMULATIONS = 8
"""Of a search that is made to compile it."""


@contextmanager
def compiling_ahead(jobs: Sequence[Job]) -> Iterator[None]:
    """Do jobs in a second process once something is compiled within the `with` block, and end it with the block.

    What that process has compiled is found by this one; what both need at a time is compiled by one of them, and the
    other waits (`core.claims`). Where nothing has to be compiled, no process is started, nor where there is only one
    processor. The process says nothing, whatever happens in it, and ends with this one, however that ends.

    Args:
        jobs: One after the other; one that fails is left.
    """
    if usable_cores() < 2 or config.DISABLE_JIT or cache_directory() is None:
        yield
        return
    processes: list[subprocess.Popen[bytes]] = []

    def hear(part: str, done: bool) -> None:
        ANNOUNCEMENTS.listeners.discard(hear)
        if not processes:
            with suppress(Exception):  # it would only have been faster
                processes.append(_start(jobs))

    ANNOUNCEMENTS.listeners.add(hear)
    try:
        yield
    finally:
        ANNOUNCEMENTS.listeners.discard(hear)
        for process in processes:
            _end(process)


def searches(game: Game, names: Iterable[str]) -> list[Job]:
    """Return jobs that compile what agents of these names search with: those of ours that read no files."""
    return [(compile_search, (name, game)) for name in dict.fromkeys(names) if may_be_named_on_the_web(name)]


def compile_search(name: str, game: Game) -> None:
    """Search once, as an agent of this name does; nothing, if it does not search."""
    from ..champions import ChampionAgent  # only the second process needs it

    agent = make_agent(name)
    if isinstance(agent, SearchAgent):
        agent = SearchAgent(replace(agent.search, simulations=SIMULATIONS, seconds=None))
    elif isinstance(agent, ChampionAgent):
        agent = ChampionAgent(simulations=SIMULATIONS)
    else:
        return
    rng = np.random.default_rng(0)
    states = game.init(1, rng)
    agent.act(game, game.view(states, states["to_move"]), rng)


def _start(jobs: Sequence[Job]) -> subprocess.Popen[bytes]:
    """Start the process; Ctrl-C at the terminal is none of its business."""
    content = pickle.dumps(list(jobs))
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(path=sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(content)
    process.stdin.flush()  # and it stays open: when it is closed, the process ends
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()


def work() -> None:
    """What the process does: the jobs that it reads, for as long as the process that started it lives."""
    jobs: list[Job] = pickle.load(sys.stdin.buffer)

    def follow() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    threading.Thread(target=follow, daemon=True).start()
    for function, arguments in jobs:
        with suppress(Exception):
            function(*arguments)
