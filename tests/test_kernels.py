"""Kernels as plain Python, with and without references, and what is said while they are compiled."""

import os
import subprocess
import sys
from pathlib import Path

import pbm_agents
import pytest

import pbm_envs
from pbm_envs.core import compiling
from pbm_envs.core.compiling import Compiling
from pbm_envs.core.kernel_files import cache_directory

SOURCE = Path(pbm_envs.__file__).parent


def run(code, folder, cache, **variables):
    """Output and log of a new process that finds pbm_envs in `folder`."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PBM_ENVS_CACHE_DIR": str(cache)} | variables
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


SEARCH = """
from numba.core.cpu import CPUTargetOptions
if {absent}:
    [declares] = [each for each in CPUTargetOptions.__mro__ if "_nrt" in vars(each)]
    del declares._nrt
import numpy as np
from pbm_agents import Search
from pbm_envs import Trinim
game, rng = Trinim(size=5), np.random.default_rng(0)
[result] = Search(simulations=50).run(game, game.init(1, rng), rng)
print(result.visits.tolist())
"""


@pytest.mark.slow
def test_kernels_that_count_no_references(tmp_path):
    """That option of Numba is private: where it is missing, the same kernels count them."""
    printed = []
    for absent in (False, True):
        paths = os.pathsep.join([str(SOURCE.parent), str(Path(pbm_agents.__file__).parent.parent)])
        environment = os.environ | {
            "PYTHONPATH": paths,
            "PBM_ENVS_CACHE_DIR": str(tmp_path if absent else cache_directory()),
        }
        command = [sys.executable, "-c", SEARCH.format(absent=absent)]
        printed.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert printed[0] == printed[1] != ""


class Known:
    """A kernel that is not on disk, unless `kept`."""

    def __init__(self, name, *, kept=False):
        self.name, self.module = name, name.rpartition(".")[0]
        self.is_kept = lambda: kept


def test_it_is_known_how_many_kernels_are_to_be_compiled(caplog, monkeypatch):
    """The log says so once for each part while it goes on, and again when it begins anew later."""
    now = [100.0]
    monkeypatch.setattr(compiling, "monotonic", lambda: now[0])
    told, progress = Compiling(), []
    step, mark, view = (Known(f"pbm_envs.games.curio.rules.{name}") for name in ("step", "mark", "view"))
    kept = Known("pbm_envs.games.curio.rules.kept", kept=True)
    walk, other = Known("pbm_agents.search.tree.walk"), Known("their_game.step")
    for each in (step, mark, view, kept, walk, other):
        told.register(each)
    told.listeners.add(progress.append)

    def compile_within(kernel, seconds, *inner):
        told.begin(kernel)
        for each in inner:
            compile_within(each, 0)
        now[0] += seconds
        told.ready.add(kernel.name)
        told.end(kernel)

    compile_within(step, 5, mark)
    assert [each[1:] for each in progress] == [(0, 3, True), (0, 3, True), (1, 3, True), (2, 3, False)]
    compile_within(walk, 9)
    compile_within(view, 1)
    assert [line.partition(", once")[0] for line in caplog.messages] == [
        "compiling the rules of curio: 1 of 3",
        "compiling the tree search: 1 of 1",
    ]
    assert "pbm warm-up" in caplog.text
    assert told.count(["the rules of curio", "the tree search"]) == (4, 4)
    assert told.missing() == [other.name]
    caplog.clear()
    now[0] += 11
    compile_within(other, 0)
    assert "compiling their_game: 1 of 1" in caplog.text
    told.register(again := Known("other_game.again", kept=True))
    compile_within(again, 0)
    assert "compiling other_game, once" in caplog.text, "for other types than those on disk: no number is known"


def test_a_terminal_has_one_line_that_is_rewritten(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(compiling.logger, "hasHandlers", lambda: False)
    told, kernels = Compiling(), [Known(f"pbm_envs.games.curio.rules.{k}") for k in range(2)]
    for each in kernels:
        told.register(each)
    for each in kernels:
        told.begin(each)
        told.ready.add(each.name)
        told.end(each)
    lines = [f"\rcompiling the rules of curio: {k} of 2\x1b[K\r\x1b[K" for k in (1, 2)]
    assert capsys.readouterr().err == "".join(lines)


NO_NUMBA = """
import sys
class Hidden:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}")
sys.meta_path.insert(0, Hidden())
"""


PLAY = """
import numpy as np
from pbm_envs import Chameleon
game = Chameleon(size=3)
states = game.init(4, np.random.default_rng(0))
game.step(states, [0, 1, 2, 3])
print(states["to_move"].tolist(), states["vert"].tolist(), states["ply"].tolist())
"""


def test_without_numba_kernels_are_plain_python(tmp_path):
    played, log = run(NO_NUMBA + PLAY, SOURCE.parent, tmp_path)
    assert played == "[1, 1, 1, 1] [0, 0, 0, 0] [1, 1, 1, 1]\n"
    assert log == "kernels run as plain Python, hundreds of times slower: No module named 'numba'\n"


NOTEBOOK = """
import sys
sys.path.insert(0, {folder!r})
from counting import plus_one, plus_two
print(plus_two(plus_one(1)))
"""


def test_in_jupyter_one_quiet_line_says_that_kernels_are_compiled(tmp_path, monkeypatch):
    """No red box: nothing goes to stderr, and the line is written anew rather than repeated."""
    import nbformat
    from nbclient import NotebookClient

    names = ("plus_one", "plus_two")
    kernels = "".join(f"\n\n@kernel\ndef {name}(n):\n    return n + {k + 1}\n" for k, name in enumerate(names))
    (tmp_path / "counting.py").write_text(f"from pbm_envs.core.kernels import kernel\n{kernels}")
    monkeypatch.setenv("PBM_ENVS_CACHE_DIR", str(tmp_path / "cache"))
    cell = nbformat.v4.new_code_cell(NOTEBOOK.format(folder=str(tmp_path)))
    again = nbformat.v4.new_code_cell("print(plus_one(2))")
    NotebookClient(nbformat.v4.new_notebook(cells=[cell, again]), timeout=600, kernel_name="python3").execute()
    line, printed = sorted(cell.outputs, key=lambda output: output.output_type)
    assert (line.output_type, printed.name, printed.text) == ("display_data", "stdout", "4\n")
    assert "compiled counting: 2 kernels" in line.data["text/html"]
    assert [output.text for output in again.outputs] == ["3\n"]
