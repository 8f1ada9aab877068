"""Implementations of `int`, `min`, `max`, `np.empty` and `np.zeros` in kernels that compile faster than Numba's.

Numba implements them as functions, which it compiles for every combination of types; here they are instructions. In
kernels without reference counts, arrays are allocated on the stack. Outside kernels, and for other arguments
(non-integers, keywords), Numba's own implementations are used.
"""

# Numba is untyped in some of the versions that we support.
# mypy: disable-error-code="misc, untyped-decorator, attr-defined, no-any-return, unused-ignore"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import impl_ret_new_ref, lower_builtin
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.np.arrayobj import populate_array

from .numba_internals import in_kernel

try:
    from numba.np.arrayobj import _empty_nd_impl, _parse_empty_args
except ImportError:  # fall back to Numba's own `np.empty` and `np.zeros`
    _empty_nd_impl = _parse_empty_args = None

ALIGNMENT = 16
"""The alignment of arrays on the stack, in bytes."""


class KernelTemplate(AbstractTemplate):
    """The typing of a call in a kernel. Numba tries it before its own templates, which are for any target."""

    metadata = {"target": "cpu"}
    name: str
    typed: Callable[..., Any]

    def get_impl_key(self, sig: Any) -> Any:
        return self.name

    def generic(self, args: Any, kws: Any) -> Any:
        return None if kws or not in_kernel() else type(self).typed(self.context, args)


def instruction(function: Any, typed: Callable[..., Any], generate: Callable[..., Any]) -> None:
    """Make kernels compile calls of `function` by `generate` where `typed(context, types)` returns a signature."""
    name = f"pbm_envs {function.__name__}"
    lower_builtin(name, types.VarArg(types.Any))(generate)
    infer_global(function)(type(name, (KernelTemplate,), {"name": name, "typed": staticmethod(typed)}))


def _type_of_int(_: Any, args: Any) -> Any:
    if len(args) != 1 or not isinstance(args[0], (types.Integer, types.Boolean)):
        return None
    return signature(args[0] if isinstance(args[0], types.Integer) else types.intp, *args)


def _convert(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.cast(builder, args[0], sig.args[0], sig.return_type)


def _type_of_two(context: Any, args: Any) -> Any:
    if len(args) != 2 or not all(isinstance(each, types.Integer) for each in args):
        return None
    kind = context.unify_types(*args)
    return signature(kind, *args) if isinstance(kind, types.Integer) else None


def _choose(comparison: str) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        """Select the minimum or maximum; the first of equal numbers, as in Python."""
        kind = sig.return_type
        first, second = (context.cast(builder, value, of, kind) for value, of in zip(args, sig.args, strict=True))
        compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
        return builder.select(compare(comparison, second, first), second, first)

    return generate


def _type_of_array(_: Any, args: Any) -> Any:
    if _empty_nd_impl is None or len(args) != 2:
        return None
    dimensions, element = parse_shape(args[0]), parse_dtype(args[1])
    if dimensions is None or element is None:
        return None
    return signature(types.Array(element, dimensions, "C"), *args)


def _make_array(*, clear: bool) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        """Allocate an array; in a kernel without reference counts, on the stack until the kernel returns."""
        kind, lengths = _parse_empty_args(context, builder, sig, args)
        array = (_empty_nd_impl if context.enable_nrt else _array_on_stack)(context, builder, kind, lengths)
        if clear:
            cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
        return impl_ret_new_ref(context, builder, sig.return_type, array._getvalue())

    return generate


def _array_on_stack(context: Any, builder: Any, kind: types.Array, lengths: list[Any]) -> Any:
    array, element = context.make_array(kind)(context, builder), context.get_data_type(kind.dtype)
    size = context.get_abi_sizeof(element)
    strides, items = [context.get_constant(types.intp, size)], lengths[-1]
    for length in reversed(lengths[:-1]):
        strides.insert(0, builder.mul(items, context.get_constant(types.intp, size)))
        items = builder.mul(items, length)
    if isinstance(items, ir.Constant):
        data = cgutils.alloca_once(builder, element, size=items)
    else:
        data = builder.alloca(element, size=items)
    data.align = ALIGNMENT
    populate_array(array, data=data, shape=lengths, strides=strides, itemsize=size, meminfo=None)
    return array


instruction(int, _type_of_int, _convert)
instruction(min, _type_of_two, _choose("<"))
instruction(max, _type_of_two, _choose(">"))
instruction(np.empty, _type_of_array, _make_array(clear=False))
instruction(np.zeros, _type_of_array, _make_array(clear=True))
