"""Eight bytes at once: observations and tables of bytes are written in words.

Writing a cell's planes with one store instead of eight is what makes observations as fast as the memory they go to.
Words are made from bytes, and become bytes again, in the order of the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .jit import COMPILES
from .types import Planes, States

if COMPILES:
    from llvmlite import ir
    from numba.core import types
    from numba.core.imputils import impl_ret_borrowed
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

Words: TypeAlias = NDArray[np.uint64]
WORD = 8
"""Bytes of a word."""
BITS = np.array([1 << k for k in range(64)] + [0], np.uint64)
"""Bit k as a word; BITS[-1] is none."""
ONE, NO_BITS = BITS[0], BITS[-1]


def records_of_words(rows: Planes) -> States:
    """Rows of bytes (m, n) as records (m,) with a field `words` of n / 8 words, rounded up, zeros after the bytes.

    The number of words is part of a record's type, so that loops over them are unrolled.
    """
    count = -(-rows.shape[1] // WORD)
    padded = np.zeros((len(rows), count * WORD), np.int8)
    padded[:, : rows.shape[1]] = rows
    return padded.view([("words", np.uint64, (count,))])[:, 0]


def _compiled_store(_: Any, target: Any, at: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.bitcast(array.data, ir.IntType(8).as_pointer())
        place = builder.bitcast(builder.gep(first, [arguments[1]]), ir.IntType(64).as_pointer())
        builder.store(arguments[2], place, align=1)
        return context.get_dummy_value()

    return types.void(target, types.int64, types.uint64), generate


def _plain_store(target: Planes, at: int, word: np.uint64) -> None:
    target[at : at + WORD] = np.array([word], np.uint64).view(np.int8)


def _compiled_load(_: Any, source: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        first = builder.bitcast(array.data, ir.IntType(8).as_pointer())
        place = builder.bitcast(builder.gep(first, [arguments[1]]), ir.IntType(64).as_pointer())
        return builder.load(place, align=1)

    return types.uint64(source, types.int64), generate


def _plain_load(source: Planes, at: int) -> np.uint64:
    return np.ascontiguousarray(source).view(np.int8)[at : at + WORD].copy().view(np.uint64)[0]


def _compiled_half_store(_: Any, target: Any, at: Any, half: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _half_place(context, builder, signature, arguments)
        builder.store(builder.trunc(arguments[2], ir.IntType(32)), place, align=1)
        return context.get_dummy_value()

    return types.void(target, types.int64, types.uint64), generate


def _half_place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of half a word."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    first = builder.bitcast(array.data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(first, [arguments[1]]), ir.IntType(32).as_pointer())


def _plain_half_store(target: Planes, at: int, half: np.uint64) -> None:
    target.reshape(-1)[at : at + WORD // 2] = np.array([half], np.uint32).view(np.int8)


def _compiled_half_load(_: Any, source: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _half_place(context, builder, signature, arguments)
        return builder.zext(builder.load(place, align=1), ir.IntType(64))

    return types.uint64(source, types.int64), generate


def _plain_half_load(source: Planes, at: int) -> np.uint64:
    return np.uint64(source.reshape(-1)[at : at + WORD // 2].view(np.uint32)[0])


def _compiled_clear(_: Any, first: Any, one: Any, second: Any, other: Any, at: Any) -> Any:
    eight = ir.VectorType(ir.IntType(64), WORD)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def common(kind: Any, array: Any, word: Any) -> Any:
            data = context.make_array(kind)(context, builder, array).data
            place = builder.bitcast(builder.gep(data, [arguments[4]]), eight.as_pointer())
            alone = builder.insert_element(ir.Constant(eight, ir.Undefined), word, ir.IntType(32)(0))
            spread = builder.shuffle_vector(alone, alone, ir.Constant(ir.VectorType(ir.IntType(32), WORD), None))
            return builder.and_(builder.load(place, align=WORD), spread)

        met = builder.or_(
            common(signature.args[0], arguments[0], arguments[1]), common(signature.args[2], arguments[2], arguments[3])
        )
        clear = builder.icmp_unsigned("==", met, ir.Constant(eight, None))
        flags = builder.zext(clear, ir.VectorType(ir.IntType(8), WORD))
        return builder.bitcast(flags, ir.IntType(64))

    return types.uint64(first, types.uint64, second, types.uint64, types.int64), generate


def _plain_clear(first: Words, one: np.uint64, second: Words, other: np.uint64, at: int) -> np.uint64:
    met = first[at : at + WORD] & one | second[at : at + WORD] & other
    return (met == NO_BITS).view(np.uint64)[0]


def _compiled_flat(_: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = context.make_array(array)(context, builder, arguments[0])
        row = context.make_array(signature.return_type)(context, builder)
        items, size = given.nitems, given.itemsize
        populate_array(row, given.data, [items], [size], size, given.meminfo, given.parent)
        return impl_ret_borrowed(context, builder, signature.return_type, row._getvalue())

    return array.copy(ndim=1)(array), generate


def _plain_flat(array: Planes) -> Planes:
    return array.reshape(-1)


def _compiled_lowest_bit(_: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _compiled_count(_: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


def _plain_count(word: np.uint64) -> int:
    return int(word).bit_count()


def _plain_lowest_bit(word: np.uint64) -> int:
    return (int(word) & -int(word)).bit_length() - 1


store_word: Callable[[Any, int, Any], None] = intrinsic(_compiled_store) if COMPILES else _plain_store
"""`store_word(target, at, word)`: write eight bytes from `target[at]` on, a contiguous row of bytes. The caller sees to
it that the row is long enough.
"""
load_word: Callable[[Any, int], Any] = intrinsic(_compiled_load) if COMPILES else _plain_load
"""`load_word(source, at)`: eight bytes of a contiguous row that is long enough, `at` bytes from its beginning."""
store_half: Callable[[Any, int, Any], None] = intrinsic(_compiled_half_store) if COMPILES else _plain_half_store
"""`store_half(target, at, half)`: write the low half of a word, four bytes, `at` bytes from the beginning of an array
that is contiguous and large enough.
"""
load_half: Callable[[Any, int], Any] = intrinsic(_compiled_half_load) if COMPILES else _plain_half_load
"""`load_half(source, at)`: those four bytes as the low half of a word."""
clear_of: Callable[[Any, Any, Any, Any, int], Any] = intrinsic(_compiled_clear) if COMPILES else _plain_clear
"""`clear_of(first, one, second, other, at)`: a word of eight bytes, for `k` from `at` on: 1 where `first[k]` has no bit
of `one` and `second[k]` none of `other`, else 0. The arrays are contiguous and long enough.
"""
flat: Callable[[Any], Any] = intrinsic(_compiled_flat) if COMPILES else _plain_flat
"""`flat(array)`: a contiguous array as one row, not copied. (`reshape` would compile functions.)"""
lowest_bit: Callable[[Any], int] = intrinsic(_compiled_lowest_bit) if COMPILES else _plain_lowest_bit
"""`lowest_bit(word)`: the number of the lowest bit that is set, of a word that is not 0."""
count_bits: Callable[[Any], int] = intrinsic(_compiled_count) if COMPILES else _plain_count
"""`count_bits(word)`: how many bits are set."""
