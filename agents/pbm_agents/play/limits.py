"""Limits on the resources that a page may use on the machine that serves it."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from pbm_envs import Game
from pbm_envs.toolbox import setting

from ..players.names import make_agent_for, may_be_named_on_the_web
from ..search import Search
from ..search.tree import Layout, node_bytes
from ..search.workspace import allocate_buffers
from .session import PERSON

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The largest resources that an agent named on a page may request."""

    simulations: int = setting(100_000, low=1, help="Maximum simulations per move of an agent chosen on the page.")
    seconds: float = setting(60.0, low=0.1, help="Maximum seconds per move of any agent. Longer searches end early.")
    memory: int = setting(1024, low=1, help="Maximum MiB for the search trees of an agent chosen on the page.")
    threads: int = setting(1, low=1, help="Maximum threads of an agent chosen on the page.")
    own_agents: Collection[str] = ()
    """Agents without limits, which were named when the server was started."""

    def check(self, name: str, game: Game) -> None:
        """Raise ValueError if a page may not name this agent, or it exceeds a limit, or cannot play the game."""
        if name == PERSON:
            return
        if name in self.own_agents:
            make_agent_for(name, game)
            return
        if not may_be_named_on_the_web(name):
            raise ValueError(
                f"{name!r} may not be chosen here (a file, a module, a setting of the machine): expected an agent that "
                "is named where the server is started, or another"
            )
        agent: Any = make_agent_for(name, game)
        search, worlds = getattr(agent, "search", None), int(getattr(agent, "worlds", 1))
        asked: dict[str, float] = {"simulations": int(getattr(agent, "simulations", 0)) or worlds}
        if isinstance(search, Search):
            asked = {
                "simulations": _simulations(search) * worlds,
                "seconds": (search.seconds or 0.0) * worlds,
                "threads": search.threads,
                "memory": _mebibytes(search, game, worlds),
            }
        for what, amount in asked.items():
            most = getattr(self, what)
            if amount > most:
                unit = " MiB" if what == "memory" else ""
                raise ValueError(
                    f"{name!r} asks for {what}: {amount:,.6g}{unit}; expected at most {most:,.6g}{unit}, a limit that "
                    "is set where the server is started"
                )


def _mebibytes(search: Search, game: Game, worlds: int) -> float:
    """Return the memory of a search in MiB: its trees and its parallel simulations."""
    trees = search.trees or 1
    at_once = sum(array.nbytes for array in allocate_buffers(game, 1, Layout(priors=True, rave=True)))
    running = at_once * search.simulations_at_once * trees * worlds / MEBIBYTE
    if search.simulations is None:
        return max(search.memory, running)
    hidden = not game.perfect_information and worlds == 1
    node = node_bytes(game, Layout(hidden=hidden, rave=True))  # a simulation makes at most one node
    return (2 * trees + _simulations(search)) * (1 + search.reuse) * node * worlds / MEBIBYTE + running


def _simulations(search: Search) -> int:
    """Return the number of simulations in all trees of a position."""
    trees = search.trees or 1
    return trees * math.ceil((search.simulations or 1) / trees)
