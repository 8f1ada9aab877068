"""What is released: built, installed where the source tree is out of sight, and used."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from pbm_agents.play.page import MODULES

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SUPPORTED = [
    int(minor)
    for minor in re.findall(r"Programming Language :: Python :: 3\.(\d+)", (ROOT / "pyproject.toml").read_text())
]
INSTALL = ("-m", "pip", "install", "-q", "--no-compile", "--disable-pip-version-check")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("release")]


def run(*words, folder, **more):
    """The output of a command that succeeds, and that finds no source tree and no other environment."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        [str(word) for word in words], cwd=folder, env=kept | more, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def pythons():
    """Minor version -> a supported Python of this machine."""
    found = {sys.version_info.minor: sys.executable}
    for minor in SUPPORTED:
        installed = sorted(
            Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/3.{minor}.*/bin/python")
        )
        for python in [shutil.which(f"python3.{minor}"), *map(str, installed)]:
            asked = [python, "-c", "import sys, venv, ensurepip; print(sys.version_info.minor)"]
            if python and subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() == str(
                minor
            ):
                found.setdefault(minor, python)
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """(sdist, the wheel that is made from it, the wheel that is made from the tree)"""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT, folder=folder)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder / "tree", ROOT, folder=folder)
    [sdist], [wheel] = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    [direct] = (folder / "tree").glob("*.whl")
    return sdist, wheel, direct


@pytest.fixture(scope="module")
def environments(built, tmp_path_factory):
    """Minor version -> a Python in which the wheel is installed: the oldest and the newest that there are."""
    made, known, folder = {}, pythons(), tmp_path_factory.mktemp("environments")
    for minor in {min(known), max(known)}:
        run(known[minor], "-m", "venv", f"3.{minor}", folder=folder)
        made[minor] = folder / f"3.{minor}" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        run(made[minor], *INSTALL, f"{built[1]}[cli]", folder=folder)
    yield made
    shutil.rmtree(folder)  # half a gigabyte


def members(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_holds_the_packages_and_nothing_else(built):
    found = set(members(built[1]))
    sources = {
        path.relative_to(ROOT / top).as_posix()
        for top in ("src", "agents")
        for path in (ROOT / top).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    packages = {name for name in found if ".dist-info/" not in name}
    assert packages == sources
    assert {"pbm_envs/py.typed", "pbm_agents/py.typed", "pbm_envs/games/curio/rules.md"} <= packages
    assert {f"pbm_agents/play/{name}" for name in (*MODULES, "board.css", "page.html", "page.js")} <= packages


def test_the_sdist_makes_the_same_wheel(built):
    """It also holds the tests and the documentation."""
    sdist, from_sdist, from_tree = built
    assert members(from_sdist) == members(from_tree)
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "Makefile", "docs/conf.py", "tests/conftest.py"} <= names
    assert not [name for name in names if re.search(r"__pycache__|_build|\.pyc|^\.venv|_cache/", name)]


def test_the_metadata(built):
    found = members(built[1])
    [metadata] = [Parser().parsestr(text.decode()) for name, text in found.items() if name.endswith("/METADATA")]
    assert metadata["Name"] == "pbm-envs"
    assert f'__version__ = "{metadata["Version"]}"' in found["pbm_envs/version.py"].decode()
    assert metadata["Requires-Python"] == f">=3.{min(SUPPORTED)}"
    assert metadata["License-Expression"] == "MIT AND OFL-1.1"
    assert len(metadata.get_all("License-File")) == 2
    assert metadata["Description-Content-Type"] == "text/markdown"
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {metadata['Version'].partition('.dev')[0]}" in changes
    needed = {re.split(r"[<>=; ]", line)[0] for line in metadata.get_all("Requires-Dist") if "extra ==" not in line}
    assert needed == {"numpy", "numba", "gymnasium", "pettingzoo", "filelock", "platformdirs"}


def test_an_index_shows_its_description(built):
    """It renders without warnings, and without links to files that an index does not have."""
    assert "PASSED" in run(sys.executable, "-m", "twine", "check", "--strict", *built[:2], folder=ROOT)
    [description] = [text.decode() for name, text in members(built[1]).items() if name.endswith("/METADATA")]
    assert "](" not in re.sub(r"```.*?```", "", description, flags=re.DOTALL), "a link outside of code"
    assert "<img" not in description


def test_the_installed_package_works_in_the_oldest_and_the_newest_python(environments, tmp_path):
    shutil.copy(HERE / "smoke.py", tmp_path)
    for minor, python in environments.items():
        said = run(python, "smoke.py", folder=tmp_path)
        assert f"works in Python 3.{minor}." in said


def test_a_program_that_uses_it_is_strictly_typed(environments, tmp_path):
    """With the types of the installed package; the mistakes that the program marks are found."""
    shutil.copy(HERE / "typed.py", tmp_path)
    python = environments[max(environments)]
    settings = ["--strict", "--python-executable", python, "--config-file=", "--cache-dir", tmp_path / "cache"]
    assert "no issues found" in run(sys.executable, "-m", "mypy", *settings, "typed.py", folder=tmp_path)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("plot", "rate games --out tables"),
        ("data", "export games --out positions"),
        ("data", "export games --to minari --out pbm/chameleon-3/random-v0"),
        ("render", "animate games game.gif"),
        ("video", "animate games game.mp4"),
    ],
)
def test_an_extra_is_complete(built, with_extra, extra, words):
    """In an environment with the command line, that extra and nothing else."""
    python, folder = with_extra(extra)
    if not (folder / "games").exists():
        play = "tournament games -g chameleon:size=3 -a random -a mcts:simulations=2 --openings 1"
        run(python, "-m", "pbm_agents.cli", *play.split(), folder=folder)
    run(python, "-m", "pbm_agents.cli", *words.split(), folder=folder, MINARI_DATASETS_PATH=str(folder / "minari"))


def test_the_extra_of_the_server_is_complete(with_extra):
    python, folder = with_extra("serve")
    script = "from pbm_agents.play import web, start, kept; from uvicorn.protocols.http import h11_impl"
    run(python, "-c", f"{script}; import websockets", folder=folder)


@pytest.fixture(scope="module")
def with_extra(built, tmp_path_factory):
    """Return what makes an environment with one extra, once: its Python, and a folder to work in."""
    folder = tmp_path_factory.mktemp("extras")

    def made(extra):
        python = folder / extra / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        if not python.exists():
            run(sys.executable, "-m", "venv", extra, folder=folder)
            wheel = f"{built[1]}[{','.join(sorted({'cli', extra}))}]"
            run(python, *INSTALL, wheel, folder=folder)
        return python, folder / extra

    yield made
    shutil.rmtree(folder)
