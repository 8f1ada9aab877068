"""Games that a browser keeps: sealed, so that it can neither read nor change them.

A game that is not over holds secrets. It is encrypted and authenticated with a key that only this machine has: HMAC of
SHA-256 in counter mode as the key stream, then HMAC over all of it (encrypt, then MAC), from the standard library.
Lengths show what any player can count: options, players and moves. Nothing is compressed: lengths would tell more.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import os
import secrets
from functools import cache
from pathlib import Path
from typing import Any

KEY_BYTES, NONCE_BYTES, TAG_BYTES = 32, 16, 32
BLOCK = 256
"""Texts are filled up with blanks to a multiple of this length."""
WRONG = "the game that the browser has kept cannot be read: another machine or another user began it"

_log = logging.getLogger(__name__)


def seal(content: dict[str, Any]) -> str:
    """Return a text that only `unseal` on this machine can read."""
    text = json.dumps(content, separators=(",", ":")).encode()
    text += b" " * (-len(text) % BLOCK)
    nonce = secrets.token_bytes(NONCE_BYTES)
    hidden = nonce + _mask(text, nonce)
    return base64.urlsafe_b64encode(hidden + _tag(hidden)).decode()


def unseal(token: str) -> dict[str, Any]:
    """Return what was sealed; ValueError if this machine has not sealed it."""
    try:
        packed = base64.urlsafe_b64decode(token.encode("ascii"))
    except ValueError:
        raise ValueError(WRONG) from None
    hidden, tag = packed[:-TAG_BYTES], packed[-TAG_BYTES:]
    if len(hidden) < NONCE_BYTES or not hmac.compare_digest(tag, _tag(hidden)):
        raise ValueError(WRONG)
    content: dict[str, Any] = json.loads(_mask(hidden[NONCE_BYTES:], hidden[:NONCE_BYTES]))
    return content


def key_file() -> Path:
    """Return where the key is kept: the user's folder for the state of programs."""
    root = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".local" / "state"
    return Path(root) / "pbm_envs" / "boards.key"


@cache
def _key() -> bytes:
    """Read the key, or make it; one that lasts as long as the process if it cannot be kept."""
    path = key_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new = path.with_name(f"{path.name}.{os.getpid()}")
        if not path.exists():
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(KEY_BYTES))
            try:
                os.link(new, path)  # fails if another process was first, and its key is then used
            except FileExistsError:
                pass
            finally:
                new.unlink()
        key = path.read_bytes()
        if len(key) == KEY_BYTES:
            return key
        _log.warning("%s has %d bytes, expected %d: games are not kept over a restart", path, len(key), KEY_BYTES)
    except OSError as error:
        _log.warning("games are not kept over a restart: %s", error)
    return secrets.token_bytes(KEY_BYTES)


def _mask(text: bytes, nonce: bytes) -> bytes:
    """Encrypt or decrypt: exclusive or with the key stream of the nonce."""
    stream = b"".join(
        _hmac(b"stream", nonce + count.to_bytes(8, "big"))
        for count in range(-(-len(text) // hashlib.sha256().digest_size))
    )
    return bytes(a ^ b for a, b in zip(text, stream, strict=False))


def _tag(hidden: bytes) -> bytes:
    return _hmac(b"tag", hidden)


def _hmac(purpose: bytes, message: bytes) -> bytes:
    own = hmac.digest(_key(), purpose, "sha256")
    return hmac.digest(own, message, "sha256")
