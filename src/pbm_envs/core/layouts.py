"""Records whose lengths are read when a kernel runs: a kernel is compiled once a game, whatever the size of its board.

Numba's own type for a structured array says how long each field is, so that a kernel is compiled anew for every board.
For the records of games (`register_records`) it is told another type, which says only the names, element types and
dimensions of the fields. A batch then comes with a *layout*, an array of integers: the bytes of a record, and of each
field where it begins and how long it is. In a kernel `states[i]`, `state["stones"]` and `len(state["stones"])` are what
they always are. Lengths of at most `LONGEST_CONSTANT`, and the places of fields before the first other one, are part of
the type: they are constants in the code.

A batch is handed to a kernel without counting references. `benchmarks/cold_start.py` compares this with other ways.

This extends Numba by its interface for extensions, most of which is documented. Where arrays of NumPy are not laid out
as they are known to be, Numba's own types serve.
"""

# Numba's types are untyped in some of the versions that we support.
# mypy: disable-error-code="misc, untyped-decorator, attr-defined, no-any-return, unused-ignore"

from __future__ import annotations

import ctypes
import hashlib
import operator
from functools import cache
from typing import Any

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer, infer_global, signature
from numba.cpython import slicing
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import populate_array
from numpy.typing import NDArray

LONGEST_CONSTANT = 4
"""The longest length that is part of a type."""
DATA, SHAPE, STRIDES, DTYPE = (object.__basicsize__ + offset for offset in (0, 16, 24, 40))
"""Where NumPy's array objects keep these: part of its binary interface, on machines of 64 bits."""
SYMBOL = "pbm_envs_layouts"
"""The name by which compiled code finds `_addresses`."""
SLOTS = 256
"""Of the table in which compiled code finds the layout of a dtype by its address, before it asks a dictionary."""
_types: dict[np.dtype[np.void], StateType] = {}
_dtypes: dict[np.dtype[np.void], np.dtype[np.void]] = {}
"""Of equal dtypes the first, which all games are given: it is found by its address."""
_addresses: dict[np.dtype[np.void], int] = {}
"""Where the layout of each type of records lies."""
_layouts: list[NDArray[np.int64]] = []
"""Every layout, so that none moves."""


class Field:
    """A field of a record, as a type knows it."""

    def __init__(self, name: str, element: types.Type, lengths: tuple[int | None, ...], start: int | None, at: int):
        self.name, self.element, self.lengths = name, element, lengths
        self.start = start
        """Bytes before it; None if the layout says so."""
        self.at = at
        """Where the layout has its start, and then its lengths."""

    @property
    def array(self) -> types.Array:
        """The type of the field, if it is an array."""
        return types.Array(self.element, len(self.lengths), "C")

    def __repr__(self) -> str:
        return f"{self.name}:{self.element}{list(self.lengths)}@{self.start}"


class StateType(types.Type):
    """Numba's type of one record of a game."""

    def __init__(self, fields: tuple[Field, ...], size: int | None) -> None:
        self.fields, self.size = {field.name: field for field in fields}, size
        described = hashlib.sha256(repr((fields, size)).encode()).hexdigest()[:16]
        super().__init__(name=f"state_{described}")


class StatesType(types.Type):
    """Numba's type of a batch of records."""

    def __init__(self, record: StateType, writable: bool) -> None:
        self.record, self.writable = record, writable
        super().__init__(name=f"{record.name}s{'' if writable else '_read_only'}")


def register_records(dtype: np.dtype[np.void]) -> np.dtype[np.void]:
    """Let kernels take records of this type as those of a game; without the compiler nothing is done.

    Returns:
        The type, or the equal one that was registered first.
    """
    if dtype not in _dtypes:
        _dtypes[dtype] = dtype
        if not config.DISABLE_JIT and _numpy_is_known():
            fields, layout = _read(dtype)
            _types[dtype] = StateType(fields, dtype.itemsize if len(layout) == 1 else None)
            _layouts.append(np.array(layout, np.int64))
            _addresses[dtype] = _layouts[-1].ctypes.data
            _table.slots[id(dtype) >> 4 & SLOTS - 1] = id(dtype), _addresses[dtype]
    return _dtypes[dtype]


@cache
def _numpy_is_known() -> bool:
    """Whether array objects are laid out as compiled code expects."""

    def word(address: int) -> int:
        return ctypes.c_size_t.from_address(address).value

    array = np.zeros(6, np.int16)[::2]
    if ctypes.sizeof(ctypes.c_size_t) != 8 or word(id(array) + DATA) != array.ctypes.data:
        return False
    if word(id(array) + DTYPE) != id(array.dtype):
        return False
    return word(word(id(array) + SHAPE)) == 3 and word(word(id(array) + STRIDES)) == 4


def _read(dtype: np.dtype[np.void]) -> tuple[tuple[Field, ...], list[int]]:
    """The fields of a type, and its layout."""
    layout, fields, fixed = [dtype.itemsize], [], True
    for name in dtype.names or ():
        kind, start = dtype.fields[name][:2]  # type: ignore[index]
        element = numba.from_dtype(kind.base)
        lengths = tuple(length if length <= LONGEST_CONSTANT else None for length in kind.shape)
        fields.append(Field(name, element, lengths, start if fixed else None, len(layout)))
        if not fixed or None in lengths:
            layout += [start, *kind.shape]
        fixed = fixed and None not in lengths
    return tuple(fields), layout


def _typeof_array(value: np.ndarray[Any, Any], context: Any) -> Any:
    if value.dtype.names and value.ndim == 1 and value.dtype in _types:
        return StatesType(_types[value.dtype], value.flags.writeable)
    return _typeof_other(value, context)


_typeof_other = typeof_impl.dispatch(np.ndarray)
typeof_impl.register(np.ndarray)(_typeof_array)


class _Table(ctypes.Structure):
    """What compiled code finds at `SYMBOL`."""

    _fields_ = [("addresses", ctypes.py_object), ("slots", (ctypes.c_uint64 * 2) * SLOTS)]


_table = _Table(_addresses)
llvmlite.binding.add_symbol(SYMBOL, ctypes.addressof(_table))


@register_model(StateType)
class StateModel(models.StructModel):
    """Addresses of a record and of its layout."""

    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("data", types.voidptr), ("layout", types.voidptr)])


@register_model(StatesType)
class StatesModel(models.StructModel):
    """Addresses of the first record and of the layout; how many records there are, and bytes from one to the next."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("data", types.voidptr), ("layout", types.voidptr), ("count", types.intp), ("stride", types.intp)]
        super().__init__(manager, kind, members)


@unbox(StatesType)
def unbox_states(kind: StatesType, value: Any, c: Any) -> Any:
    """From Python: what NumPy's array says, and the address of the layout of its dtype."""
    builder, api = c.builder, c.pyapi
    array = builder.bitcast(value, api.voidptr)

    def member(offset: int, kind: Any) -> Any:
        place = builder.gep(array, [ir.Constant(ir.IntType(64), offset)])
        return builder.load(builder.bitcast(place, kind.as_pointer()))

    word = c.context.get_value_type(types.intp)
    dtype = member(DTYPE, word)
    slots = ir.ArrayType(ir.ArrayType(word, 2), SLOTS)
    table = c.context.get_c_value(builder, ir.LiteralStructType([api.pyobj, slots]), SYMBOL)
    row = builder.and_(builder.lshr(dtype, word(4)), word(SLOTS - 1))
    zero, one = ir.IntType(32)(0), ir.IntType(32)(1)
    found = cgutils.alloca_once_value(builder, builder.load(builder.gep(table, [zero, one, row, one])))
    known = builder.load(builder.gep(table, [zero, one, row, zero]))
    with builder.if_then(builder.icmp_unsigned("!=", known, dtype), likely=False):
        address = api.dict_getitem(builder.load(builder.gep(table, [zero, zero])), builder.inttoptr(dtype, api.pyobj))
        builder.store(word(0), found)
        with builder.if_else(cgutils.is_null(builder, address), likely=False) as (refuse, take):
            with refuse:
                api.err_set_string("PyExc_TypeError", "expected a batch of records of a game")
            with take:
                builder.store(builder.ptrtoint(api.long_as_voidptr(address), word), found)
    layout = builder.load(found)
    states = cgutils.create_struct_proxy(kind)(c.context, builder)
    states.data = member(DATA, api.voidptr)
    states.layout = builder.inttoptr(layout, api.voidptr)
    states.count = builder.load(member(SHAPE, word.as_pointer()))
    states.stride = builder.load(member(STRIDES, word.as_pointer()))
    return NativeValue(states._getvalue(), is_error=builder.icmp_unsigned("==", layout, word(0)))


def _entry(context: Any, builder: Any, layout: Any, at: int) -> Any:
    """A number of a layout, which never changes."""
    entries = builder.bitcast(layout, context.get_value_type(types.intp).as_pointer())
    loaded = builder.load(builder.gep(entries, [ir.Constant(ir.IntType(64), at)]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def _length(context: Any, builder: Any, field: Field, layout: Any, axis: int) -> Any:
    length = field.lengths[axis]
    if length is not None:
        return context.get_constant(types.intp, length)
    return _entry(context, builder, layout, field.at + 1 + axis)


def _place(context: Any, builder: Any, field: Field, state: Any) -> Any:
    """The address of a field."""
    start = _entry(context, builder, state.layout, field.at) if field.start is None else None
    place = builder.gep(state.data, [ir.Constant(ir.IntType(64), field.start) if start is None else start])
    return builder.bitcast(place, context.get_data_type(field.element).as_pointer())


def _known_field(kind: Any, name: Any) -> Field | None:
    if not isinstance(kind, StateType) or not isinstance(name, str):
        return None
    if name not in kind.fields:
        raise numba.errors.TypingError(f"a record has no field {name!r}: expected one of {', '.join(kind.fields)}")
    return kind.fields[name]


@infer_global(len)
class LenStates(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if isinstance(args[0], StatesType) else None


@lower_builtin(len, StatesType)
def len_states(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).count


@infer_global(operator.getitem)
class GetState(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        states, index = args
        if isinstance(states, StatesType) and isinstance(index, types.Integer):
            return signature(states.record, states, types.intp)
        if isinstance(states, StatesType) and isinstance(index, types.SliceType) and not index.has_step:
            return signature(states, states, index)
        return None


@lower_builtin(operator.getitem, StatesType, types.SliceType)
def get_some_states(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Some records of a batch, as a batch."""
    states = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    some = context.make_helper(builder, sig.args[1], args[1])
    slicing.fix_slice(builder, some, states.count)
    states.data = builder.gep(states.data, [builder.mul(some.start, states.stride)])
    states.count = slicing.get_slice_length(builder, some)
    return states._getvalue()


def _record(context: Any, builder: Any, kind: Any, states: Any, index: Any) -> Any:
    """Record `index` of a batch, counted from the end if it is negative, as a struct."""
    states = cgutils.create_struct_proxy(kind)(context, builder, value=states)
    negative = builder.icmp_signed("<", index, index.type(0))
    index = builder.select(negative, builder.add(index, states.count), index)
    state = cgutils.create_struct_proxy(kind.record)(context, builder)
    state.data = builder.gep(states.data, [builder.mul(index, states.stride)])
    state.layout = states.layout
    return state


@lower_builtin(operator.getitem, StatesType, types.Integer)
def get_state(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return _record(context, builder, sig.args[0], *args)._getvalue()


@infer_global(operator.setitem)
class SetState(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        states, index, state = args
        if isinstance(states, StatesType) and states.writable and isinstance(index, types.Integer):
            if state == states.record:
                return signature(types.none, states, types.intp, state)
        return None


@lower_builtin(operator.setitem, StatesType, types.Integer, StateType)
def set_state(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    target = _record(context, builder, kind, args[0], args[1])
    source = cgutils.create_struct_proxy(kind.record)(context, builder, value=args[2])
    size = kind.record.size
    size = _entry(context, builder, source.layout, 0) if size is None else context.get_constant(types.intp, size)
    cgutils.raw_memmove(builder, target.data, source.data, size, 1)


@infer
class GetField(AbstractTemplate):
    key = "static_getitem"

    def generic(self, args: Any, kws: Any) -> Any:
        field = _known_field(*args)
        return None if field is None else signature(field.array if field.lengths else field.element, *args)


@lower_builtin("static_getitem", StateType, types.StringLiteral)
def get_field(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    field = kind.fields[args[1]]
    state = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
    place = _place(context, builder, field, state)
    if not field.lengths:
        return context.unpack_value(builder, field.element, place)
    width = context.get_abi_sizeof(context.get_data_type(field.element))
    lengths = [_length(context, builder, field, state.layout, axis) for axis in range(len(field.lengths))]
    strides = [context.get_constant(types.intp, width)]
    for length in reversed(lengths[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(field.array)(context, builder)
    populate_array(array, data=place, shape=lengths, strides=strides, itemsize=width, meminfo=None)
    return array._getvalue()


@infer
class SetField(AbstractTemplate):
    key = "static_setitem"

    def generic(self, args: Any, kws: Any) -> Any:
        field = _known_field(*args[:2])
        if field is None or field.lengths or self.context.can_convert(args[2], field.element) is None:
            return None
        return signature(types.void, args[0], types.literal(args[1]), field.element)


@lower_builtin("static_setitem", StateType, types.StringLiteral, types.Any)
def set_field(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    kind = sig.args[0]
    field = kind.fields[args[1]]
    state = cgutils.create_struct_proxy(kind)(context, builder, value=args[0])
    context.pack_value(builder, field.element, args[2], _place(context, builder, field, state))
