"""Random numbers inside kernels, and random streams that cannot be computed from one another.

Kernels use SplitMix64 (Steele, Lea & Flood 2014), one stream per row. `seeds(rng, n)` draws an initial state for each
row from NumPy's generator, which takes 20 microseconds to pass to a kernel. To give each game its own randomness,
independent of the batch, pass such an array instead of a generator.

Agents get NumPy generators, which contain the seeds that they were made from. Set-ups and agents draw from streams
whose seeds are keyed hashes (`derive`), so that no agent can compute hidden information from its generator.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .checks import check_writable, quoted, to_array
from .kernels import stack_kernel
from .state import Rng, Seeds
from .words import WORD, count_bits, load_word

STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
SHIFT_30, SHIFT_27, SHIFT_31 = np.uint64(30), np.uint64(27), np.uint64(31)
SHIFT_11, SHIFT_32 = np.uint64(11), np.uint64(32)
UNIT = 2.0**-53
LOW_BITS, HIGH_BITS = np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
TRIES = 6
"""Rejection attempts of `sample_actions` before it counts the legal actions."""
BITS = 128
"""The number of bits of the numbers that `derive` returns."""
RECORDED_BITS = 53
"""The number of bits of a seed in a record, which every JSON reader can represent."""


def seeds(rng: Rng | Seeds, count: int) -> Seeds:
    """Return (count,) streams: those given, or new ones from a generator."""
    if isinstance(rng, np.random.Generator):
        return rng.bit_generator.random_raw(count)
    if not isinstance(rng, np.ndarray) or rng.dtype != np.uint64 or rng.shape != (count,):
        raise TypeError(
            f"rng is {quoted(rng)}: expected a numpy.random.Generator, such as numpy.random.default_rng(7), "
            f"or ({count},) uint64 seeds, one per game"
        )
    check_writable("rng", rng)
    return rng


@stack_kernel
def next_bits(seeds: Seeds, row: int) -> int:
    """Return the next 64 random bits of a stream; they can also seed a new stream."""
    seeds[row] += STEP
    mixed = seeds[row]
    mixed = (mixed ^ (mixed >> SHIFT_30)) * MIX_1
    mixed = (mixed ^ (mixed >> SHIFT_27)) * MIX_2
    return mixed ^ (mixed >> SHIFT_31)


@stack_kernel
def uniform(seeds: Seeds, row: int) -> float:
    """Return a random number in [0, 1)."""
    return float(next_bits(seeds, row) >> SHIFT_11) * UNIT


@stack_kernel
def draw(seeds: Seeds, row: int, count: int) -> int:
    """Return a random integer in 0..count-1, all equally likely (to within count / 2**32; Lemire 2019)."""
    return int((next_bits(seeds, row) >> SHIFT_32) * np.uint64(count) >> SHIFT_32)


@stack_kernel
def shuffle(seeds: Seeds, row: int, items: NDArray[np.integer[Any]]) -> None:
    """Shuffle `items` in place, every order equally likely (Fisher and Yates)."""
    for left in range(len(items), 1, -1):
        chosen = draw(seeds, row, left)
        items[left - 1], items[chosen] = items[chosen], items[left - 1]


def sample_actions(masks: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a legal action uniformly from each of `masks` (B, A), bool or int8; return (B,) integers.

    >>> sample_actions(np.array([[0, 0, 1], [0, 1, 0]], np.int8), np.random.default_rng(7))
    array([2, 1])
    """
    masks = to_array("masks", masks, "bool or int8 (B, A)")
    if masks.ndim != 2 or masks.shape[1] == 0 or masks.dtype not in (np.bool_, np.int8):
        raise ValueError(f"masks are {masks.dtype} {masks.shape}: expected bool or int8 (B, A)")
    actions = np.empty(len(masks), np.int64)
    row = sample_batch(np.ascontiguousarray(masks).view(np.uint8), seeds(rng, len(masks)), actions)
    if row >= 0:
        raise ValueError(f"row {row}: the game is over or the view is not the mover's: its mask is all zeros")
    return actions


@stack_kernel
def bytes_set(word: np.uint64) -> np.uint64:
    """Return a word with the highest bit of each byte set where that byte of `word` is not 0."""
    return (((word & LOW_BITS) + LOW_BITS) | word) & HIGH_BITS


@stack_kernel
def sample_batch(masks: NDArray[np.uint8], seeds: Seeds, out: NDArray[np.int64]) -> int:
    """Draw a legal action for each row; return the first row that has none, or -1.

    Actions are drawn until one is legal; after TRIES attempts, the legal ones are counted, eight at a time.
    """
    width, flat = masks.shape[1], masks.reshape(-1)
    words = width // WORD
    for i in range(len(masks)):
        action, tries = np.int64(draw(seeds, i, width)), 1
        while masks[i, action] == 0 and tries < TRIES:
            action, tries = np.int64(draw(seeds, i, width)), tries + 1
        if masks[i, action] == 0:
            count = 0
            for k in range(words):
                count += count_bits(bytes_set(load_word(flat, i * width + k * WORD)))
            for k in range(words * WORD, width):
                count += masks[i, k] != 0
            if count == 0:
                return i
            left, action = np.int64(draw(seeds, i, count)), np.int64(0)
            for k in range(words):
                here = count_bits(bytes_set(load_word(flat, i * width + k * WORD)))
                if here > left:
                    break
                left -= here
                action += WORD
            while left > 0 or masks[i, action] == 0:
                left -= masks[i, action] != 0
                action += 1
        out[i] = action
    return -1


@stack_kernel
def branch(seeds: Seeds, rows: NDArray[np.int64], out: Seeds) -> None:
    """Write to `out`, for each of `rows`, a new stream that branches off that row's stream."""
    for k in range(len(rows)):
        out[k] = next_bits(seeds, rows[k])


def derive(key: str, *purpose: str | int) -> int:
    """Return a number of 128 bits that is determined by the key and the purpose, and reveals neither.

    Args:
        key: A secret, such as `secrets.token_hex(16)`; "" if the purpose contains an unguessable number.
        purpose: The purpose of the stream; each purpose has its own stream.

    >>> derive("secret", "set-up", 7) == derive("secret", "set-up", 7) != derive("secret", "agents", 7)
    True
    """
    text = repr((key, *purpose)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=BITS // 8, person=b"pbm_envs").digest(), "big")


def stream(key: str, *purpose: str | int) -> np.random.Generator:
    """Return a generator with the seed `derive(key, *purpose)`."""
    return np.random.default_rng(derive(key, *purpose))


def apart_from(rng: np.random.Generator, purpose: str) -> np.random.Generator:
    """Return a generator derived from `rng`, which is unchanged and cannot be computed from the result."""
    state = rng.bit_generator.seed_seq.generate_state(8, np.uint64).tolist()
    return stream("", purpose, *state)
