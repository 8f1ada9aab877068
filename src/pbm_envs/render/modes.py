"""The render modes of environments: text, frames, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..core.checks import quoted
from ..core.scene import Scene
from .pixels import check_size, figure_class, pixels
from .text import text
from .themes import theme_named
from .window import Window

Frame: TypeAlias = "str | NDArray[np.uint8]"
MODES = ("ansi", "rgb_array", "human")
EVERYTHING = "all"
"""The viewer that sees the full state."""


@final
class Renderer:
    """Draws scenes in one mode: "ansi" (text), "rgb_array" (an (H, W, 3) uint8 array) or "human" (a window)."""

    def __init__(self, title: str, mode: str | None, modes: Sequence[str], size: int, theme: str) -> None:
        """Check the settings, libraries and, for mode "human", the display; a window opens with the first frame."""
        if mode is not None and not (isinstance(mode, str) and mode in modes):
            raise ValueError(f"render_mode is {quoted(mode)}: expected None or one of {list(modes)}")
        check_size("render_size", size)
        theme_named(theme)
        if mode in ("rgb_array", "human"):
            figure_class()
        self.mode, self.size, self.theme, self._title = mode, size, theme, title
        self._window = Window(title) if mode == "human" else None

    def frame(self, scene: Scene) -> Frame:
        return text(scene) if self.mode == "ansi" else pixels(scene, self.size, self.theme)

    def draw(self, scene: Scene, pause: float) -> Frame | None:
        """Return the frame; in mode "human" show it `pause` seconds after the last one and return None."""
        if self.mode != "human":
            return self.frame(scene)
        if self._window is None:
            self._window = Window(self._title)
        self._window.show(pixels(scene, self.size, self.theme), pause)
        return None

    def close(self) -> None:
        if self._window is not None:
            self._window.close()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the window out: a copy opens its own."""
        return self.__dict__ | {"_window": None}
