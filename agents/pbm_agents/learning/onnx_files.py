"""ONNX files from outside: a seal that shows damage, and a trial in another process.

ONNX Runtime can end the process that opens or runs a damaged model. So a file is compared with its seal first. Since
a seal can be forged, the model is then run once in a separate process, which may die.
"""

from __future__ import annotations

import subprocess
import sys
from hashlib import sha256

SEAL = b"\x72\x4a\x0a\x06sha256\x12\x40"
"""What stands before the 64 hexadecimal digits at the end: an entry of the model's metadata, in protobuf."""
TRIAL = """
import sys, numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.stdin.buffer.read(), providers=["CPUExecutionProvider"])
(given,) = session.get_inputs()
for batch in (1, 3):
    session.run(None, {given.name: numpy.zeros([batch, *given.shape[1:]], numpy.float32)})
"""
TRIAL_SECONDS = 120

_tried: set[str] = set()
"""The seals of the models that have passed their trial."""


def seal(model: bytes) -> bytes:
    """Return a model with the hash of its bytes in its metadata."""
    return model + SEAL + sha256(model).hexdigest().encode()


def check_model(model: bytes, name: str) -> None:
    """Raise ValueError unless a model has its seal and runs in another process.

    Args:
        model: The bytes of a file of `export_onnx`.
        name: The name of the file, for errors.
    """
    end = len(model) - 64
    body, digest = model[: end - len(SEAL)], model[end:].decode("latin-1")
    if not model[:end].endswith(SEAL) or digest != sha256(body).hexdigest():
        raise ValueError(f"{name!r} is not a network, or is damaged: expected a file of export_onnx")
    if digest in _tried:
        return
    command = [sys.executable, "-c", TRIAL]
    try:
        done = subprocess.run(command, input=model, capture_output=True, timeout=TRIAL_SECONDS, check=False)
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit status {done.returncode}"]
        reason = lines[-1][:200] if done.returncode else ""
    except subprocess.TimeoutExpired:
        reason = f"no answer within {TRIAL_SECONDS} s"
    if reason:
        raise ValueError(f"{name!r} does not run in ONNX Runtime: expected a file of export_onnx ({reason})")
    _tried.add(digest)
