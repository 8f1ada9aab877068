"""`int`, `min`, `max`, `np.empty` and `np.zeros` in kernels as instructions: the same, but compiled faster.

Numba implements them as functions, and compiles each of these, as it does a kernel, for every combination of types.
In kernels that count no references arrays lie on the stack.
Nothing changes for compiled functions that are no kernels. For what is not listed here (numbers that are no integers,
keywords), and where Numba has no place for ours, its own serve.
"""

# Numba's types are untyped in some of the versions that we support.
# mypy: disable-error-code="misc, untyped-decorator, attr-defined, no-any-return, unused-ignore"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.compiler import Flags
from numba.core.imputils import impl_ret_new_ref, lower_builtin
from numba.core.targetconfig import ConfigStack
from numba.core.typing.npydecl import parse_dtype, parse_shape
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.np.arrayobj import populate_array

try:
    from numba.np.arrayobj import _empty_nd_impl, _parse_empty_args
except ImportError:  # then Numba's own `np.empty` and `np.zeros` serve
    _empty_nd_impl = _parse_empty_args = None

WHOLE = (types.Integer, types.Boolean)
ALIGNMENT = 16
"""Of arrays on the stack, in bytes."""


class KernelFlags(Flags):
    """What Numba is told about compiling a kernel; its class marks it as one."""


def mark_kernel(dispatcher: Any) -> None:
    """Let what this dispatcher compiles be known as a kernel; else Numba's own functions serve in it."""
    compiler: Any = getattr(dispatcher, "_compiler", None)
    if hasattr(compiler, "_customize_flags"):
        compiler._customize_flags = KernelFlags


def in_kernel() -> bool:
    """Return whether the function whose calls Numba gives types is a kernel."""
    return isinstance(ConfigStack.top_or_none(), KernelFlags)


class KernelTemplate(AbstractTemplate):
    """The type of a call in a kernel. It is asked before Numba's own, which are for any target."""

    metadata = {"target": "cpu"}
    generate: Any

    def get_impl_key(self, sig: Any) -> Any:
        return type(self).generate

    def generic(self, args: Any, kws: Any) -> Any:
        return None if kws or not in_kernel() else self.signature(args)

    def signature(self, args: Any) -> Any:
        raise NotImplementedError


@lower_builtin("pbm_envs int", types.Any)
def convert(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.cast(builder, args[0], sig.args[0], sig.return_type)


@lower_builtin("pbm_envs min", types.Any, types.Any)
def smaller(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _choose("<", context, builder, sig, args)


@lower_builtin("pbm_envs max", types.Any, types.Any)
def larger(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _choose(">", context, builder, sig, args)


def _choose(comparison: str, context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Of equal ones the first, as Python has it."""
    kind = sig.return_type
    first, second = (context.cast(builder, value, of, kind) for value, of in zip(args, sig.args, strict=True))
    compare = builder.icmp_signed if kind.signed else builder.icmp_unsigned
    return builder.select(compare(comparison, second, first), second, first)


@lower_builtin("pbm_envs empty", types.Any, types.Any)
def empty(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = _new_array(context, builder, sig, args)
    return impl_ret_new_ref(context, builder, sig.return_type, array._getvalue())


@lower_builtin("pbm_envs zeros", types.Any, types.Any)
def zeros(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    array = _new_array(context, builder, sig, args)
    cgutils.memset(builder, array.data, builder.mul(array.itemsize, array.nitems), 0)
    return impl_ret_new_ref(context, builder, sig.return_type, array._getvalue())


def _new_array(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """In a kernel that counts no references it lies on the stack, and lasts until the kernel returns."""
    kind, lengths = _parse_empty_args(context, builder, sig, args)
    return (_empty_nd_impl if context.enable_nrt else _array_on_stack)(context, builder, kind, lengths)


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


@infer_global(int)
class Int(KernelTemplate):
    generate = "pbm_envs int"

    def signature(self, args: Any) -> Any:
        if len(args) != 1 or not isinstance(args[0], WHOLE):
            return None
        return signature(args[0] if isinstance(args[0], types.Integer) else types.intp, *args)


class OfTwo(KernelTemplate):
    def signature(self, args: Any) -> Any:
        if len(args) != 2 or not all(isinstance(each, types.Integer) for each in args):
            return None
        kind = self.context.unify_types(*args)
        return signature(kind, *args) if isinstance(kind, types.Integer) else None


@infer_global(min)
class Min(OfTwo):
    generate = "pbm_envs min"


@infer_global(max)
class Max(OfTwo):
    generate = "pbm_envs max"


class NewArray(KernelTemplate):
    def signature(self, args: Any) -> Any:
        if _empty_nd_impl is None or len(args) != 2:
            return None
        dimensions, element = parse_shape(args[0]), parse_dtype(args[1])
        if dimensions is None or element is None:
            return None
        return signature(types.Array(element, dimensions, "C"), *args)


@infer_global(np.empty)
class Empty(NewArray):
    generate = "pbm_envs empty"


@infer_global(np.zeros)
class Zeros(NewArray):
    generate = "pbm_envs zeros"
