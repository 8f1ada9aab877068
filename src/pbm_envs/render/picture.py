"""Pictures for notebooks and files."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from ..core.checks import check_path, quoted
from ..core.scene import Circle, Label, Point, Scene, Shape
from . import letters
from .pixels import check_size, pdf, pixels, png
from .svg import svg
from .text import text
from .themes import theme_named

MARGIN = 0.12
"""The space around a cropped scene."""


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawable scene: a notebook displays it, `print` writes it as text, and `save` writes it to a file.

    A notebook stores it as SVG and, with the extra `render`, as PNG. In untrusted notebooks, such as those of a fresh
    clone, JupyterLab shows only the PNG.

    Attributes:
        scene: The scene to draw.
        size: Pixels of the longer side.
        theme: A name in `THEMES`.
        transparent: Whether the background is omitted.
    """

    scene: Scene
    size: int = 480
    theme: str = "light"
    transparent: bool = False

    def __post_init__(self) -> None:
        check_size("size", self.size)
        theme_named(self.theme)

    def __repr__(self) -> str:
        return text(self.scene)

    def _repr_svg_(self) -> str:
        return svg(self.scene, self.size, self.theme, transparent=self.transparent)

    def _repr_png_(self) -> bytes | None:
        try:
            return self._png(small=True)
        except ImportError:
            return None

    def _png(self, *, small: bool = False) -> bytes:
        return png(pixels(self.scene, self.size, self.theme, transparent=self.transparent), small=small)

    def in_html(self) -> str:
        """Return an `<img>` that shows the picture; unlike a bare `<svg>`, untrusted notebooks show it too."""
        data = b64encode(self._repr_svg_().encode()).decode()
        return f'<img alt="{escape(self.scene.caption)}" src="data:image/svg+xml;base64,{data}"/>'

    def save(self, path: str | Path) -> None:
        """Write an `.svg`, a `.png`, a `.pdf` (`size` points long) or a `.txt`; ValueError for another suffix."""
        check_path("path", path)
        kind = Path(path).suffix.lower()
        if kind == ".svg":
            content = self._repr_svg_().encode()
        elif kind == ".txt":
            content = f"{self}\n".encode()
        elif kind == ".png":
            content = self._png()
        elif kind == ".pdf":
            content = pdf(self.scene, self.size, self.theme, transparent=self.transparent)
        else:
            raise ValueError(f"{quoted(str(path))} ends in {quoted(kind)}: expected '.svg', '.png', '.pdf' or '.txt'")
        Path(path).write_bytes(content)


def cropped(scene: Scene, *, legend: bool = True, coordinates: bool = True) -> Scene:
    """Return a scene without its legend or its coordinates, in a smaller box; the scene itself if it keeps both.

    Args:
        scene: The scene.
        legend: Whether players, scores, captures and actions without a cell stay.
        coordinates: Whether the names of rows, columns and sides stay.
    """
    if legend and coordinates:
        return scene
    kept = replace(scene, coordinates=scene.coordinates * coordinates, legend=scene.legend * legend)
    points = [point for cell in kept.cells for point in cell.points]
    points += [corner for shape in kept.painted for corner in _corners(shape)]
    xs, ys = zip(*points, strict=True)
    left, top = min(xs) - MARGIN, min(ys) - MARGIN
    return replace(kept, box=(left, top, max(xs) + MARGIN - left, max(ys) + MARGIN - top))


def _corners(shape: Shape) -> list[Point]:
    """Return points whose bounding box is that of the shape."""
    if isinstance(shape, Label):
        left, half = letters.start(shape)[0], shape.size / 2
        return [(left, shape.y - half), (left + letters.width(shape), shape.y + half)]
    half = shape.width / 2 if shape.line is not None else 0.0
    if isinstance(shape, Circle):
        half += shape.radius
        return [(shape.x - half, shape.y - half), (shape.x + half, shape.y + half)]
    return [(x + side * half, y + side * half) for x, y in shape.points for side in (-1, 1)]
