"""A hash table in kernels: from keys of 64 bits, which are hashes already, to indices (open addressing)."""

from __future__ import annotations

import numpy as np

from pbm_envs.authoring import kernel
from pbm_envs.toolbox import Array, stack_kernel

EMPTY = -1
"""A slot without an index."""


@stack_kernel
def locate(slots: Array, keys: Array, key: int) -> int:
    """Return the index of a key, or EMPTY. `keys` (N,) has the key of each index."""
    last = np.uint64(len(slots) - 1)
    slot = np.uint64(key) & last
    while slots[slot] != EMPTY and keys[slots[slot]] != key:
        slot = (slot + np.uint64(1)) & last
    return slots[slot]


@stack_kernel
def insert(slots: Array, keys: Array, key: int, index: int) -> None:
    """Add a key that the table lacks, with its index."""
    last = np.uint64(len(slots) - 1)
    slot = np.uint64(key) & last
    while slots[slot] != EMPTY:
        slot = (slot + np.uint64(1)) & last
    slots[slot], keys[index] = index, key


@kernel
def locate_all(slots: Array, keys: Array, wanted: Array, found: Array) -> None:
    """Write the index of each `wanted` key, or EMPTY, to `found`."""
    for r in range(len(wanted)):
        found[r] = locate(slots, keys, wanted[r])


@kernel
def insert_all(slots: Array, keys: Array, added: Array, first: int) -> None:
    """Add the keys `added`, with the indices from `first`."""
    for k in range(len(added)):
        insert(slots, keys, added[k], first + k)


def slots_for(size: int, keys: Array | None = None, count: int = 0) -> Array:
    """Return the slots of a table for `size` keys, which contains the first `count` of `keys`."""
    slots = np.full(1 << (2 * size - 1).bit_length(), EMPTY, np.int32)
    if keys is not None:
        insert_all(slots, keys, keys[:count], 0)
    return slots


def resized(array: Array, size: int) -> Array:
    """Return a copy of a one-dimensional array with zeros up to `size`."""
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger
