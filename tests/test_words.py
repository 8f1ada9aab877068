"""Words of eight bytes in kernels: bits and stores."""

import sys

import numpy as np
import pytest

from pbm_envs.core.fingerprint import fingerprint
from pbm_envs.core.kernels import kernel
from pbm_envs.core.words import (
    BITS,
    WORD,
    clear_of,
    count_bits,
    flat,
    load_half,
    load_word,
    lowest_bit,
    records_of_words,
    store_half,
    store_word,
)

NUMBERS = [1, 2, 3, 40, 1 << 31, (1 << 63) + 5, (1 << 64) - 1]


@kernel
def looked_at(words, out):
    for k in range(len(words)):
        out[k, 0], out[k, 1] = lowest_bit(words[k]), count_bits(words[k])


@kernel
def written(target, places, words):
    for k in range(len(places)):
        store_word(target, places[k], words[k])


@kernel
def half_exchanged(target, at, other):
    half = load_half(target, at)
    store_half(target, at, load_half(target, other))
    store_half(target, other, half)


@kernel
def loaded(source, at):
    return load_word(source, at)


@kernel
def cleared(first, one, second, other, out):
    for k in range(0, len(first), WORD):
        store_word(out, k, clear_of(first, one, second, other, k))


@kernel
def counted(array):
    row = flat(array)
    for k in range(len(row)):
        row[k] = k


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 0, 4), (3, 1, 2, 2)])
def test_an_array_is_one_row(shape):
    array = np.zeros(shape, np.int16)
    counted(array)
    assert array.reshape(-1).tolist() == list(range(array.size))


def test_bits():
    out = np.zeros((len(NUMBERS), 2), np.uint64)
    looked_at(np.array(NUMBERS, np.uint64), out)
    expected = [((n & -n).bit_length() - 1, bin(n).count("1")) for n in NUMBERS]
    assert out.tolist() == [list(row) for row in expected]


def test_the_last_bit_is_none():
    assert BITS[-1] == 0
    assert BITS[:64].tolist() == [1 << k for k in range(64)]


@pytest.mark.parametrize("place", [0, 3, 12])
def test_a_word_is_eight_bytes_in_order(place):
    target = np.full(20, -1, np.int8)
    written(target, np.array([place]), np.arange(1, 9, dtype=np.int8).view(np.uint64))
    assert target.tolist() == [-1] * place + [1, 2, 3, 4, 5, 6, 7, 8] + [-1] * (20 - place - WORD)


def test_half_a_word_is_four_bytes_in_order():
    target = np.arange(-6, 10, dtype=np.int8).reshape(4, 2, 2)
    half_exchanged(target, 1, 11)
    assert target.ravel().tolist() == [-6, 5, 6, 7, 8, -1, 0, 1, 2, 3, 4, -5, -4, -3, -2, 9]


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.uint64])
def test_words_are_loaded_from_arrays_of_any_numbers(kind):
    source = np.frombuffer(bytes(range(32)), np.uint8).copy().view(kind)
    assert int(loaded(source, 6)).to_bytes(8, sys.byteorder) == bytes(range(6, 14))


def test_eight_words_are_compared_at_once():
    rng = np.random.default_rng(7)
    first, second = rng.integers(0, 16, (2, 3 * WORD), np.uint64) << np.uint64(60)
    for one, other in rng.integers(0, 16, (50, 2), np.uint64) << np.uint64(60):
        out = np.full(3 * WORD, -1, np.int8)
        cleared(first, one, second, other, out)
        assert out.tolist() == [int(a & one == 0 and b & other == 0) for a, b in zip(first, second, strict=True)]


def test_rows_of_bytes_are_filled_up_with_zeros():
    rows = np.arange(1, 21, dtype=np.int8).reshape(2, 10)
    words = records_of_words(rows)["words"]
    assert words.shape == (2, 2)
    assert words.view(np.int8).tolist() == [[*row, 0, 0, 0, 0, 0, 0] for row in rows.tolist()]


def test_kernels_that_use_them_are_kept_in_the_cache():
    """What an intrinsic generates is part of the key, so that a change of it is noticed."""
    assert len({fingerprint(looked_at), fingerprint(written), fingerprint(looked_at)}) == 2
