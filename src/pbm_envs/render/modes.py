"""The render modes of environments: text, frames, and windows (extra `window`, pygame-ce)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from ..core.checks import import_extra, quoted
from ..core.scene import Scene
from .pixels import check_size, figure_class, pixels
from .text import text
from .themes import theme_named

Frame: TypeAlias = "str | NDArray[np.uint8]"
MODES = ("ansi", "rgb_array", "human")
EVERYTHING = "all"
"""The viewer that sees the full state."""
HEADLESS = ("dummy", "offscreen", "evdev")
"""The SDL drivers that show nothing, to which SDL falls back without a display."""
POLL_SECONDS = 0.02
"""The interval between checks of the window's events while a frame waits."""


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


class Window:
    """A window that opens with the first frame. Once its user has closed it, it stays closed and frames are dropped."""

    def __init__(self, title: str) -> None:
        """Raise ImportError without pygame-ce, and RuntimeError without a display; no window is opened yet."""
        _display()
        self._title = title
        self._window: Any = None
        self._closed = False
        self._last_frame_time = 0.0

    def show(self, frame: NDArray[np.uint8], pause: float = 0.0) -> None:
        """Show an (H, W, 3) uint8 frame, not sooner than `pause` seconds after the last one."""
        pygame = _display()
        while not self._closed:
            self._handle_events(pygame)
            left = self._last_frame_time + pause - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(left, POLL_SECONDS))
        if self._closed:
            return
        height, width, _ = frame.shape
        if self._window is None:
            self._window = pygame.Window(self._title, (width, height))
        surface = self._window.get_surface()
        surface.blit(pygame.image.frombuffer(frame.tobytes(), (width, height), "RGB"), (0, 0))
        self._window.flip()
        self._handle_events(pygame)
        self._last_frame_time = time.monotonic()

    def close(self) -> None:
        if self._window is not None:
            self._window.destroy()
        self._window, self._closed = None, True

    def _handle_events(self, pygame: ModuleType) -> None:
        """Close the window if its user requests it; keep the events of other windows in the queue."""
        for event in pygame.event.get(pygame.WINDOWCLOSE):
            if self._window is not None and event.window is self._window:
                self.close()
            else:
                pygame.event.post(event)


def _display() -> ModuleType:
    """Import pygame and open its display, which must be a visible one or the one that SDL_VIDEODRIVER names."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    pygame = import_extra("pygame", 'render_mode "human", unlike "ansi" and "rgb_array", needs pygame-ce', "window")
    try:
        pygame.display.init()
        driver = pygame.display.get_driver()
        headless = driver in HEADLESS and driver not in os.environ.get("SDL_VIDEODRIVER", "")
    except pygame.error as error:
        driver, headless = str(error), True
    if headless:
        pygame.display.quit()
        raise RuntimeError(
            f'render_mode "human" opens a window, and this machine has no display (SDL: {driver}): use "rgb_array" or '
            '"ansi", which need none; or, for a checker that tries every mode, SDL_VIDEODRIVER=dummy in the environment'
        )
    return pygame
