"""A hash of everything that a kernel is compiled from: its code, its constants, and those of all functions it calls.

The hash is computed from the functions and values in memory, which Numba compiles, and not from source files, which may
have changed since they were imported. It covers closures, default arguments and globals of any origin, but neither
comments, docstrings nor line numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, MutableMapping
from enum import Enum
from functools import cache
from types import CodeType, EllipsisType, FunctionType, ModuleType, NoneType
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba.extending import is_jitted

from .layouts import StatesType, StateType

LIBRARIES = {"_operator", "builtins", "cmath", "llvmlite", "math", "numba", "numpy", "operator", "random", "typing"}
"""Packages whose content is determined by their versions, which are part of every key."""
PLAIN = {NoneType, EllipsisType, bool, int, float, complex, str, bytes, range, slice}
types: Any = numba.types
NAMED_TYPES = (
    *(types.Array, types.Boolean, types.DType, types.Literal, types.NoneType, types.Number, types.NumberClass),
    *(types.Omitted, types.Record, types.UnicodeType, StateType, StatesType),
)
"""Types whose name is a complete description: the fields and offsets of a record, the layout of an array."""
Known: TypeAlias = MutableMapping[FunctionType, str | None]
_first: WeakKeyDictionary[FunctionType, str | None] = WeakKeyDictionary()
"""The fingerprints when first requested; None for a function that may have been compiled from something else."""


class NoFingerprintError(Exception):
    """Raised for a kernel that reads a value that may differ in another process."""


def fingerprint(function: Callable[..., Any]) -> str:
    """Hash everything that `function` and all functions it calls are compiled from, as of the first call.

    Raises:
        NoFingerprintError: If it reads a value that has no stable description, or that has changed since.
    """
    try:
        return _hash(_python_function(function), _first)
    except RecursionError:
        raise NoFingerprintError(f"{function.__qualname__} calls a function that calls it") from None


def refuse(function: Callable[..., Any]) -> None:
    """Make `fingerprint` raise for `function` and its later callers, and `unchanged` return False for all callers."""
    _first[_python_function(function)] = None


def unchanged(function: Callable[..., Any]) -> bool:
    """Return whether `function` and all functions it calls still read the values of their fingerprint.

    If not, `function` has no fingerprint from now on, since Numba may have compiled either version.
    """
    refused: Known = {each: None for each, known in _first.items() if known is None}
    try:
        same = fingerprint(function) == _hash(_python_function(function), refused)
    except (NoFingerprintError, RecursionError):
        same = False
    if not same:
        refuse(function)
    return same


def _hash(function: FunctionType, known: Known) -> str:
    """Return the fingerprint of a function, and add it and those of all functions it calls to `known`."""
    if function not in known:
        known[function] = hashlib.sha256("\n".join(_parts(function, known)).encode()).hexdigest()
    found = known[function]
    if found is None:
        raise NoFingerprintError(f"what {function.__qualname__} reads has changed, or is an overload")
    return found


def _parts(function: FunctionType, known: Known) -> Iterable[str]:
    """Yield descriptions of what a function is compiled from. Any name in its code may be that of a global."""
    code = function.__code__
    read = [("its defaults", (function.__defaults__, function.__kwdefaults__))]
    try:
        read += [
            (name, cell.cell_contents) for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
        ]
    except ValueError:
        raise NoFingerprintError(f"{function.__qualname__} reads a variable that is not bound yet") from None
    read += [(name, function.__globals__[name]) for name in _names(code) if name in function.__globals__]
    yield f"{function.__module__} {function.__qualname__} {describe_code(code, function.__doc__)}"
    for name, value in read:
        try:
            yield f"{name}: {_describe(value, known, function)}"
        except NoFingerprintError as error:
            raise NoFingerprintError(f"{function.__qualname__} reads {name}: {error}") from None


@cache
def describe_code(code: CodeType, docstring: str | None = None) -> str:
    """Describe everything that a code object executes, without its docstring, file names and line numbers."""
    constants = [describe_code(each) if isinstance(each, CodeType) else _describe(each, {}) for each in code.co_consts]
    if docstring is not None and code.co_consts[0] == docstring:
        constants[0] = "docstring"
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return repr((code.co_code, getattr(code, "co_exceptiontable", b""), constants, names, counts))


@cache
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names of the globals and attributes in a code object and in its nested functions."""
    nested = (name for each in code.co_consts if isinstance(each, CodeType) for name in _names(each))
    return tuple(dict.fromkeys((*code.co_names, *nested)))


def _describe(value: Any, known: Known, reader: FunctionType | None = None) -> str:
    """Return a text that differs whenever Numba would compile different code for `reader`."""
    kind, module = type(value), getattr(value, "__module__", None) or type(value).__module__
    title = f"{kind.__module__}.{kind.__qualname__}"

    def describe_all(values: Iterable[Any]) -> list[str]:
        return [_describe(each, known, reader) for each in values]

    if kind in PLAIN or isinstance(value, np.dtype):
        return f"{title} {value!r}"
    if isinstance(value, Enum):
        return f"{title}.{value.name} {describe_all([value.value])}"
    if kind is list or isinstance(value, tuple):
        return f"{title} {getattr(value, '_fields', '')} {describe_all(value)}"
    if kind in (frozenset, set, dict):
        return f"{title} {sorted(describe_all(value.items() if kind is dict else value))}"
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        array = np.asarray(value)
        content = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        return f"array {array.dtype!r} {array.shape} {array.strides} {array.flags.writeable} {content}"
    if isinstance(value, types.Type):
        return describe_type(value)
    if isinstance(value, ModuleType):
        names = () if reader is None or _of_library(value.__name__) else _names(reader.__code__)
        read = [(name, vars(value)[name]) for name in names if name in vars(value)]
        return f"module {value.__name__} {describe_all(read)}"
    if isinstance(value, type):
        return _describe_class(value, known)
    jitted, name = is_jitted(value), getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if _of_library(module) and not jitted and name is not None and "<" not in name:
        return f"{module}.{name}"
    intrinsic = not jitted and kind.__module__.startswith("numba.")  # its code is determined by the function it wraps
    python = value.__wrapped__ if intrinsic and hasattr(value, "__wrapped__") else _python_function(value)
    if python is reader is not None:
        return "itself"
    if isinstance(python, FunctionType):
        return f"{title} {_hash(python, known)} {describe_all([getattr(value, 'targetoptions', None)])}"
    raise NoFingerprintError(f"a {title} has no description that is the same in every process")


def _describe_class(value: Any, known: Known) -> str:
    name = f"class {value.__module__}.{value.__qualname__}"
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return f"{name} {value._fields} {_describe(value._field_defaults, known)}"
    if issubclass(value, Enum):
        return f"{name} {_describe(list(value), known)}"
    if _of_library(value.__module__):
        return name
    raise NoFingerprintError(f"{name} may do anything")


def describe_type(kind: Any) -> str:
    """Return a description of an argument's type that is stable across processes and includes a NamedTuple's fields.

    Raises:
        NoFingerprintError: If the type, such as that of a function, has no such description.
    """
    if isinstance(kind, types.BaseTuple):
        parts = ", ".join(describe_type(part) for part in kind)
        owner = getattr(kind, "instance_class", None)
        return f"{_describe_class(owner, {}) if owner else 'tuple'}({parts})"
    if isinstance(kind, types.Optional):
        return f"optional {describe_type(kind.type)}"
    if isinstance(kind, NAMED_TYPES):
        return str(kind)
    raise NoFingerprintError(f"an argument is a {kind}")


def foreign(functions: Iterable[Callable[..., Any]]) -> str:
    """Return the name of the first of these functions that is not from a library; "" if there is none."""
    names = (f"{each.__module__ or 'numba'}.{each.__qualname__}" for each in functions)  # Numba makes some by `exec`
    return next((name for name in names if not _of_library(name)), "")


def _of_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def _python_function(function: Any) -> FunctionType:
    """Return the Python function that a dispatcher compiles."""
    return getattr(function, "py_func", function)
