"""Notices that rules are being compiled: what `pbm_envs` logs, passed on to boards."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

Listener = Callable[[str], None]
"""Called with what is being compiled, in words, in the thread that compiles."""

listeners: set[Listener] = set()


def _pass_on(record: logging.LogRecord) -> bool:
    """Tell all listeners about a notice; it is logged all the same."""
    if str(record.msg).startswith("compiling %s:") and isinstance(record.args, tuple):
        for listener in tuple(listeners):
            with suppress(Exception):  # a board that is being closed must not stop the rules
                listener(f"Preparing {record.args[0]} on this machine, once: about 20 seconds")
    return True


logging.getLogger("pbm_envs").addFilter(_pass_on)  # a handler would keep Python from printing the notice
