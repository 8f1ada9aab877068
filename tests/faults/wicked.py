"""Agents that try to take the tournament with them. All are random agents until ply 2 of a game."""

import ctypes
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from pbm_agents import InfrastructureError, RandomAgent

from pbm_envs.envs.memory import AgentWithMemory


class UnspeakableError(Exception):
    """Cannot be turned into text."""

    def __str__(self):
        raise self


class Wicked(RandomAgent):
    def act(self, game, views, rng):
        if (views["ply"] >= 2).any():
            self.strike()
        return super().act(game, views, rng)

    def strike(self):
        raise NotImplementedError


class Faulty(Wicked):
    """Fails by a fault of the infrastructure, until the file that PBM_TESTS_MARK names is there."""

    def act(self, game, views, rng):
        return RandomAgent.act(self, game, views, rng) if mark().exists() else super().act(game, views, rng)


def mark():
    return Path(os.environ["PBM_TESTS_MARK"])


def throw(error):
    raise error


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def kill_once():
    if not mark().exists():
        mark().touch()
        kill()


def striking(strike, base=Wicked):
    """A class of agents that do this at ply 2."""
    return type("Striking", (base,), {"strike": staticmethod(strike)})


Exits = striking(lambda: sys.exit(0))
Surrogate = striking(lambda: throw(ValueError("a lone \ud800 and a terminal's \x1b[2J\nescape")))
CannotBeSaid = striking(lambda: throw(UnspeakableError()))
Generator = striking(lambda: throw(GeneratorExit()))
Long = striking(lambda: throw(ValueError("x" * 10_000_000)))
Interrupts = striking(lambda: throw(KeyboardInterrupt()))  # only in a worker: in the tournament's process it is Ctrl-C
Dies = striking(lambda: os._exit(9))
Segfaults = striking(lambda: ctypes.string_at(0))
Hangs = striking(lambda: time.sleep(1000))
KilledOnce = striking(kill_once)  # as if from outside
Unreachable = striking(lambda: throw(InfrastructureError("the server is away")), Faulty)
NoFile = striking(lambda: mark().read_bytes(), Faulty)
NoMemory = striking(lambda: np.empty(1 << 50, np.int8), Faulty)
Killed = striking(kill, Faulty)  # as by a system that is short of memory


class DiesInWorkers(RandomAgent):
    """Can be made by the tournament, and by no worker."""

    def __init__(self):
        if multiprocessing.parent_process() is not None:
            os._exit(4)


class Counts(RandomAgent):
    """Fails only about one of the games."""

    def act(self, game, views, rng):
        if ((views["ply"] == 2) & (views["last_action"] % 2 == 0)).any():
            os._exit(9)
        return super().act(game, views, rng)


class NoNetworkFile(RandomAgent):
    """Reads the file that PBM_TESTS_MARK names when it is made, as agents read their networks."""

    def __init__(self):
        mark().read_bytes()


class Remembering(AgentWithMemory):
    """A random agent with memory, which fails in one of its other methods."""

    where = ""

    @staticmethod
    def strike():
        raise NotImplementedError

    def begin_games(self, game, ids):
        self._reach("begin_games")

    def watch(self, game, views, ids, note=None):
        if views["ply"][0] >= 2:
            self._reach("watch")

    def end_games(self, ids):
        self._reach("end_games")

    def act(self, game, views, rng, ids):
        return RandomAgent().act(game, views, rng)

    def _reach(self, where):
        if where == self.where and not mark().exists():
            self.strike()


def forgetful(where, strike):
    """A class of agents that do this in a method other than `act`."""
    return type("Forgetful", (Remembering,), {"where": where, "strike": staticmethod(strike)})


WHERE = ("begin_games", "watch", "end_games")
HOW = {
    "raises": lambda: throw(ZeroDivisionError("nothing kept")),
    "exits": lambda: sys.exit(3),
    "dies": lambda: os._exit(9),
    "away": lambda: throw(InfrastructureError("the server is away")),
}
globals().update({f"{where}_{how}": forgetful(where, HOW[how]) for where in WHERE for how in HOW})
