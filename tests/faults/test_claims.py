"""Several processes with one empty cache: each kernel is compiled once, whatever happens to one of them."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import pbm_envs

pytestmark = pytest.mark.slow

RULES = """
from pbm_envs.core.kernels import kernel

@kernel
def inner(n):
    total = n
    for k in range(n):
        total += k
    return total

@kernel
def one(n):
    return 10 * inner(n)

@kernel
def two(n):
    return 20 * inner(n)
"""
HEAD = """
import logging, os, sys, time
logging.basicConfig(level=logging.INFO, format="%(message)s")
import rules
from pbm_envs.core import kernel_files
write = kernel_files.write
def written(path, content):
    print("written", path.name.partition("-")[0], flush=True)
    write(path, content)
kernel_files.write = written
"""
GO = "print('ready', flush=True); sys.stdin.readline()\n"
ONE = "print('result', rules.one(4), flush=True)\n"
TWO = "print('result', rules.two(4), flush=True)\n"
HOLD = """
def hold(path, content):
    {forks}
    print("ready", flush=True)
    time.sleep(600)
kernel_files.write = hold
"""


class Program:
    """A process with the rules, and the cache that is common to all."""

    def __init__(self, folder: Path, code: str) -> None:
        path = os.pathsep.join([str(folder), str(Path(pbm_envs.__file__).parent.parent)])
        environment = os.environ | {"PYTHONPATH": path, "PBM_ENVS_CACHE_DIR": str(folder / "cache")}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, "-c", HEAD + code], env=environment, text=True, **pipes)

    def ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def end(self) -> tuple[list[str], str]:
        """Lines and log, after the program has gone on to its end."""
        out, log = self.process.communicate("\n", timeout=500)
        assert self.process.returncode == 0, log
        return out.splitlines(), log


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.py").write_text(RULES)
    return tmp_path


@pytest.fixture
def holder(folder: Path, request: pytest.FixtureRequest) -> Iterator[Program]:
    """A process that has claimed a kernel and keeps it."""
    program = Program(folder, HOLD.format(forks=getattr(request, "param", "")) + ONE)
    program.ready()
    yield program
    program.process.kill()
    program.process.communicate()


def together(folder: Path, codes: Sequence[str]) -> list[tuple[list[str], str]]:
    """What programs print and log that begin at once."""
    programs = [Program(folder, GO + code) for code in codes]
    for program in programs:
        program.ready()
    for program in programs:
        assert program.process.stdin is not None
        program.process.stdin.write("\n")
        program.process.stdin.flush()
    return [program.end() for program in programs]


def written(*outputs: list[str]) -> dict[str, int]:
    return Counter(line.split()[-1] for lines in outputs for line in lines if line.startswith("written"))


def test_processes_that_start_together_compile_each_kernel_once(folder: Path) -> None:
    results = together(folder, [ONE, ONE, TWO])
    assert [lines[-1] for lines, _ in results] == ["result 100", "result 100", "result 200"]
    assert written(*(lines for lines, _ in results)) == {"rules.inner": 1, "rules.one": 1, "rules.two": 1}
    assert any("waiting for rules." in log for _, log in results)
    assert {path.suffix for path in (folder / "cache").iterdir()} == {".kernel"}, "locks are removed"


def wait_for_line(program: Program, words: str) -> None:
    assert program.process.stderr is not None
    line = ""
    while words not in line:
        line = program.process.stderr.readline()
        assert line, f"it ends without saying {words!r}"


FORK = "os.fork() or (os.close(1), os.close(2), time.sleep(30), os._exit(0))"


@pytest.mark.parametrize("holder", ["", FORK], indirect=True, ids=["alone", "with a child"])
def test_what_a_killed_process_had_claimed_is_free(folder: Path, holder: Program) -> None:
    """Nor does a child that it has forked keep it."""
    waits = Program(folder, ONE)
    wait_for_line(waits, "waiting for rules.one")
    wait_for_line(waits, "compiling rules: 1 of 3")
    holder.process.kill()
    lines, _ = waits.end()
    assert lines[-1] == "result 100"
    assert written(lines) == {"rules.inner": 1, "rules.one": 1}


def test_what_could_not_be_compiled_is_free(folder: Path) -> None:
    fails = """
def fail(path, content):
    raise RuntimeError("this one fails")
kernel_files.write = fail
try:
    rules.one(4)
except RuntimeError as error:
    print("ready", flush=True)
sys.stdin.readline()
"""
    program = Program(folder, fails)
    program.ready()
    lines, log = Program(folder, ONE).end()
    assert lines[-1] == "result 100"
    assert "waiting" not in log
    program.end()


def test_a_process_that_is_stopped_is_not_waited_for_forever(folder: Path, holder: Program) -> None:
    lines, log = Program(folder, "kernel_files.LONGEST_WAIT = 0.2\n" + ONE).end()
    assert lines[-1] == "result 100"
    assert "other processes may compile rules.one" in log


def test_no_locks_on_this_file_system(folder: Path) -> None:
    broken = """
def refuse(*_, **__):
    raise OSError("no locks available")
kernel_files.FileLock.acquire = refuse
"""
    for lines, log in together(folder, [broken + ONE, broken + ONE]):
        assert lines[-1] == "result 100"
        assert "no locks available" in log
    assert Program(folder, broken + ONE).end() == (["result 100"], "")


def test_threads_of_one_process(folder: Path) -> None:
    code = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print("result", [call.result() for call in [pool.submit(f, n) for n in (4, True) for f in (rules.one, rules.two)]])
"""
    lines, log = Program(folder, code).end()
    assert lines[-1] == "result [100, 200, 10, 20]"
    assert written(lines) == {"rules.inner": 2, "rules.one": 2, "rules.two": 2}, "for integers and for truth values"
    assert "waiting" not in log
