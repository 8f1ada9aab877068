"""What games use of this package, `GameHooks.drawing`: the functions that `core.scene.Drawing` lists."""

from __future__ import annotations

from ..core.scene import Scene
from .crop import cropped
from .parts import warmth
from .picture import Picture
from .plain import plain_scene
from .text import text

__all__ = ["cropped", "picture", "plain_scene", "text", "warmth"]


def picture(scene: Scene, size: int, theme: str, *, transparent: bool) -> Picture:
    """Return a scene as notebooks show and files keep it."""
    return Picture(scene, size, theme, transparent)
