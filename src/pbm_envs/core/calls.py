"""Calls of compiled kernels by address, so that a loop over a game's kernels is not compiled with them.

A call by address costs ten nanoseconds; a call by name compiles the called kernels again, for seconds.

    calls = table_of_calls((step_batch, (states, actions, ...)), ...)  # in Python: kernels and example arguments
    call_for_int(calls, 0, (states[:count], actions, ...))             # in a kernel: calls the first of them

If arguments are of other types than the examples, the call raises TypeError. With `NUMBA_DISABLE_JIT=1` the table is a
list of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .kernels import COMPILES

if COMPILES:
    import numba
    from numba.core import cgutils, types
    from numba.extending import intrinsic

FNV_PRIME, LONGEST_WORD = 0x100000001B3, 2**64 - 1
_rows: dict[tuple[Callable[..., Any], Any], tuple[int, int]] = {}
"""Rows of tables by kernel and `_kind` of the arguments, cached because Numba's `typeof` takes milliseconds."""


def table_of_calls(*kernels: tuple[Any, tuple[Any, ...]]) -> Any:
    """Return a table of kernels for calls by address: (len(kernels), 2) uint64, the addresses and hashes of the types.

    `kernels` are pairs of a kernel, made by `kernel` or `stack_kernel`, and example arguments, of which only the types
    matter; the arguments of a `*` parameter are one tuple.
    """
    if not COMPILES:
        return [each for each, _ in kernels]
    rows = []
    for each, arguments in kernels:
        key = each, _kind(arguments)
        if key not in _rows:
            argument_types = tuple(map(numba.typeof, arguments))
            each.compile(argument_types)
            compiled = each.overloads[argument_types]
            address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
            _rows[key] = address, _number(compiled.signature.return_type, argument_types)
        rows.append(_rows[key])
    return np.array(rows, np.uint64)


def _kind(value: Any) -> Any:
    """Return a key that is equal only for values to which Numba assigns the same type."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim, value.flags.num  # flags: memory layout and writability
    return (type(value), *map(_kind, value)) if isinstance(value, tuple) else type(value)


def _number(result: Any, argument_types: Any) -> int:
    """Hash types by FNV (Fowler, Noll & Vo), which needs no library; tuples are flattened as in calls."""
    number = 0
    for byte in "; ".join(map(str, (result, *_flat(argument_types)))).encode():
        number = (number ^ byte) * FNV_PRIME & LONGEST_WORD
    return number


def _flat(kinds: Any) -> Iterator[Any]:
    for kind in kinds:
        yield from _flat(kind) if hasattr(kind, "types") else (kind,)  # the elements of a tuple


def _caller(result: str) -> Callable[..., Any]:
    """Make the function by which kernels call kernels that return this type, given by Numba's name."""
    if not COMPILES:
        return lambda table, row, arguments: table[row](*arguments)

    def call(_: Any, table: Any, row: Any, arguments: Any) -> Any:
        returned = getattr(types, result)
        number = _number(returned, arguments)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            table = context.make_array(signature.args[0])(context, builder, values[0])
            at = builder.mul(values[1], values[1].type(2))
            address = builder.load(builder.gep(table.data, [at]))
            known = builder.load(builder.gep(table.data, [builder.add(at, at.type(1))]))
            with builder.if_then(builder.icmp_unsigned("!=", known, known.type(number)), likely=False):
                message = "a kernel is called by address with arguments of other types than expected"
                context.call_conv.return_user_exc(builder, TypeError, (message,))
            kinds, given = tuple(arguments), cgutils.unpack_tuple(builder, values[2])
            function = builder.inttoptr(address, context.call_conv.get_function_type(returned, kinds).as_pointer())
            status, value = context.call_conv.call_function(builder, function, returned, kinds, given)
            with builder.if_then(status.is_error, likely=False):
                context.call_conv.return_status_propagate(builder, status)
            return value

        return returned(table, types.intp, arguments), generate

    made: Callable[..., Any] = intrinsic(call)
    return made


call: Callable[..., None] = _caller("none")
"""Call a kernel that returns nothing: `call(table, row, arguments)`, with the arguments as a tuple."""
call_for_int: Callable[..., int] = _caller("int64")
"""Call a kernel that returns an integer."""
call_for_flag: Callable[..., bool] = _caller("boolean")
"""Call a kernel that returns a bool."""
