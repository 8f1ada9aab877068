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


class Exits(Wicked):
    def strike(self):
        sys.exit(0)


class Surrogate(Wicked):
    def strike(self):
        raise ValueError("a lone \ud800 and a terminal's \x1b[2J\nescape")


class CannotBeSaid(Wicked):
    def strike(self):
        raise UnspeakableError


class Generator(Wicked):
    def strike(self):
        raise GeneratorExit


class Long(Wicked):
    def strike(self):
        raise ValueError("x" * 10_000_000)


class Interrupts(Wicked):
    """Only in a worker: in the process of the tournament it is Ctrl-C."""

    def strike(self):
        raise KeyboardInterrupt


class Dies(Wicked):
    def strike(self):
        os._exit(9)


class Segfaults(Wicked):
    def strike(self):
        ctypes.string_at(0)


class Hangs(Wicked):
    def strike(self):
        time.sleep(1000)


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


class KilledOnce(Wicked):
    """By SIGKILL, as if from outside, if the file that PBM_TESTS_MARK names is not there yet."""

    def strike(self):
        mark = Path(os.environ["PBM_TESTS_MARK"])
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class Faulty(Wicked):
    """Fails by a fault of the infrastructure, until the file that PBM_TESTS_MARK names is there."""

    def act(self, game, views, rng):
        return super().act(game, views, rng) if not repaired() else RandomAgent.act(self, game, views, rng)


class Unreachable(Faulty):
    def strike(self):
        raise InfrastructureError("the server is away")


class NoFile(Faulty):
    def strike(self):
        Path(os.environ["PBM_TESTS_MARK"]).read_bytes()


class NoMemory(Faulty):
    def strike(self):
        np.empty(1 << 50, np.int8)


class Killed(Faulty):
    """By SIGKILL, as by a system that is short of memory."""

    def strike(self):
        os.kill(os.getpid(), signal.SIGKILL)


class NoNetworkFile(RandomAgent):
    """Reads the file that PBM_TESTS_MARK names when it is made, as agents read their networks."""

    def __init__(self):
        Path(os.environ["PBM_TESTS_MARK"]).read_bytes()


def repaired():
    return Path(os.environ["PBM_TESTS_MARK"]).exists()
