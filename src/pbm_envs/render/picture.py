"""Pictures as notebooks show and files keep them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..core.scene import Scene
from .pixels import check_size, pixels, save_png
from .svg import svg
from .text import text
from .themes import theme_named


@dataclass(frozen=True, repr=False)
class Picture:
    """A scene to look at: a notebook shows it as SVG, `print` as text, and `save` writes it.

    Attributes:
        scene: What is drawn.
        size: Pixels of the longer side.
        theme: A name in `THEMES`.
    """

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
        """Write an `.svg`, a `.png` or a `.txt`; ValueError for another ending."""
        kind = Path(path).suffix.lower()
        if kind == ".svg":
            Path(path).write_text(self._repr_svg_(), encoding="utf-8")
        elif kind == ".txt":
            Path(path).write_text(f"{self}\n", encoding="utf-8")
        elif kind == ".png":
            save_png(path, pixels(self.scene, self.size, self.theme))
        else:
            raise ValueError(f"{str(path)!r} ends in {kind!r}: expected '.svg', '.png' or '.txt'")
