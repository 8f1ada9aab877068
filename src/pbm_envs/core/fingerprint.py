"""A hash of everything that a kernel is compiled from: its code, its constants, and those of all functions it calls.

The hash is computed from the functions and values in memory, which Numba compiles, and not from source files, which may
have changed since they were imported. It covers closures (the kernels and constants captured by kernels made by a
factory), default arguments, and globals of any origin, but neither comments nor line numbers.
"""

from __future__ import annotations

import dis
import hashlib
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np
from numba.extending import is_jitted

from .layouts import StatesType, StateType

LIBRARIES = {"_operator", "builtins", "cmath", "llvmlite", "math", "numba", "numpy", "operator", "random", "typing"}
"""Packages whose content is determined by their versions, which are part of every key."""
types: Any = numba.types
NAMED_TYPES = (
    *(types.Array, types.Boolean, types.DType, types.Literal, types.NoneType, types.Number, types.NumberClass),
    *(types.Omitted, types.Record, types.UnicodeType, StateType, StatesType),
)
"""Types whose name is a complete description: the fields and offsets of a record, the layout of an array."""


class NoFingerprintError(Exception):
    """Raised for a kernel that reads a value that may differ in another process."""


class Part(NamedTuple):
    """The contribution of one function to a fingerprint."""

    digest: bytes
    calls: tuple[FunctionType, ...]
    """The functions that the function reads, in order."""


_parts: WeakKeyDictionary[FunctionType, Part | None] = WeakKeyDictionary()
"""The parts when first requested; None for a function whose inputs have changed since."""


def fingerprint(function: Callable[..., Any]) -> str:
    """Hash everything that `function` and all functions it calls are compiled from, as of the first call.

    Raises:
        NoFingerprintError: If it reads a value that has no stable description, or that has changed since.
    """
    reached = dict(_reached(_python_function(function)))
    numbers = {each: number for number, each in enumerate(reached)}
    digest = hashlib.sha256()
    for part in reached.values():
        digest.update(part.digest + repr([numbers[call] for call in part.calls]).encode())
    return digest.hexdigest()


def refuse(function: Callable[..., Any]) -> None:
    """Make `fingerprint` raise for `function` and its callers from now on."""
    _parts[_python_function(function)] = None


def unchanged(function: Callable[..., Any]) -> bool:
    """Return whether `function` and all functions it calls still read the values of their fingerprint.

    Functions that have changed lose their fingerprint, since Numba may have compiled either version.
    """
    try:
        reached = dict(_reached(_python_function(function)))
    except NoFingerprintError:
        return False
    changed = [each for each, part in reached.items() if _part(each) != part]
    _parts.update(dict.fromkeys(changed))
    return not changed


def _reached(function: FunctionType) -> Iterator[tuple[FunctionType, Part]]:
    """Yield the function and all functions it calls, each once, in a deterministic order."""
    pending, seen = [function], {function}
    while pending:
        current = pending.pop()
        if current not in _parts:
            _parts[current] = _part(current)
        part = _parts[current]
        if part is None:
            raise NoFingerprintError(f"what {current.__qualname__} reads has changed, or is an overload")
        yield current, part
        for call in reversed(part.calls):
            if call not in seen:
                seen.add(call)
                pending.append(call)


def _part(function: FunctionType) -> Part:
    """Return the contribution of one function. Any name in its code, even of an attribute, may be a global."""
    calls: list[FunctionType] = []
    code = function.__code__
    defaults = _describe((function.__defaults__, function.__kwdefaults__), calls, code)
    words = [function.__module__, function.__qualname__, _describe_code(code), defaults]
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            raise NoFingerprintError(f"{function.__qualname__} reads {name}, which is not bound yet") from None
        words.append(f"{name}: {_describe(value, calls, code)}")
    for name in _names(code):
        if name in function.__globals__:
            try:
                words.append(f"{name}: {_describe(function.__globals__[name], calls, code)}")
            except NoFingerprintError as error:
                if name in _global_names(code):
                    raise NoFingerprintError(f"{function.__qualname__} reads {name}: {error}") from None
    return Part(hashlib.sha256("\n".join(words).encode()).digest(), tuple(calls))


@cache
def _describe_code(code: CodeType) -> str:
    """Describe everything that a code object executes, without file names and line numbers."""
    constants = [
        _describe_code(each) if isinstance(each, CodeType) else _describe(each, [], code) for each in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return repr((code.co_code, getattr(code, "co_exceptiontable", b""), constants, names, counts))


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object and those of its nested functions."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


@cache
def _names(code: CodeType) -> tuple[str, ...]:
    """Return the names of the globals and attributes in a code object."""
    return tuple(dict.fromkeys(name for each in _codes(code) for name in each.co_names))


def _global_names(code: CodeType) -> set[str]:
    """Return only the names of globals; slower than `_names`."""
    steps = (step for each in _codes(code) for step in dis.get_instructions(each))
    return {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def _describe(value: Any, calls: list[FunctionType], reader: CodeType) -> str:
    """Return a text that differs whenever Numba would compile different code, and add functions to `calls`."""
    kind = type(value)

    def describe_all(values: Iterable[Any]) -> list[str]:
        return [_describe(each, calls, reader) for each in values]

    if value is None or value is Ellipsis or kind in (bool, int, float, complex, str, bytes, np.dtype, range):
        return f"{kind.__name__} {value!r}"
    if kind in (tuple, list):
        return f"{kind.__name__}({describe_all(value)})"
    if kind is slice:
        return f"slice({describe_all((value.start, value.stop, value.step))})"
    if kind in (frozenset, set, dict):
        return f"{kind.__name__}({sorted(describe_all(value.items() if kind is dict else value))})"
    if isinstance(value, Enum):
        return f"{kind.__module__}.{kind.__qualname__}.{value.name} = {describe_all([value.value])}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return f"NamedTuple {describe_all([kind, *value])}"
    if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
        array = np.asarray(value)
        content = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
        return f"array {array.dtype!r} {array.shape} {array.strides} {array.flags.writeable} {content}"
    if isinstance(value, np.dtype):
        return f"dtype {value!r}"
    if isinstance(value, types.Type):
        return describe_type(value)
    if isinstance(value, ModuleType):
        known = {} if _of_library(value.__name__) else vars(value)  # also what the code may read from it
        return (
            f"module {value.__name__} {describe_all((name, known[name]) for name in _names(reader) if name in known)}"
        )
    if isinstance(value, type):
        return _describe_class(value, calls, reader)
    module = getattr(value, "__module__", None) or kind.__module__
    if _of_library(module) and not is_jitted(value):
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        if name is not None and "<" not in name:
            return f"{module}.{name}"
    if isinstance(value, FunctionType) or is_jitted(value):
        calls.append(_python_function(value))
        return f"function {_describe(getattr(value, 'targetoptions', None), [], reader)}"
    wrapped = getattr(value, "__wrapped__", None)
    if kind.__module__.startswith("numba.") and isinstance(wrapped, FunctionType):
        calls.append(wrapped)
        return "intrinsic"  # (`core.words`): its code is determined by the function that it wraps
    if isinstance(value, BuiltinFunctionType):
        raise NoFingerprintError(f"{value!r} is compiled code of another package")
    raise NoFingerprintError(
        f"a {kind.__module__}.{kind.__qualname__} has no description that is the same in every process"
    )


def _describe_class(value: Any, calls: list[FunctionType], reader: CodeType) -> str:
    name = f"class {value.__module__}.{value.__qualname__}"
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return f"{name} {value._fields} {_describe(value._field_defaults, calls, reader)}"
    if issubclass(value, Enum):
        return f"{name} {_describe(list(value), calls, reader)}"
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
        return f"{_describe_class(owner, [], describe_type.__code__) if owner else 'tuple'}({parts})"
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
    python: FunctionType = getattr(function, "py_func", function)
    return python
