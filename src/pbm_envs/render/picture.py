"""What a notebook shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .pixels import check_size, pixels, save_png
from .scene import Scene
from .svg import svg
from .text import text
from .themes import theme_named


@dataclass(frozen=True, repr=False)
class Picture:
    """A scene with a size in pixels, of its longer side, and a theme. The last line of a notebook's cell shows it."""

    scene: Scene
    size: int = 480
    theme: str = "light"

    def __post_init__(self) -> None:
        check_size("size", self.size)
        theme_named(self.theme)

    def __repr__(self) -> str:
        return text(self.scene)

    def _repr_svg_(self) -> str:
        return svg(self.scene, self.size, self.theme)

    def save(self, path: str | Path) -> None:
        """As `.svg`, `.png` or `.txt`; ValueError for another ending."""
        kind = Path(path).suffix.lower()
        if kind == ".svg":
            Path(path).write_text(self._repr_svg_(), encoding="utf-8")
        elif kind == ".txt":
            Path(path).write_text(f"{self}\n", encoding="utf-8")
        elif kind == ".png":
            save_png(path, pixels(self.scene, self.size, self.theme))
        else:
            raise ValueError(f"{str(path)!r} ends in {kind!r}: expected '.svg', '.png' or '.txt'")
