"""Checks of arguments and extras, and untrusted texts made safe for terminals, records and messages.

Each check raises an error that names the given and the expected value.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def check_range(
    name: str, value: int, low: float | None, high: float | None = None, expected: str | None = None
) -> None:
    """Check for an integer from `low` to `high` (None: no bound); `expected` replaces the text of the range."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, np.integer))
        or (low is not None and value < low)
        or (high is not None and value > high)
    ):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected or integers(low, high)}")


def check_number(
    name: str, value: float, low: float | None, high: float | None = None, expected: str | None = None
) -> None:
    """Check for a finite number from `low` to `high` (None: no bound), with or without decimals."""
    lowest, highest = (-sys.float_info.max if low is None else low), (sys.float_info.max if high is None else high)
    if (
        isinstance(value, (bool, np.bool_))
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not lowest <= value <= highest  # nan is not either
    ):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected or numbers(low, high)}")


def check_flag(name: str, value: bool, expected: str = "True or False") -> None:
    """Check for True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} is {quoted(value)}: expected {expected}")


def integers(low: float | None, high: float | None) -> str:
    """Return the description of a range of integers, for errors."""
    if low is None:
        return "an integer"
    return f"an integer from {low} {'up' if high is None else f'to {high}'}"


def numbers(low: float | None, high: float | None) -> str:
    """Return the description of a range of numbers, for errors."""
    if low is None:
        return "a finite number"
    return f"a finite number from {low:g} up" if high is None else f"a number from {low:g} to {high:g}"


def check_path(name: str, value: str | Path) -> None:
    """Check for a valid file name."""
    if not isinstance(value, (str, Path)) or "\0" in str(value) or not str(value).isprintable():
        raise ValueError(f"{name} is {quoted(value)}: expected the name of a file")


def check_seed(name: str, value: int | None) -> None:
    """Check for a seed: None or an integer >= 0 (NumPy also accepts nested lists, which can crash the process)."""
    if value is not None:
        check_range(name, value, 0)


def to_options(given: Any) -> dict[str, Any]:
    """Return a copy of the options of a reset, given as a mapping or None."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"options are {quoted(given)}: expected a mapping from names to values, or None")
    return dict(given)


def to_moves(given: Any) -> Sequence[str]:
    """Return the moves among the options of a reset: a list, or none for None."""
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        raise ValueError(f"moves are {quoted(given)}: expected a list of move texts")
    return given


def to_array(name: str, given: Any, expected: str) -> NDArray[Any]:
    """Return the value as an array; raise ValueError if NumPy cannot convert it, such as a ragged list."""
    try:
        return np.asarray(given)
    except Exception:  # objects can raise anything
        raise ValueError(f"{name}: {quoted(given)}: expected {expected}") from None


def check_writable(name: str, array: NDArray[Any]) -> None:
    """Check that an array is writable: kernels do not check, and writing to a read-only memory map ends the process."""
    if not array.flags.writeable:
        raise ValueError(f"{name} is a read-only array: expected one that can be changed, such as {name}.copy()")


LONGEST = 300
"""The maximum number of characters of untrusted text that a message repeats."""


def printable(text: object, longest: int = LONGEST) -> str:
    r"""Return the text in one line, truncated, with control characters, terminal escapes and lone surrogates escaped.

    >>> printable("red\x1b[31m\nand \ud800")
    'red\\x1b[31m and \\ud800'
    """
    words = str(text)[: longest + 1]
    line = "".join(
        sign if sign.isprintable() else " " if sign in "\n\r\t" else sign.encode("unicode_escape").decode()
        for sign in words
    )
    return line if len(line) <= longest and len(words) <= longest else line[: longest - 3] + "..."


def quoted(value: object, longest: int = 100) -> str:
    """Return the `repr` of a value for an error, in one line and truncated.

    >>> quoted("a" * 1000, 12)
    "'aaaaaaaa..."
    """
    try:
        text = repr(value[: longest + 1] if isinstance(value, (str, bytes)) else value)
    except Exception:  # an integer of thousands of digits, or a user-defined class
        text = f"a {type(value).__name__} without a text"
    return printable(text, longest)


def describe_error(error: BaseException, longest: int = LONGEST) -> str:
    """Return the type and text of an error, even if its class raises when formatting them.

    >>> describe_error(ZeroDivisionError("by zero"))
    'ZeroDivisionError: by zero'
    """
    try:
        kind = str(type(error).__name__)
    except BaseException:  # a metaclass can raise anything
        kind = "an error"
    try:
        text = str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        text = "(its text cannot be had)"
    return printable(f"{kind}: {text[: longest + 1]}" if text else kind, longest)


def summary(thing: object) -> str:
    """Return the first paragraph of the docstring of a class or function, in one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


ROOT = Path(__file__).parents[3]
"""The root of the clone, if the package is used from one."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra, for the clone in use or for the installed package."""
    if not (ROOT / "pyproject.toml").is_file() or not (ROOT / "src" / "pbm_envs").is_dir():
        return f"pip install 'pbm-envs[{extra}]'"
    return f"pip install -e '{'.' if Path.cwd() == ROOT else ROOT}[{extra}]'"


def import_extra(module: str, what: str, extra: str) -> Any:
    """Import a module of an extra; without it, raise an ImportError that begins with `what`."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"{what}: {install_command(extra)}") from None


def require(what: str, extra: str, *modules: str) -> None:
    """Raise an ImportError that names the extra unless all of these modules are installed.

    >>> require("this", "data", "json", "no_such_module")
    Traceback (most recent call last):
    ImportError: this needs no_such_module, of the extra `data`: pip install ...
    """
    for module in modules:
        if find_spec(module) is None:
            raise ImportError(f"{what} needs {module}, of the extra `{extra}`: {install_command(extra)}")
