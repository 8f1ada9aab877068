"""A window that shows frames (extra `window`: pygame-ce)."""

from __future__ import annotations

import os
import time
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

HEADLESS = ("dummy", "offscreen", "evdev")
"""SDL's drivers that show nothing. SDL takes one by itself where it finds no display."""
PATIENCE = 0.02
"""Seconds between two looks at what a person does with the window."""


class Window:
    """Opened by the first frame; once its person has closed it, it stays closed."""

    def __init__(self, title: str) -> None:
        """ImportError without pygame-ce, RuntimeError without a display; nothing is opened yet."""
        _display()
        self._title = title
        self._window: Any = None
        self._closed = False
        self._shown = 0.0

    def show(self, frame: NDArray[np.uint8], pause: float = 0.0) -> None:
        """(H, W, 3), not sooner than `pause` seconds after the last one."""
        pygame = _display()
        while not self._closed:
            self._look(pygame)
            left = self._shown + pause - time.monotonic()
            if left <= 0:
                break
            time.sleep(min(left, PATIENCE))
        if self._closed:
            return
        height, width, _ = frame.shape
        if self._window is None:
            self._window = pygame.Window(self._title, (width, height))
        surface = self._window.get_surface()
        surface.blit(pygame.image.frombuffer(frame.tobytes(), (width, height), "RGB"), (0, 0))
        self._window.flip()
        self._look(pygame)
        self._shown = time.monotonic()

    def close(self) -> None:
        if self._window is not None:
            self._window.destroy()
        self._window, self._closed = None, True

    def _look(self, pygame: ModuleType) -> None:
        """Has its person closed it? Events of other windows stay for those."""
        others = []
        for event in pygame.event.get(pygame.WINDOWCLOSE):
            if self._window is not None and event.window is self._window:
                self.close()
            else:
                others.append(event)
        for event in others:
            pygame.event.post(event)


def _display() -> ModuleType:
    """pygame with a display that shows something, or is asked for by SDL_VIDEODRIVER."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    try:
        import pygame
    except ImportError:
        raise ImportError(
            'render_mode "human" opens a window and needs pygame-ce: pip install \'pbm-envs[window]\'; "ansi" and '
            '"rgb_array" do without'
        ) from None
    try:
        pygame.display.init()
        failed, driver = False, pygame.display.get_driver()
    except pygame.error as error:
        failed, driver = True, str(error)
    if failed or (driver in HEADLESS and driver not in os.environ.get("SDL_VIDEODRIVER", "")):
        pygame.display.quit()
        raise RuntimeError(
            f'render_mode "human" opens a window, and this machine has no display (SDL: {driver}): use "rgb_array" or '
            '"ansi", which need none'
        )
    return pygame
