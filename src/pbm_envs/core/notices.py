"""How Jupyter tells that kernels are being compiled: by one quiet line that counts them, not by a red box."""

from __future__ import annotations

import logging
import sys
from html import escape
from time import monotonic
from typing import Any


class JupyterLine:
    """A line below the cell that first compiles something. It is written anew for each kernel."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._parts: dict[str, int] = {}
        self._began = 0.0
        self._shown: Any = None

    def begin(self, part: str, duration: str) -> None:
        """Say that a kernel is being compiled.

        Args:
            part: What it belongs to, in words.
            duration: How long that part takes, in words.
        """
        if self._shown is None:
            self._began = monotonic()
        self._parts[part] = self._parts.get(part, 0) + 1
        self._show(f"compiling {part}: {duration}, once on this machine ...")

    def end(self) -> None:
        """Say what has been compiled."""
        if self._shown is not None:
            seconds = monotonic() - self._began
            self._show(f"compiled {', '.join(self._parts)}: {sum(self._parts.values())} kernels, {seconds:.0f} s")

    def _show(self, text: str) -> None:
        from IPython import display

        shown: Any = display  # without types in some versions
        line = shown.HTML(f'<small style="opacity: 0.6">{escape(text)}</small>')
        if self._shown is None:
            self._shown = shown.display(line, display_id=True)
        else:
            self._shown.update(line)


def in_jupyter() -> bool:
    """Return whether a Jupyter kernel runs this, and nobody reads the log."""
    if "ipykernel" not in sys.modules or logging.getLogger("pbm_envs").hasHandlers():
        return False
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
