"""A window that shows frames (extra `window`, pygame-ce)."""

from __future__ import annotations

import os
import time
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.checks import install_command

HEADLESS = ("dummy", "offscreen", "evdev")
"""The SDL drivers that show nothing, to which SDL falls back without a display."""
POLL_SECONDS = 0.02
"""The interval between checks of the window's events while a frame waits."""


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
    try:
        import pygame
    except ImportError:
        raise ImportError(
            f'render_mode "human" opens a window and needs pygame-ce: {install_command("window")}; "ansi" and '
            '"rgb_array" do without'
        ) from None
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
