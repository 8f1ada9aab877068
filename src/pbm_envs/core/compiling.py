"""The kernels of this process, and the progress of their compilation.

Every kernel is registered when it is decorated, so the number of those not on disk is known before the first is
compiled. Progress is one line that is rewritten in a terminal or in Jupyter; elsewhere, and if a program configures the
logger `pbm_envs`, the log names each part once. Listeners (the page of `pbm serve`) get it too.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection
from html import escape
from time import monotonic
from typing import Any, NamedTuple

logger = logging.getLogger("pbm_envs")

PAUSE = 10.0
"""Seconds without compilation after which the log reports it again."""
SHARED = "what all games share"
SEARCH = "the tree search"


class Progress(NamedTuple):
    """The progress of compilation.

    Of the kernels of `part` (as `part_of` names it), `expected` were not on disk, some of which may never be needed,
    and `compiled` of these are ready; `running` is True while a kernel is being compiled.
    """

    part: str
    compiled: int
    expected: int
    running: bool


class Compiling:
    """The kernels of this process by part; a kernel is represented by its `KernelCache`."""

    def __init__(self) -> None:
        self.listeners: set[Callable[[Progress], None]] = set()
        """Functions called when the compilation of a kernel begins and ends, in the thread that compiles."""
        self.ready: set[str] = set()
        """Names of kernels that this process has compiled or loaded, for any types."""
        self._parts: dict[str, dict[str, Any]] = {}
        self._outstanding: dict[str, bool] = {}
        """The kernels that have been counted, by name; True for those missing on disk when first counted."""
        self._running = 0
        self._logged: set[str] = set()
        self._last = self._began = -PAUSE
        self._compiled: dict[str, int] = {}
        self._display: Any = None  # in Jupyter

    def register(self, kernel: Any) -> None:
        """Add a kernel. Kernels with the same name, made by a factory, count as one."""
        self._parts.setdefault(part_of(kernel.module), {})[kernel.name] = kernel

    def missing(self, parts: Collection[str] | None = None) -> list[str]:
        """Return the names of the kernels of these parts (None: all parts) that are neither ready nor on disk."""
        return [each.name for each in self._of(parts) if self._is_missing(each)]

    def count(self, parts: Collection[str]) -> tuple[int, int]:
        """Return the numbers of compiled and of all kernels of these parts that were missing when first counted."""
        compiled = expected = 0
        for kernel in self._of(parts):
            if kernel.name not in self._outstanding:
                self._outstanding[kernel.name] = self._is_missing(kernel)
            expected += self._outstanding[kernel.name]
            compiled += self._outstanding[kernel.name] and kernel.name in self.ready
        return compiled, expected

    def begin(self, kernel: Any) -> None:
        """Report that a kernel is about to be compiled, by this process or by another while this one waits."""
        self._report(kernel, 1)

    def end(self, kernel: Any) -> None:
        self._report(kernel, -1)

    def _report(self, kernel: Any, change: int) -> None:
        self._running += change
        part = part_of(kernel.module)
        progress = Progress(part, *self.count([part]), self._running > 0)
        self._show(progress)
        for listener in tuple(self.listeners):
            listener(progress)

    def _of(self, parts: Collection[str] | None) -> list[Any]:
        wanted = list(self._parts) if parts is None else parts
        return [kernel for part in wanted for kernel in tuple(self._parts.get(part, {}).values())]

    def _is_missing(self, kernel: Any) -> bool:
        return kernel.name not in self.ready and not kernel.is_kept()

    def _show(self, progress: Progress) -> None:
        part, compiled, expected, running = progress
        pause, self._last = monotonic() - self._last, monotonic()
        text = f"compiling {part}" + (f": {min(compiled + 1, expected)} of {expected}" if expected else "")
        if in_jupyter():
            if self._display is None:
                self._began = monotonic()
            self._compiled[part] = compiled
            number = sum(self._compiled.values())
            counts = ", ".join(self._compiled) + (f": {number} kernels" if number else "")
            done = f"compiled {counts}, {monotonic() - self._began:.0f} s"
            self._show_in_jupyter(f"{text}, once on this machine ..." if running else done)
        elif sys.stderr is not None and sys.stderr.isatty() and not logger.hasHandlers():
            sys.stderr.write(f"\r{text if running else ''}\x1b[K")
            sys.stderr.flush()
        elif running:
            if pause > PAUSE:
                self._logged.clear()
            if part not in self._logged:
                self._logged.add(part)
                logger.warning("%s, once on this machine (`pbm warm-up` does it ahead)", text)

    def _show_in_jupyter(self, text: str) -> None:
        from IPython import display

        shown: Any = display  # untyped in some versions
        line = shown.HTML(f'<small style="opacity: 0.6">{escape(text)}</small>')
        if self._display is None:
            self._display = shown.display(line, display_id=True)
        else:
            self._display.update(line)


def part_of(module: str) -> str:
    """Return the part that the kernels of this module belong to."""
    parts = module.split(".")
    if parts[:2] == ["pbm_envs", "games"] and len(parts) > 3:
        return rules_of(parts[2])
    if parts[:2] == ["pbm_agents", "search"]:
        return SEARCH
    return SHARED if parts[0] == "pbm_envs" else ".".join(parts[:2])


def rules_of(game: str) -> str:
    """Return the part that the kernels of one of this package's games belong to."""
    return f"the rules of {game}"


def in_jupyter() -> bool:
    """Return whether this runs in a Jupyter kernel and the logger is not configured."""
    if "ipykernel" not in sys.modules or logger.hasHandlers():
        return False
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


COMPILING = Compiling()
