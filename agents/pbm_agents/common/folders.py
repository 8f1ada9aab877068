"""Folders that belong to one command: only one process works in each, and each records the programs that made it.

A command's results depend on its options and on programs: this package, the code of agents and games from elsewhere,
the files that agents read, and the numerical libraries. A folder with results of one set of programs is not resumed
with another unless this is accepted explicitly.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from pbm_envs import Game, __version__
from pbm_envs.toolbox import is_partial, printable, write_text

LOCK, HOLDER = ".lock", ".lock-holder"
PACKAGES = ("pbm_envs", "pbm_agents")
LIBRARIES = ("numpy", "numba")
NETWORKS = {".pt": ("torch",), ".onnx": ("onnxruntime",)}
"""Libraries that evaluate network files with these suffixes."""
DIGITS = 16
"""Number of hexadecimal digits kept of a SHA-256 hash."""


@contextmanager
def locked(folder: Path, what: str) -> Iterator[None]:
    """Lock a folder for this process. The lock ends with the process, however that ends.

    Args:
        folder: An existing folder.
        what: Description of the work in it, such as "playing a tournament".

    Raises:
        ValueError: Another process has the folder; the message says which.
    """
    lock, holder = FileLock(folder / LOCK, timeout=0), folder / HOLDER
    try:
        lock.acquire()
    except Timeout:
        with suppress(OSError):
            text = printable(holder.read_text(encoding="utf-8").strip())
            raise ValueError(f"another process is at work in {folder}: {text}") from None
        raise ValueError(f"another process is at work in {folder}: one that has just started") from None
    try:
        about = f"process {os.getpid()} on {platform.node()}, {what} since {datetime.now():%Y-%m-%d %H:%M:%S}"
        write_text(holder, about + "\n")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def is_unused(folder: Path) -> bool:
    """Return True if a folder is missing, or holds only a lock and partial files of a killed process."""
    return not folder.exists() or all(path.name in (LOCK, HOLDER) or is_partial(path) for path in folder.iterdir())


def programs(games: Sequence[Game], agents: Sequence[str], libraries: Sequence[str] = ()) -> dict[str, str]:
    """Return the programs that determine results of agents in games, with a version or hash of each.

    For an agent or a game from another package, only the file that defines it is hashed; changes in files that it
    imports are not noticed.

    Args:
        games: The games.
        agents: Agent names, as for `make_agent`. Files given as settings are hashed.
        libraries: Further distributions whose versions matter.
    """
    found = {"pbm-envs": f"{__version__} ({_hash_of_packages()})"}
    wanted = {*LIBRARIES, *libraries}
    for game in games:
        module = type(game).__module__
        if module.partition(".")[0] not in PACKAGES:
            found[f"game {game.name}"] = _hash_of_module(module)
    for agent in agents:
        kind, *settings = agent.split(":")
        if settings and _is_module(kind):
            found[f"module {kind}"] = _hash_of_module(kind)
        for setting in ",".join(settings).split(","):
            name, _, value = setting.partition("=")
            path = Path(value)
            if name != "log" and path.name and path.is_file():  # a log grows
                found[f"file {path}"] = hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]
                wanted.update(NETWORKS.get(path.suffix, ()))
    return found | {name: _version_of(name) for name in sorted(wanted)}


def check_programs(folder: Path, there: Any, here: Mapping[str, str], *, accept: bool) -> list[Mapping[str, str]]:
    """Return the history of the programs that made the folder, the current ones last.

    Args:
        folder: The folder, for the error message.
        there: The history so far, as this function returned it; anything else counts as unknown.
        here: The current programs, from `programs`.
        accept: Accept programs that differ from the earlier ones.

    Raises:
        ValueError: The folder was made with other programs, and that is not accepted.
    """
    known: list[Mapping[str, str]] = (
        [each for each in there if isinstance(each, dict)] if isinstance(there, list) else []
    )
    last = known[-1] if known else {}
    if last == here:
        return known
    if not accept:
        names = [*here, *(last.keys() - here.keys())]
        changed = [
            f"{name} {printable(str(last.get(name, 'unknown')), 60)} there and {here.get(name, 'none')} here"
            for name in names
            if last.get(name) != here.get(name)
        ]
        raise ValueError(
            f"{folder} was made with other programs: {'; '.join(changed)}. Name another folder, or resume anyway "
            "with --accept-changes (accept_changes=True), which is recorded"
        )
    return [*known, here]


def write_about(path: Path, about: Mapping[str, Any]) -> None:
    """Write the description of a folder durably, so that it survives a power failure."""
    write_text(path, json.dumps(about, indent=1, ensure_ascii=False) + "\n", durable=True)


def _is_module(name: str) -> bool:
    with suppress(ImportError, ValueError):
        return name in sys.modules or importlib.util.find_spec(name) is not None
    return False


def _hash_of_module(name: str) -> str:
    """Hash the file that defines a module; a module without a file, such as an interactive one, is only named."""
    with suppress(ImportError, ValueError, OSError):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:DIGITS]
    return "without a file"


@cache
def _hash_of_packages() -> str:
    """Hash the sources of this project's packages, once per process."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        root = Path(importlib.import_module(package).__path__[0])
        for path in sorted(root.rglob("*.py")):
            digest.update(f"{package}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:DIGITS]


def _version_of(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "missing"
