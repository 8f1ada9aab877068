"""The cache of kernels under attack: sources, constants and settings that change; files that are damaged or foreign.

Most tests stay in this process: a module of kernels is written, imported anew, and called with a cache of its own.
"""

import importlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pbm_envs
from pbm_envs.core import kernel_cache, kernel_files, numba_internals
from pbm_envs.core.compiling import COMPILING
from pbm_envs.core.fingerprint import NoFingerprintError, fingerprint, unchanged
from pbm_envs.core.kernels import COMPILES, kernel

compiled_only = pytest.mark.skipif(not COMPILES, reason="nothing is compiled")
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="owners and links of files")
RULES = """
from pbm_envs.core.kernels import kernel
from tunes import TEMPO

@kernel
def inner(n):
    return n + 1

@kernel
def outer(n):
    return 10 * inner(n) + TEMPO
"""
CALL = "import rules; print(rules.outer(4))"


class Folder:
    """A folder with modules of kernels and a cache."""

    def __init__(self, path: Path) -> None:
        self.path, self.cache = path, path / "cache"
        self.cache.mkdir(mode=0o700)
        self.compiled = 0
        self.write("rules", RULES)
        self.write("tunes", "TEMPO = 0")

    def write(self, module: str, source: str) -> None:
        (self.path / f"{module}.py").write_text(source)

    def load(self, module: str = "rules") -> ModuleType:
        """Import it anew, and what it imports, as another process would."""
        for name in ("rules", "tunes", module):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(module)

    def call(self) -> tuple[int, int]:
        """Import the rules anew and call them; return the result, and how many kernels were compiled."""
        before = self.compiled
        return self.load().outer(4), self.compiled - before

    def kept(self) -> list[Path]:
        return sorted(self.cache.glob("*.kernel"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Folder]:
    if not COMPILES:
        pytest.skip("nothing is compiled")
    made = Folder(tmp_path)
    for module in (kernel_cache, kernel_files):
        monkeypatch.setattr(module, "cache_directory", lambda: made.cache)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)

    begin = COMPILING.begin

    def count(kernel: Any) -> None:
        made.compiled += 1
        begin(kernel)

    monkeypatch.setattr(COMPILING, "begin", count)
    monkeypatch.setattr(COMPILING, "_parts", {name: dict(kernels) for name, kernels in COMPILING._parts.items()})
    yield made
    for name in ("rules", "tunes", "factory"):
        sys.modules.pop(name, None)


def run(folder: Folder, code: str, **variables: str) -> tuple[str, str]:
    """What a new process prints and logs."""
    path = os.pathsep.join([str(folder.path), str(Path(pbm_envs.__file__).parent.parent)])
    environment = os.environ | {"PYTHONPATH": path, "PBM_ENVS_CACHE_DIR": str(folder.cache)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"} | variables
    log = "import logging; logging.basicConfig(level=logging.INFO, format='%(message)s')\n"
    done = subprocess.run(
        [sys.executable, "-c", log + code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_the_next_process_finds_what_was_compiled(folder: Folder) -> None:
    """And says nothing."""
    result, log = run(folder, CALL)
    assert result == "50"
    assert "compiling rules" in log
    kept = {path: path.stat().st_mtime_ns for path in folder.kept()}
    assert kept
    assert run(folder, CALL) == ("50", "")
    assert {path: path.stat().st_mtime_ns for path in folder.kept()} == kept


def test_a_kernel_that_is_in_no_file_works(folder: Folder) -> None:
    """As those of a notebook; it may call one that is in a file."""
    source = "@kernel\ndef twice(n):\n    return 2 + 0 * inner(n)\n"
    cell = f"from rules import inner, kernel; exec(compile({source!r}, '<a cell>', 'exec')); print(twice(1))"
    assert run(folder, cell)[0] == "2"
    assert not [path for path in folder.kept() if "twice" in path.name]


def test_no_folder_can_be_written(folder: Folder) -> None:
    """Then kernels are compiled in every process, and work."""
    blocked = folder.path / "file"
    blocked.write_text("not a folder")
    code = f"import tempfile; tempfile.tempdir = {str(blocked)!r}; {CALL}"
    result, log = run(folder, code, PBM_ENVS_CACHE_DIR=str(blocked / "cache"))
    assert result == "50"
    assert "memory only" in log


def test_the_source_changes_between_import_and_first_call(folder: Folder) -> None:
    """As by an upgrade or `git checkout` under a running process: it must not leave old rules under the new name."""
    rules = folder.load()
    folder.write("rules", RULES.replace("n + 1", "n + 2"))
    assert rules.outer(4) == 50, "the running process has imported the old"
    assert folder.call() == (60, 2), "and the next one the new"


def test_a_constant_of_another_module_changes(folder: Folder) -> None:
    assert folder.call() == (50, 2)
    folder.write("tunes", "TEMPO = 7")
    assert folder.call() == (57, 1)
    folder.write("tunes", "TEMPO = 0")
    assert folder.call() == (50, 0), "and the first is still kept"


def test_a_kernel_of_another_module_changes(folder: Folder) -> None:
    tunes = "from pbm_envs.core.kernels import kernel\n@kernel\ndef tune(n):\n    return n + 1\n"
    folder.write("rules", RULES.replace("TEMPO\n\n", "tune\n\n").replace("TEMPO", "tune(n)"))
    folder.write("tunes", tunes)
    assert folder.call() == (55, 3)
    folder.write("tunes", tunes.replace("n + 1", "n + 2"))
    assert folder.call() == (56, 2)


def test_a_comment_is_no_change(folder: Folder) -> None:
    folder.call()
    folder.write("rules", "# Rules.\n\n" + RULES)
    assert folder.call() == (50, 0)


@pytest.mark.slow
def test_settings_of_the_compiler_are_part_of_the_name(folder: Folder) -> None:
    folder.write(
        "reads",
        """
import numpy as np
from pbm_envs.core.kernels import kernel
@kernel
def read(numbers, index):
    return numbers[index]
numbers = np.zeros(8)[:4]
try:
    print(read(numbers, 5))
except IndexError:
    print("refused")
""",
    )
    assert run(folder, "import reads", NUMBA_BOUNDSCHECK="0")[0] == "0.0"
    assert run(folder, "import reads", NUMBA_BOUNDSCHECK="1")[0] == "refused"
    assert run(folder, "import reads", NUMBA_OPT="0")[0] == "0.0"
    assert len(folder.kept()) == 3
    assert run(folder, "import reads", NUMBA_BOUNDSCHECK="0", NUMBA_NUM_THREADS="1") == ("0.0", "")


FACTORY = """
from pbm_envs.core.kernels import kernel

@kernel
def twice(n):
    return 2 * n

@kernel
def square(n):
    return n * n

def loop_of(step, weight):
    @kernel
    def loop(count):
        total = 0
        for n in range(count):
            total += weight * step(n)
        return total
    return loop
"""


def test_kernels_made_by_a_factory_are_told_apart(folder: Folder) -> None:
    """They have one name and one signature. Each is compiled for itself; then all are loaded together."""
    folder.write("factory", FACTORY)
    made = [("twice", 1, 20), ("square", 1, 30), ("twice", 3, 60)]
    for step, weight, result in made:
        factory = folder.load("factory")
        assert factory.loop_of(getattr(factory, step), weight)(5) == result
    before = folder.compiled
    for order in ([0, 1, 2], [2, 0, 1]):
        factory = folder.load("factory")
        loops = [(factory.loop_of(getattr(factory, made[k][0]), made[k][1]), made[k][2]) for k in order]
        assert [loop(5) for loop, _ in loops] == [result for _, result in loops]
    assert folder.compiled == before


OVERLOADED = """
from numba.extending import overload, register_jitable
from pbm_envs.core.kernels import kernel

def plus(n):
    raise NotImplementedError

@overload(plus)
def plus_in_kernels(n):
    return lambda n: n + 1

@register_jitable
def plus_two(n):
    return n + 2

@kernel
def inner(n):
    return plus(n)

@kernel
def outer(n):
    return 10 * inner(n)

@kernel
def other(n):
    return plus_two(n)
"""


def test_kernels_that_call_overloads_are_not_kept(folder: Folder, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing that is compiled from an overload can be stale after an edit; a function may be marked as jitable."""
    folder.write("rules", OVERLOADED)
    assert folder.call() == (50, 2)
    assert "rules.inner is compiled in every process: it calls rules.plus_in_kernels, an overload" in caplog.text
    assert not folder.kept()
    folder.write("rules", OVERLOADED.replace("n + 1", "n + 3").replace("n + 2", "n + 4"))
    assert folder.call() == (70, 2)
    assert folder.load().other(1) == 5
    folder.write("rules", OVERLOADED)
    assert folder.load().other(1) == 3, "what it was before was not read"


@pytest.mark.parametrize("place", [0.0, 0.02, 0.5, 0.999, -1.0])
def test_a_damaged_file_costs_one_compilation(folder: Folder, place: float) -> None:
    """A flipped bit anywhere, or (-1) files cut short: to unpickle or run such a kernel can end the process."""
    folder.call()
    for k, path in enumerate(folder.kept()):
        content = bytearray(path.read_bytes())
        if place < 0:
            del content[100 * k :]
        else:
            content[int(place * len(content))] ^= 4
        path.write_bytes(content)
    assert folder.call() == (50, 2)
    assert folder.call() == (50, 0)


@posix_only
def test_a_file_that_others_can_write_is_not_read(folder: Folder, caplog: pytest.LogCaptureFixture) -> None:
    folder.call()
    for path in folder.kept():
        path.chmod(0o666)
    assert folder.call() == (50, 2)
    assert "others own" in caplog.text
    assert not any(path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) for path in folder.kept())


@posix_only
def test_a_link_is_not_followed(folder: Folder) -> None:
    folder.call()
    for path in folder.kept():
        path.rename(path.with_suffix(".else"))
        path.symlink_to(path.with_suffix(".else"))
    assert folder.call() == (50, 2)
    assert not any(path.is_symlink() for path in folder.kept())


@posix_only
class TestFolders:
    """Which folder holds the kernels."""

    @pytest.fixture
    def found(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path | None]:
        (tmp_path / "temporary").mkdir()
        monkeypatch.setattr(kernel_files.tempfile, "tempdir", str(tmp_path / "temporary"))
        monkeypatch.setenv("PBM_ENVS_CACHE_DIR", str(tmp_path / "chosen"))
        return kernel_files.cache_directory.__wrapped__

    def test_the_chosen_one(self, found: Callable[[], Path | None], tmp_path: Path) -> None:
        assert found() == tmp_path / "chosen"
        assert (tmp_path / "chosen").stat().st_mode & 0o777 == 0o700

    def test_one_that_everyone_can_write_is_refused(
        self, found: Callable[[], Path | None], tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "chosen").mkdir()
        (tmp_path / "chosen").chmod(0o777)
        assert found() == tmp_path / "temporary" / f"pbm_envs-{os.getuid()}", "a private folder serves"
        assert "others own it or can write there" in caplog.text

    def test_one_that_cannot_be_written_serves_if_it_holds_kernels(
        self, found: Callable[[], Path | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "chosen").mkdir(mode=0o700)
        make = kernel_files.tempfile.TemporaryFile

        def refuse(dir: Path) -> Any:  # noqa: A002
            if dir == tmp_path / "chosen":
                raise PermissionError
            return make(dir=dir)

        monkeypatch.setattr(kernel_files.tempfile, "TemporaryFile", refuse)
        assert found() != tmp_path / "chosen"
        (tmp_path / "chosen" / "rules.outer-1.kernel").touch()
        assert found() == tmp_path / "chosen"


def test_a_cache_that_cannot_be_written_is_read(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.call()

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError

    monkeypatch.setattr(kernel_files.FileLock, "acquire", refuse)
    monkeypatch.setattr(kernel_files, "in_one_piece", refuse)
    assert folder.call() == (50, 0)
    folder.write("tunes", "TEMPO = 7")
    assert folder.call() == (57, 1), "what is missing is compiled"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes")
def test_a_full_disk_leaves_nothing_behind(folder: Folder) -> None:
    full = "import resource, rules; resource.setrlimit(resource.RLIMIT_FSIZE, (999, 999));"
    result, log = run(folder, full + CALL)
    assert result == "50"
    assert "could not be kept" in log
    assert {path.suffix for path in folder.cache.iterdir()} <= {".lock"}


@pytest.mark.parametrize("name", numba_internals.NEEDED if COMPILES else [])
def test_a_private_name_that_is_gone_is_noticed(
    folder: Folder, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Everything works, nothing is kept, and one line says so. What was hidden is put back for Numba's own use."""
    numba_internals._log_missing.cache_clear()
    with monkeypatch.context() as hiding:
        owner, _, attribute = f"numba.core.{name}".rpartition(".")
        hiding.delattr(f"{owner}.{attribute}")
        missing = numba_internals.missing()
    monkeypatch.setattr(numba_internals, "MISSING", missing)
    assert missing == [name]
    assert folder.call()[0] == 50
    assert folder.call()[0] == 50
    assert [line for line in caplog.messages if "kernels are not kept" in line] == [
        f"compiled kernels are not kept, and every process compiles them: Numba {numba_internals.numba.__version__} "
        f"has no {name}"
    ]
    assert not folder.kept()


TUNE = 3


def tuned(count: int) -> int:
    return count * TUNE


def test_what_changed_before_it_was_compiled_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = kernel(tuned)

    @kernel
    def caller(count: int) -> int:
        return compiled(count) + 1

    before = fingerprint(caller)
    assert unchanged(caller)
    monkeypatch.setitem(tuned.__globals__, "TUNE", 4)
    assert not unchanged(tuned)
    monkeypatch.undo()
    with pytest.raises(NoFingerprintError, match="tuned reads has changed"):
        fingerprint(tuned)
    assert not unchanged(caller)
    with pytest.raises(NoFingerprintError, match="caller reads has changed"):
        fingerprint(caller)
    assert before


def closure(value: object) -> object:
    def reads() -> object:
        return value

    return reads


class Point(tuple):  # as NamedTuple makes them
    _fields = ("x", "y")
    _field_defaults: dict[str, int] = {}


@pytest.mark.parametrize(
    ("value", "other"),
    [
        (1, 2),
        (1, True),
        (1, 1.0),
        (0.0, -0.0),
        ("a", b"a"),
        (np.uint8(1), np.int8(1)),
        (np.zeros(3), np.zeros((3, 1))),
        (np.zeros((2, 2)), np.zeros((2, 2)).T.copy()[::1, ::-1]),
        (np.arange(3), np.array([0, 1, 3])),
        (np.dtype("i4"), np.dtype("i8")),
        (np.dtype([("a", "i4")]), np.dtype([("b", "i4")])),
        ((1, (2, 3)), (1, 2, 3)),
        (np.int64, np.int32),
        (closure(1), closure(2)),
        (Point((1, 2)), (1, 2)),
        ({"a": 1}, {"a": 2}),
    ],
)
def test_captured_values_are_part_of_the_fingerprint(value: object, other: object) -> None:
    assert fingerprint(closure(value)) == fingerprint(closure(value))
    assert fingerprint(closure(value)) != fingerprint(closure(other))


@pytest.mark.parametrize("value", [object(), np.array([object()]), iter([1]), type("Own", (), {})])
def test_what_cannot_be_described_has_no_fingerprint(value: object) -> None:
    with pytest.raises(NoFingerprintError):
        fingerprint(closure(value))


def test_functions_that_call_themselves_or_one_another() -> None:
    def down(n: int) -> int:
        return n and down(n - 1)

    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        return n != 0 and even(n - 1)

    assert fingerprint(down)
    assert unchanged(down)
    with pytest.raises(NoFingerprintError, match="even calls a function that calls it"):
        fingerprint(even)


def test_a_docstring_is_no_change() -> None:
    """A text that the code reads is one."""

    def made(body: str) -> str:
        names: dict[str, Any] = {}
        exec(f"def reads():\n    {body}", names)
        return fingerprint(names["reads"])

    assert made("'One.'; return 'x'") == made("'Two.'; return 'x'") != made("'One.'; return 'y'")
    assert made("return ['a']") != made("return ['b']")
