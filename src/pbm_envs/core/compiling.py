"""The kernels of this process, and how far compiling them has come.

Every kernel is registered when it is decorated, so it is known which kernels a game or the search has and, before the
first is compiled, how many are not on disk. Progress is shown where somebody waits: as a line that is rewritten in a
terminal or in Jupyter, in the log elsewhere, and by listeners (the page of `pbm serve`).
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
"""Seconds without compiling after which the log mentions it again."""
SHARED = "what all games share"
SEARCH = "the tree search"


class Progress(NamedTuple):
    """How far compiling has come."""

    part: str
    """What is compiled, as `part_of` calls it."""
    compiled: int
    """Kernels of this part that were not on disk, and are ready now."""
    expected: int
    """All that were not on disk. Some of them may never be needed."""
    running: bool
    """Whether one of them is being compiled now."""


class Compiling:
    """The kernels of this process by part; a kernel is its `KernelCache`.

    A terminal or Jupyter shows one line that is rewritten; elsewhere the log names each part once. A program that
    configures the logger `pbm_envs` gets log messages everywhere.
    """

    def __init__(self) -> None:
        self.listeners: set[Callable[[Progress], None]] = set()
        """Called when compiling a kernel begins and ends, in the thread that compiles."""
        self.ready: set[str] = set()
        """Names of kernels that this process has compiled or loaded, for any types."""
        self._parts: dict[str, dict[str, Any]] = {}
        self._outstanding: dict[str, bool] = {}
        """By name, whether a kernel was missing on disk when it was first counted."""
        self._running = 0
        self._logged: set[str] = set()
        self._last = self._began = -PAUSE
        self._compiled: dict[str, int] = {}
        self._display: Any = None
        """The line in Jupyter."""

    def register(self, kernel: Any) -> None:
        """Add a kernel. Kernels of one name, made by a factory, count as one."""
        self._parts.setdefault(part_of(kernel.module), {})[kernel.name] = kernel

    def missing(self, parts: Collection[str] | None = None) -> list[str]:
        """Return the names of the kernels of these parts (None: of all) that are neither ready nor on disk."""
        return [each.name for each in self._of(parts) if self._is_missing(each)]

    def count(self, parts: Collection[str]) -> tuple[int, int]:
        """Return how many kernels of these parts have been compiled since they were first counted, of how many."""
        compiled = expected = 0
        for kernel in self._of(parts):
            if kernel.name not in self._outstanding:
                self._outstanding[kernel.name] = self._is_missing(kernel)
            expected += self._outstanding[kernel.name]
            compiled += self._outstanding[kernel.name] and kernel.name in self.ready
        return compiled, expected

    def begin(self, kernel: Any) -> None:
        """Report that a kernel is about to be compiled here, or elsewhere while this process waits."""
        self._report(kernel, 1)

    def end(self, kernel: Any) -> None:
        """Report that it has been compiled, or could not be."""
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
        text = f"compiling {part}: {min(compiled + 1, expected)} of {expected}"
        if in_jupyter():
            if self._display is None:
                self._began = monotonic()
            self._compiled[part] = compiled
            counts = f"{', '.join(self._compiled)}: {sum(self._compiled.values())} kernels"
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

        shown: Any = display  # without types in some versions
        line = shown.HTML(f'<small style="opacity: 0.6">{escape(text)}</small>')
        if self._display is None:
            self._display = shown.display(line, display_id=True)
        else:
            self._display.update(line)


def part_of(module: str) -> str:
    """Return what a kernel of this module belongs to, in words."""
    parts = module.split(".")
    if parts[:2] == ["pbm_envs", "games"] and len(parts) > 3:
        return rules_of(parts[2])
    if parts[:2] == ["pbm_agents", "search"]:
        return SEARCH
    return SHARED if parts[0] == "pbm_envs" else ".".join(parts[:2])


def rules_of(game: str) -> str:
    """Return what kernels of a game of this package belong to."""
    return f"the rules of {game}"


def in_jupyter() -> bool:
    """Return whether a Jupyter kernel runs this, and nobody reads the log."""
    if "ipykernel" not in sys.modules or logger.hasHandlers():
        return False
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


COMPILING = Compiling()
