"""Errors for missing extras, raised before any work is done."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[3]
"""The root of the clone, if the package is used from one."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra, for the clone in use or for the installed package."""
    if not (ROOT / "pyproject.toml").is_file() or not (ROOT / "src" / "pbm_envs").is_dir():
        return f"pip install 'pbm-envs[{extra}]'"
    return f"pip install -e '{'.' if Path.cwd() == ROOT else ROOT}[{extra}]'"


def require(what: str, extra: str, *modules: str) -> None:
    """Raise an ImportError that names the extra unless all of these modules are installed.

    >>> require("this", "data", "json", "no_such_module")
    Traceback (most recent call last):
    ImportError: this needs no_such_module, of the extra `data`: pip install ...
    """
    for module in modules:
        if find_spec(module) is None:
            raise ImportError(f"{what} needs {module}, of the extra `{extra}`: {install_command(extra)}")
