"""The second process that compiles ahead: when it is started, that it works and says nothing, and that it ends."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from pbm_agents.champions import ChampionAgent
from pbm_agents.play import ahead
from pbm_agents.play.ahead import compile_search, compiling_ahead, searches
from pbm_agents.players.search_agents import SearchAgent

from pbm_envs import Chameleon
from pbm_envs.core.kernels import ANNOUNCEMENTS

GAME = Chameleon(size=3)
PATIENCE = 180
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    monkeypatch.setattr(ahead, "usable_cores", lambda: 2)


def compile_something():
    for done in (False, True):
        for listener in tuple(ANNOUNCEMENTS.listeners):
            listener("the rules of chameleon", done)


def wait_for(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def processes_with(variable):
    """Ids of the processes that have this text in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
    return found


class Started:
    """In place of a process."""

    def __init__(self):
        self.jobs = []

    def start(self, jobs):
        self.jobs.append(jobs)
        return self


def test_it_is_started_once_and_only_if_something_is_compiled(monkeypatch):
    started, ended = Started(), []
    monkeypatch.setattr(ahead, "_start", started.start)
    monkeypatch.setattr(ahead, "_end", ended.append)
    before = set(ANNOUNCEMENTS.listeners)
    with compiling_ahead([(print, ())]):
        GAME.init(1, np.random.default_rng(0))
    compile_something()
    assert not started.jobs
    with compiling_ahead([(print, ())]):
        compile_something()
        compile_something()
        assert started.jobs == [[(print, ())]]
        assert not ended
    assert ended == [started]
    assert before == ANNOUNCEMENTS.listeners


@pytest.mark.parametrize(("name", "value"), [("usable_cores", 1), ("cache_directory", None)])
def test_it_is_not_started_where_it_would_not_help(monkeypatch, name, value):
    monkeypatch.setattr(ahead, name, lambda: value)
    monkeypatch.setattr(ahead, "_start", pytest.fail)
    with compiling_ahead([(print, ())]):
        compile_something()


def test_an_error_while_it_is_started_is_none_of_the_program_s(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with compiling_ahead([(print, ())]):
        compile_something()


def test_a_job_that_fails_is_left_and_nothing_is_said(tmp_path, capfd):
    file = tmp_path / "done"
    jobs = [(int, ("no number",)), (print, ("noise",)), (Path.touch, (file,))]
    with compiling_ahead(jobs):
        compile_something()
        wait_for(file.exists)
    assert capfd.readouterr() == ("", "")


@LINUX
@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_the_program(tmp_path, end):
    """However the program ends."""
    program = f"""
import os, time
from pathlib import Path
from pbm_agents.play import ahead
from pbm_envs.core.kernels import ANNOUNCEMENTS
ahead.usable_cores = lambda: 2
file = Path({str(tmp_path)!r}, "started")
with ahead.compiling_ahead([(Path.touch, (file,)), (time.sleep, (600,))]):
    for listener in tuple(ANNOUNCEMENTS.listeners):
        listener("the rules", False)
    while not file.exists():
        time.sleep(0.05)
    {end}
"""
    mark = f"MARK={tmp_path}"
    environment = os.environ | {"MARK": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, timeout=PATIENCE, capture_output=True)
    assert done.returncode == (0 if end == "pass" else -signal.SIGKILL), done.stderr
    wait_for(lambda: not processes_with(mark), seconds=20)


def test_only_our_own_agents_that_read_no_file_are_asked():
    names = ["person", "mcts", "random", "mcts", "mcts:network=a.onnx", "tests.board.agents:Waiting", "champion"]
    assert searches(GAME, names) == [(compile_search, (name, GAME)) for name in ("mcts", "random", "champion")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mcts:simulations=1000000000", "ismcts:seconds=1000000", "champion:seconds=1000000"])
def test_a_search_is_short_whatever_its_budget(monkeypatch, name):
    asked = []
    for kind in (SearchAgent, ChampionAgent):
        act = kind.act
        monkeypatch.setattr(kind, "act", lambda *args, act=act: asked.append(1) or act(*args))
    compile_search(name, GAME)
    assert asked


def test_agents_that_do_not_search_are_not_asked(monkeypatch):
    monkeypatch.setattr(type(GAME), "init", pytest.fail)
    compile_search("random", GAME)


@LINUX
@pytest.mark.slow
def test_the_search_is_compiled_while_a_person_thinks(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor")
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", "pbm_agents.cli", "play", "chameleon", "person", "mcts", "-o", "size=3"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, env=environment, text=True, **pipes) as process:
        wait_for(lambda: list(tmp_path.glob("pbm_agents.search.waves.*.kernel")))
        out, err = process.communicate("", timeout=PATIENCE)
    assert (process.returncode, err.count("Traceback")) == (0, 0)
    assert "The game is left." in out
    assert "the tree search" not in err, "this process has compiled the rules alone"
    assert not processes_with(str(tmp_path))


@LINUX
@pytest.mark.slow
def test_the_demo_with_nothing_compiled(tmp_path):
    """Its parts come in order, and no process is left."""
    environment = os.environ | {"PBM_ENVS_CACHE_DIR": str(tmp_path)}
    words = [sys.executable, "-m", "pbm_agents.cli.demo", "trinim", "chameleon"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=5 * PATIENCE, check=True)
    parts = [
        "Trinim: ",
        "what player_0 sees",
        "returns: ",
        "Chameleon: ",
        "returns: ",
        "A tournament: ",
        "How to go on",
    ]
    place = 0
    for part in parts:
        place = done.stdout.index(part, place)
    assert "Traceback" not in done.stderr
    assert not processes_with(str(tmp_path))
