"""The cache of kernels under attack: sources, constants and settings that change; files that are damaged or foreign."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pbm_envs
from pbm_envs.core import claims
from pbm_envs.core.fingerprint import NoFingerprintError, fingerprint, unchanged
from pbm_envs.core.kernels import kernel

pytestmark = pytest.mark.slow
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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.py").write_text(RULES)
    (tmp_path / "tunes.py").write_text("import os\nTEMPO = int(os.environ.get('TEMPO', 0))")
    return tmp_path


def run(folder: Path, code: str, cache: str = "cache", **variables: str) -> tuple[str, str]:
    """What a new process prints and logs; its cache is a folder of `folder`."""
    path = os.pathsep.join([str(folder), str(Path(pbm_envs.__file__).parent.parent)])
    environment = os.environ | {"PYTHONPATH": path, "PBM_ENVS_CACHE_DIR": str(folder / cache)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"} | variables
    log = "import logging; logging.basicConfig(level=logging.INFO, format='%(message)s')\n"
    done = subprocess.run(
        [sys.executable, "-c", log + code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "cache").glob("*.kernel"))


def test_the_source_changes_between_import_and_first_call(folder: Path) -> None:
    """As by an upgrade or `git checkout` under a running process: it must not leave old rules under the new name."""
    edit = (
        "import pathlib, rules; file = pathlib.Path('{}'); file.write_text(file.read_text().replace('n + 1', 'n + 2'));"
    )
    assert run(folder, edit.format(folder / "rules.py") + CALL)[0] == "50", "the running process has imported the old"
    assert run(folder, CALL)[0] == "60", "and the next process the new"


def test_a_constant_from_the_environment_or_from_another_package_changes(folder: Path) -> None:
    assert run(folder, CALL)[0] == "50"
    assert run(folder, CALL, TEMPO="7")[0] == "57"
    assert run(folder, CALL) == ("50", ""), "and the first is still kept"
    (folder / "tunes.py").write_text("TEMPO = 9")
    assert run(folder, CALL)[0] == "59"


def test_a_comment_is_no_change(folder: Path) -> None:
    run(folder, CALL)
    (folder / "rules.py").write_text("# Rules.\n\n" + RULES)
    assert run(folder, CALL) == ("50", "")


def test_settings_of_the_compiler_are_part_of_the_name(folder: Path) -> None:
    (folder / "reads.py").write_text("""
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
""")
    assert run(folder, "import reads", NUMBA_BOUNDSCHECK="0")[0] == "0.0"
    assert run(folder, "import reads", NUMBA_BOUNDSCHECK="1")[0] == "refused"
    assert run(folder, "import reads", NUMBA_OPT="0")[0] == "0.0"
    assert len(kept(folder)) == 3
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


def test_kernels_made_by_a_factory_are_told_apart(folder: Path) -> None:
    """They have one name and one signature. Each is compiled in a process of its own; another loads them all."""
    (folder / "factory.py").write_text(FACTORY)
    calls = [
        f"print(factory.loop_of(factory.{step}, {weight})(5))"
        for step, weight in [("twice", 1), ("square", 1), ("twice", 3)]
    ]
    for call, result in zip(calls, ["20", "30", "60"], strict=True):
        assert run(folder, f"import factory; {call}")[0] == result
    for order in ([0, 1, 2], [2, 0, 1]):
        together = "import factory;" + ";".join(calls[k] for k in order)
        assert run(folder, together) == ("\n".join(["20", "30", "60"][k] for k in order), ""), "nothing is compiled"


def test_one_flipped_bit_anywhere_costs_one_compilation(folder: Path) -> None:
    """Unpickling a damaged kernel, or running it, can end the process: it must not be tried."""
    run(folder, CALL)
    for place in (0.0, 0.02, 0.5, 0.999):
        for path in kept(folder):
            content = bytearray(path.read_bytes())
            content[int(place * len(content))] ^= 4
            path.write_bytes(content)
        result, log = run(folder, CALL)
        assert result == "50"
        assert log.count("is damaged") == 2
        assert run(folder, CALL) == ("50", "")


def test_a_folder_that_everyone_can_write_is_refused(folder: Path) -> None:
    (folder / "cache").mkdir()
    (folder / "cache").chmod(0o777)
    result, log = run(folder, CALL, TMPDIR=str(folder))
    assert result == "50"
    assert "others own it or can write there" in log
    assert not kept(folder)
    assert list(folder.glob("pbm_envs-*/*.kernel")), "the private folder serves"


def test_a_file_that_others_can_write_is_not_read(folder: Path) -> None:
    run(folder, CALL)
    for path in kept(folder):
        path.chmod(0o666)
    result, log = run(folder, CALL)
    assert result == "50"
    assert "others own" in log
    assert all(
        path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH) == 0 for path in kept(folder) if "outer" in path.name
    )


def test_a_link_is_not_followed(folder: Path) -> None:
    run(folder, CALL)
    for path in kept(folder):
        path.rename(path.with_suffix(".else"))
        path.symlink_to(path.with_suffix(".else"))
    assert "compiling anew" in run(folder, CALL)[1]
    assert not any(path.is_symlink() for path in kept(folder) if "outer" in path.name)


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes")
def test_a_full_disk_leaves_nothing_behind(folder: Path) -> None:
    full = "import resource, rules; resource.setrlimit(resource.RLIMIT_FSIZE, (999, 999));"
    result, log = run(folder, full + CALL)
    assert result == "50"
    assert "could not be kept" in log
    assert [path.name for path in (folder / "cache").iterdir()] == [claims.FILE]
    assert (folder / "cache" / claims.FILE).stat().st_size == 0


def test_what_a_killed_process_left_is_removed(folder: Path) -> None:
    (folder / "cache").mkdir(mode=0o700)
    old, new = folder / "cache/rules.outer-1.part", folder / "cache/rules.outer-2.part"
    for path in (old, new):
        path.write_bytes(b"half a kernel")
    os.utime(old, (0, 0))
    run(folder, CALL)
    assert not old.exists()
    assert new.exists(), "somebody may be writing it"


@pytest.mark.parametrize(
    ("module", "owner", "name"),
    [
        ("compiler", "CompileResult", "_reduce"),
        ("compiler", "CompileResult", "_rebuild"),
        ("compiler", "", "CompileResult"),
        ("bytecode", "FunctionIdentity", "_unique_ids"),
        ("caching", "NullCache", "load_overload"),
    ],
)
def test_a_numba_without_the_private_interfaces(folder: Path, module: str, owner: str, name: str) -> None:
    """Everything works, nothing is kept, and one line says so. What was hidden is put back for Numba's own use."""
    program = f"""
import numba.core.{module} as module
owner = getattr(module, {owner!r}) if {owner!r} else module
hidden = vars(owner)[{name!r}]
delattr(owner, {name!r})
if {owner!r} == "NullCache":
    hidden_too = module._Cache.load_overload
    del module._Cache.load_overload
    owner.__abstractmethods__ = frozenset()
import rules
setattr(owner, {name!r}, hidden)
{CALL}
"""
    result, log = run(folder, program)
    assert result == "50"
    assert log.count("compiled kernels are not kept") == 1
    assert not kept(folder)


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


def test_functions_that_call_one_another() -> None:
    def even(n: int) -> bool:
        return n == 0 or odd(n - 1)

    def odd(n: int) -> bool:
        return n != 0 and even(n - 1)

    assert fingerprint(even) != fingerprint(odd)
    assert unchanged(even)
