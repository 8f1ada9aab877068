"""Kernels that write observations and tables of bytes in words of eight bytes.

Writing a cell's planes with one store instead of eight makes observations as fast as the memory allows. Words have the
byte order of the machine.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .kernels import COMPILES
from .state import Planes, States

if COMPILES:
    from llvmlite import ir
    from numba.core import types
    from numba.core.imputils import impl_ret_borrowed
    from numba.extending import intrinsic
    from numba.np.arrayobj import populate_array

Words: TypeAlias = NDArray[np.uint64]
WORD = 8
"""The number of bytes of a word."""
BITS = np.array([1 << k for k in range(64)] + [0], np.uint64)
"""BITS[k] is a word in which only bit k is set; BITS[-1] is 0."""
ONE, NO_BITS = BITS[0], BITS[-1]


def records_of_words(rows: Planes) -> States:
    """Return rows of bytes (m, n) as records (m,) with a field `words`, padded, whose length is part of their type."""
    count = -(-rows.shape[1] // WORD)
    padded = np.zeros((len(rows), count * WORD), np.int8)
    padded[:, : rows.shape[1]] = rows
    return padded.view([("words", np.uint64, (count,))])[:, 0]


def _emitted(result: str, arguments: str, emit: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that compiles to the instructions of `emit(builder, *values)`; without Numba it is `plain`.

    `result` and `arguments` are Numba's names of types; `emit` gets the address of an "array".
    """
    if not COMPILES:
        return plain
    names = arguments.split()

    def typed(_: Any, *given: Any) -> Any:
        kinds = [kind if name == "array" else getattr(types, name) for name, kind in zip(names, given, strict=True)]

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            given = [
                context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
                for kind, value in zip(signature.args, values, strict=True)
            ]
            return emit(builder, *given) or context.get_dummy_value()

        return getattr(types, result)(*kinds), generate

    positions = [inspect.Parameter(f"value_{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(len(names) + 1)]
    typed.__signature__ = inspect.Signature(positions)  # type: ignore[attr-defined]  # Numba reads it
    made: Callable[..., Any] = intrinsic(typed)
    return made


def _place(builder: Any, data: Any, at: Any, kind: Any) -> Any:
    """Return a pointer to a number, `at` bytes from the beginning of an array."""
    first = builder.bitcast(data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(first, [at]), kind.as_pointer())


def _store(bits: int) -> Callable[..., None]:
    def emit(builder: Any, target: Any, at: Any, word: Any) -> None:
        kind = ir.IntType(bits)
        builder.store(builder.trunc(word, kind), _place(builder, target, at, kind), align=1)

    def plain(target: Planes, at: int, word: np.uint64) -> None:
        target.reshape(-1)[at : at + bits // 8] = np.array([word], np.uint64).astype(f"u{bits // 8}").view(np.int8)

    return _emitted("void", "array int64 uint64", emit, plain)


def _load(bits: int) -> Callable[..., Any]:
    def emit(builder: Any, source: Any, at: Any) -> Any:
        place = _place(builder, source, at, ir.IntType(bits))
        return builder.zext(builder.load(place, align=1), ir.IntType(64))

    def plain(source: Planes, at: int) -> np.uint64:
        return np.uint64(source.reshape(-1).view(np.int8)[at : at + bits // 8].copy().view(f"u{bits // 8}")[0])

    return _emitted("uint64", "array int64", emit, plain)


def _emit_clear(builder: Any, first: Any, one: Any, second: Any, other: Any, at: Any) -> Any:
    eight = ir.VectorType(ir.IntType(64), WORD)

    def common(data: Any, word: Any) -> Any:
        place = builder.bitcast(builder.gep(data, [at]), eight.as_pointer())
        alone = builder.insert_element(ir.Constant(eight, ir.Undefined), word, ir.IntType(32)(0))
        spread = builder.shuffle_vector(alone, alone, ir.Constant(ir.VectorType(ir.IntType(32), WORD), None))
        return builder.and_(builder.load(place, align=WORD), spread)

    clear = builder.icmp_unsigned("==", builder.or_(common(first, one), common(second, other)), eight(None))
    return builder.bitcast(builder.zext(clear, ir.VectorType(ir.IntType(8), WORD)), ir.IntType(64))


def _plain_clear(first: Words, one: np.uint64, second: Words, other: np.uint64, at: int) -> np.uint64:
    met = first[at : at + WORD] & one | second[at : at + WORD] & other
    return (met == NO_BITS).view(np.uint64)[0]


def _typed_flat(_: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = context.make_array(array)(context, builder, arguments[0])
        row = context.make_array(signature.return_type)(context, builder)
        items, size = given.nitems, given.itemsize
        populate_array(row, given.data, [items], [size], size, given.meminfo, given.parent)
        return impl_ret_borrowed(context, builder, signature.return_type, row._getvalue())

    return array.copy(ndim=1)(array), generate


store_word = _store(64)
"""`store_word(target, at, word)` writes eight bytes to a contiguous array of bytes, long enough, from byte `at` on."""
load_word = _load(64)
"""`load_word(source, at)` returns eight bytes of a contiguous array that is long enough, from byte `at` on."""
store_half = _store(32)
"""`store_half(target, at, half)` does the same as `store_word` for four bytes, the low half of a word."""
load_half = _load(32)
"""`load_half(source, at)` returns four bytes as the low half of a word."""
clear_of = _emitted("uint64", "array uint64 array uint64 int64", _emit_clear, _plain_clear)
"""`clear_of(first, one, second, other, at)` returns a word of eight bytes for `k` = `at`, ..., `at + 7`: 1 where
`first[k] & one` and `second[k] & other` are 0, else 0. The arrays are contiguous and long enough.
"""
flat: Callable[[Any], Any] = intrinsic(_typed_flat) if COMPILES else lambda array: array.reshape(-1)
"""`flat(array)` returns a contiguous array as one row, without a copy. (`reshape` would compile functions.)"""
lowest_bit = _emitted(
    "int64",
    "uint64",
    lambda builder, word: builder.cttz(word, ir.IntType(1)(1)),
    lambda word: (int(word) & -int(word)).bit_length() - 1,
)
"""`lowest_bit(word)` returns the index of the lowest bit that is set in a word that is not 0."""
count_bits = _emitted("int64", "uint64", lambda builder, word: builder.ctpop(word), lambda word: int(word).bit_count())
"""`count_bits(word)` returns the number of bits that are set."""
