"""Random streams that cannot be computed from one another: by a keyed hash of what they are for.

Every agent is handed a generator, and NumPy's generators carry the numbers that they were made from. If the set-up of a
game came from the same numbers, or from numbers that can be computed from them, each agent could rebuild what is hidden
from it. So set-ups and agents draw from streams whose numbers are hashes: to find one from another takes the key, or
the trying of all keys. Whoever knows the key can repeat everything.
"""

from __future__ import annotations

import hashlib

import numpy as np

BITS = 128
RECORDED_BITS = 53
"""Of a seed that stands in records: what any JSON reader can count."""


def derive(key: str, *purpose: str | int) -> int:
    """A number of 128 bits that follows from the key and the purpose, and tells nothing of either.

    Args:
        key: A secret, such as `secrets.token_hex(16)`; "" where there is none, and the purpose holds a number that
            nobody can guess.
        purpose: What the stream is for; another purpose has another stream.

    >>> derive("secret", "set-up", 7) == derive("secret", "set-up", 7) != derive("secret", "agents", 7)
    True
    """
    text = repr((key, *purpose)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=BITS // 8, person=b"pbm_envs").digest(), "big")


def stream(key: str, *purpose: str | int) -> np.random.Generator:
    """A generator of that stream; see `derive`."""
    return np.random.default_rng(derive(key, *purpose))


def apart_from(rng: np.random.Generator, purpose: str) -> np.random.Generator:
    """A generator that follows from `rng`, which it does not change, and from which `rng` cannot be computed."""
    sequence = rng.bit_generator.seed_seq
    state = sequence.generate_state(8, np.uint64).tolist()
    return stream("", purpose, *state)
