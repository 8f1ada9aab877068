"""Record types whose field lengths are read at run time: a kernel is compiled once per game, for all board sizes.

Numba's own type for a structured array contains the length of each field, so a kernel would be recompiled for every
size of the board: 5 seconds for Chameleon, 15 for Curio. The type that `register_records` gives the records of a game
contains only names, element types and dimensions. A batch comes with a *layout*, an array of integers: the bytes of a
record, then for each field its offset and its lengths. In a kernel `states[i]`, `state["stones"]` and
`len(state["stones"])` mean what they mean in NumPy.

Numba has no such type, so this module implements the typing and code generation that Numba has for its own arrays of
records, by its documented extension interface (except for `numba_adapt_ndarray`, which reads an array object). Fields
padded to 32, 64, 128, ... cells would need few types, but every view and every state in a search would copy the
padding; one array per field costs a quarter of a microsecond per call and argument.

The module affects only speed: if `register_records` returns its argument, Numba's own types are used. Two properties
must survive a change. Lengths of at most `LONGEST_CONSTANT` and offsets before the first longer field are constants in
the code, since loops over players and faces must be unrolled. And a batch is passed to a kernel without counting
references, and kernels do not keep it.
"""

# Numba is untyped in some of the versions that we support.
# mypy: disable-error-code="misc, untyped-decorator, attr-defined, no-any-return, unused-ignore"

from __future__ import annotations

import ctypes
import hashlib
import operator
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.cpython import slicing
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

LONGEST_CONSTANT = 4
"""The greatest field length that is part of a type."""
SIZE = 0
"""The index of the entry of a layout that contains the number of bytes of a record."""
SYMBOL = "pbm_envs_layouts"
"""The name by which compiled code finds `_python_objects`."""
_registered: dict[np.dtype[np.void], tuple[np.dtype[np.void], StateType, NDArray[np.int64]]] = {}
"""For each dtype the first equal one, which all games use (dictionaries find it without comparing fields), its type and
its layout."""
_addresses: dict[np.dtype[np.void], int] = {}
"""The address of each layout. Compiled code reads this dictionary."""
_python_objects = (ctypes.py_object * 2)(_addresses, sys.intern("dtype"))
llvmlite.binding.add_symbol(SYMBOL, ctypes.addressof(_python_objects))


class Field(NamedTuple):
    """A field of a record, as part of a type."""

    name: str
    element: types.Type
    lengths: tuple[int | None, ...]
    """The lengths of the axes; None for those that only the layout contains, after the offset."""
    start: int | None
    """The offset in bytes; None if only the layout contains it."""
    at: int
    """The index of the offset in the layout."""

    @property
    def kind(self) -> types.Type:
        """The type of the field."""
        return types.Array(self.element, len(self.lengths), "C") if self.lengths else self.element

    def __repr__(self) -> str:
        return f"{self.name}:{self.element}{list(self.lengths)}@{self.start}"


class StateType(types.Type):
    """Numba's type of one record of a game."""

    def __init__(self, fields: tuple[Field, ...]) -> None:
        self.fields = {field.name: field for field in fields}
        super().__init__(name=f"state_{hashlib.sha256(repr(fields).encode()).hexdigest()[:16]}")


class StatesType(types.Type):
    """Numba's type of a batch of records."""

    def __init__(self, record: StateType, writable: bool) -> None:
        self.record, self.writable = record, writable
        super().__init__(name=f"{record.name}s{'' if writable else '_read_only'}")


def register_records(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
    """Register a dtype as the records of a game; return the equal dtype that was registered first."""
    if dtype not in _registered:
        layout, fields, fixed = [dtype.itemsize], [], True
        for name in dtype.names or ():
            kind, start = dtype.fields[name][:2]  # type: ignore[index]
            lengths = tuple(length if length <= LONGEST_CONSTANT else None for length in kind.shape)
            fields.append(Field(name, numba.from_dtype(kind.base), lengths, start if fixed else None, len(layout)))
            layout += [start, *kind.shape]
            fixed = fixed and None not in lengths
        _registered[dtype] = dtype, StateType(tuple(fields)), np.array(layout, np.int64)
        _addresses[dtype] = _registered[dtype][2].ctypes.data
    return _registered[dtype][0]


def layout_of(array: NDArray[Any]) -> NDArray[np.int64] | None:
    """Return the layout of a batch of records of a game, which kernels read; None for any other array."""
    known = _registered.get(array.dtype) if array.ndim == 1 and array.dtype.names else None
    return None if known is None else known[2]


def _typeof_array(value: np.ndarray[Any, Any], context: Any) -> Any:
    if value.dtype.names and value.ndim == 1 and value.dtype in _registered:
        return StatesType(_registered[value.dtype][1], value.flags.writeable)
    return _typeof_other(value, context)


_typeof_other = typeof_impl.dispatch(np.ndarray)
typeof_impl.register(np.ndarray)(_typeof_array)


@register_model(StateType)
@register_model(StatesType)
class StatesModel(models.StructModel):
    """The addresses of a record (in a batch, the first) and of its layout; for a batch also its length and stride."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("data", types.voidptr), ("layout", types.voidptr)]
        if isinstance(kind, StatesType):
            members += [("count", types.intp), ("stride", types.intp)]
        super().__init__(manager, kind, members)


@unbox(StatesType)
def unbox_states(kind: StatesType, value: Any, c: Any) -> Any:
    """Convert an array object to a struct with its fields and the layout of its dtype."""
    builder, api = c.builder, c.pyapi
    array = c.context.make_array(types.Array(types.uint8, 1, "A"))(c.context, builder)
    read_type = ir.FunctionType(ir.IntType(32), [api.pyobj, api.voidptr])
    read_array = cgutils.get_or_insert_function(builder.module, read_type, "numba_adapt_ndarray")
    builder.call(read_array, [value, builder.bitcast(array._getpointer(), api.voidptr)])
    objects = c.context.get_c_value(builder, ir.ArrayType(api.pyobj, 2), SYMBOL)
    addresses, name = cgutils.unpack_tuple(builder, builder.load(objects), 2)
    dtype = api.object_getattr(value, name)
    address = api.dict_getitem(addresses, dtype)
    api.decref(dtype)  # the array holds a reference
    states = c.context.make_helper(builder, kind)
    states.data = builder.bitcast(array.data, api.voidptr)
    states.count, states.stride = (cgutils.unpack_tuple(builder, each, 1)[0] for each in (array.shape, array.strides))
    unknown = cgutils.is_null(builder, address)
    with builder.if_else(unknown, likely=False) as (refuse, take):
        with refuse:
            api.err_set_string("PyExc_TypeError", "expected a batch of records of a game")
        with take:
            states.layout = api.long_as_voidptr(address)
    return NativeValue(states._getvalue(), is_error=unknown)


def _entry(context: Any, builder: Any, layout: Any, at: int) -> Any:
    """Load an entry of a layout; layouts never change."""
    entries = builder.bitcast(layout, context.get_value_type(types.intp).as_pointer())
    loaded = builder.load(builder.gep(entries, [ir.Constant(ir.IntType(64), at)]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _place(context: Any, builder: Any, field: Field, state: Any) -> Any:
    """Return the address of a field."""
    start = field.start
    start = _entry(context, builder, state.layout, field.at) if start is None else ir.Constant(ir.IntType(64), start)
    place = builder.gep(state.data, [start])
    return builder.bitcast(place, context.get_data_type(field.element).as_pointer())


def operation(key: Any, typed: Callable[..., Any], *kinds: Any) -> Callable[[Any], Any]:
    """Register the code generator of an operation on arguments of these kinds.

    `typed(context, *types)`, called if the first is one of `kinds[0]`, returns the signature, or None for other types.
    """

    def generic(self: Any, args: Any, kws: Any) -> Any:
        return typed(self.context, *args) if isinstance(args[0], kinds[0]) else None

    template = type(f"type_of_{key}", (AbstractTemplate,), {"generic": generic, "key": key})
    (infer if isinstance(key, str) else infer_global(key))(template)
    return lower_builtin(key, *kinds)


@operation(len, lambda _, states: signature(types.intp, states), StatesType)
def len_states(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return context.make_helper(builder, sig.args[0], args[0]).count


def _type_of_slice(_: Any, states: Any, index: Any) -> Any:
    return signature(states, states, index) if isinstance(index, types.SliceType) and not index.has_step else None


@operation(operator.getitem, _type_of_slice, StatesType, types.SliceType)
def get_some_states(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Return a slice of a batch as a batch."""
    states = context.make_helper(builder, sig.args[0], args[0])
    some = context.make_helper(builder, sig.args[1], args[1])
    slicing.fix_slice(builder, some, states.count)
    states.data = builder.gep(states.data, [builder.mul(some.start, states.stride)])
    states.count = slicing.get_slice_length(builder, some)
    return states._getvalue()


def _record(context: Any, builder: Any, kind: Any, states: Any, index: Any) -> Any:
    """Return record `index` of a batch, counted from the end if negative, as a struct."""
    states = context.make_helper(builder, kind, states)
    negative = builder.icmp_signed("<", index, index.type(0))
    index = builder.select(negative, builder.add(index, states.count), index)
    state = context.make_helper(builder, kind.record)
    state.data = builder.gep(states.data, [builder.mul(index, states.stride)])
    state.layout = states.layout
    return state


def _type_of_record(_: Any, states: Any, index: Any) -> Any:
    return signature(states.record, states, types.intp) if isinstance(index, types.Integer) else None


@operation(operator.getitem, _type_of_record, StatesType, types.Integer)
def get_state(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _record(context, builder, sig.args[0], *args)._getvalue()


def _type_of_set_record(_: Any, states: Any, index: Any, state: Any) -> Any:
    fits = states.writable and isinstance(index, types.Integer) and state == states.record
    return signature(types.none, states, types.intp, state) if fits else None


@operation(operator.setitem, _type_of_set_record, StatesType, types.Integer, StateType)
def set_state(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    target = _record(context, builder, kind, args[0], args[1])
    source = context.make_helper(builder, kind.record, args[2])
    cgutils.raw_memmove(builder, target.data, source.data, _entry(context, builder, source.layout, SIZE), 1)


def _type_of_field(_: Any, state: Any, name: Any) -> Any:
    if isinstance(name, str) and name not in state.fields:
        raise numba.errors.TypingError(f"a record has no field {name!r}: expected one of {', '.join(state.fields)}")
    return signature(state.fields[name].kind, state, name) if isinstance(name, str) else None


@operation("static_getitem", _type_of_field, StateType, types.StringLiteral)
def get_field(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    field = kind.fields[args[1]]
    state = context.make_helper(builder, kind, args[0])
    place = _place(context, builder, field, state)
    if not field.lengths:
        return context.unpack_value(builder, field.element, place)
    width = context.get_abi_sizeof(context.get_data_type(field.element))
    lengths = [
        _entry(context, builder, state.layout, field.at + 1 + axis)
        if length is None
        else ir.Constant(ir.IntType(64), length)
        for axis, length in enumerate(field.lengths)
    ]
    strides = [context.get_constant(types.intp, width)]
    for length in reversed(lengths[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(field.kind)(context, builder)
    populate_array(array, data=place, shape=lengths, strides=strides, itemsize=width, meminfo=None)
    return array._getvalue()


def _type_of_set_field(context: Any, state: Any, name: Any, value: Any) -> Any:
    known = _type_of_field(context, state, name)
    kind = None if known is None else known.return_type
    if kind is None or isinstance(kind, types.Array) or context.can_convert(value, kind) is None:
        return None
    return signature(types.void, state, types.literal(name), kind)


@operation("static_setitem", _type_of_set_field, StateType, types.StringLiteral, types.Any)
def set_field(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    field = kind.fields[args[1]]
    state = context.make_helper(builder, kind, args[0])
    context.pack_value(builder, field.element, args[2], _place(context, builder, field, state))
