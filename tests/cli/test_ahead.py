"""The second process that compiles ahead: when it is started, that it works and says nothing, and that it ends."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from pbm_agents.play import ahead
from pbm_agents.play.ahead import compiling_ahead

from pbm_envs import Chameleon
from pbm_envs.core.compiling import COMPILING, Progress
from tests.commands import processes_with

GAME = Chameleon(size=3)
PATIENCE = 180
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    monkeypatch.setattr(ahead, "usable_cores", lambda: 2)


def compile_something():
    for running in (True, False):
        for listener in tuple(COMPILING.listeners):
            listener(Progress("the rules of chameleon", 0, 1, running))


def wait_for(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class Process:
    """In place of a process."""

    def __init__(self, **settings):
        self.games, self.calls = settings["args"][0], []
        made.append(self)

    def __getattr__(self, name):
        return lambda: self.calls.append(name)


made = []


@pytest.fixture
def processes(monkeypatch):
    made.clear()
    monkeypatch.setattr(ahead.multiprocessing, "get_context", lambda _: SimpleNamespace(Process=Process))
    return made


def test_it_is_started_once_and_only_if_something_is_compiled(processes):
    before = set(COMPILING.listeners)
    with compiling_ahead([GAME]):
        GAME.init(1, np.random.default_rng(0))
    compile_something()
    assert not processes
    with compiling_ahead([GAME]):
        compile_something()
        compile_something()
        [process] = processes
        assert process.games == [GAME]
        assert process.calls == ["start"]
    assert process.calls == ["start", "kill", "join"]
    assert before == COMPILING.listeners


@pytest.mark.parametrize(("name", "value"), [("usable_cores", lambda: 1), ("COMPILES", False)])
def test_it_is_not_started_where_it_would_not_help(monkeypatch, processes, name, value):
    monkeypatch.setattr(ahead, name, value)
    with compiling_ahead([GAME]):
        compile_something()
    assert not processes


def test_an_error_while_it_is_started_is_none_of_the_program_s(monkeypatch, processes):
    monkeypatch.setattr(Process, "start", lambda self: os.stat("/no/such/file"), raising=False)
    with compiling_ahead([GAME]):
        compile_something()


def test_a_step_that_fails_is_left(monkeypatch):
    taken = []

    def fail(game):
        raise ValueError(game)

    monkeypatch.setattr(ahead, "follow_parent", lambda: None)
    monkeypatch.setattr(ahead, "compile_search", fail)
    monkeypatch.setattr(ahead, "STEPS", {"one": fail, "two": taken.append})
    out, err = os.dup(1), os.dup(2)
    try:
        ahead._work([GAME])
    finally:
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(out)
        os.close(err)
    assert taken == [GAME]


ENDS = """
import os, time
from pathlib import Path
from types import SimpleNamespace
from pbm_agents.play import ahead
from pbm_envs import Chameleon
from pbm_envs.core.compiling import COMPILING, Progress
def main():
    ahead.usable_cores = lambda: 2
    with ahead.compiling_ahead([Chameleon(size=3)]):
        for listener in tuple(COMPILING.listeners):
            listener(Progress("the rules", 0, 1, True))
        {end}
if __name__ == "__main__":
    main()
"""


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_the_program(tmp_path, end):
    """However the program ends."""
    (tmp_path / "program.py").write_text(ENDS.format(end=end))
    environment = os.environ | {"MARK": str(tmp_path)}
    command = [sys.executable, str(tmp_path / "program.py")]
    done = subprocess.run(command, env=environment, timeout=PATIENCE, capture_output=True)
    assert done.returncode == (0 if end == "pass" else -signal.SIGKILL), done.stderr
    assert done.stdout + done.stderr == b"", "the second process says nothing"
    wait_for(lambda: not processes_with(f"MARK={tmp_path}"))


@LINUX
@pytest.mark.slow
def test_the_search_is_compiled_while_a_person_thinks(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", "pbm_agents.cli", "play", "chameleon", "person", "mcts", "-o", "size=3"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, env=environment, text=True, **pipes) as process:
        try:
            wait_for(lambda: list(tmp_path.glob("pbm_agents.search.waves.*.kernel")))
            out, err = process.communicate("", timeout=PATIENCE)
        finally:
            process.kill()
    assert (process.returncode, err.count("Traceback")) == (0, 0)
    assert "The game is left." in out
    assert "the tree search" not in err, "this process has compiled the rules alone"
    assert not processes_with(str(tmp_path))


@LINUX
@pytest.mark.slow
def test_the_demo_with_nothing_compiled(tmp_path):
    """Its parts come in order, and no process is left."""
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", "pbm_agents.cli.demo", "trinim"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=5 * PATIENCE, check=True)
    parts = ["Trinim: ", "what player_0 sees", "returns: ", "A tournament: ", "How to go on"]
    place = 0
    for part in parts:
        place = done.stdout.index(part, place)
    assert "Traceback" not in done.stderr
    assert not processes_with(str(tmp_path))
