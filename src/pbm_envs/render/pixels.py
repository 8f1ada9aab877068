"""Scenes as pixels, drawn by Pillow (extra `render`) without a display and without the machine's fonts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.scene import Circle, Label, Line, Point, Scene, Shape
from .themes import theme_named

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

SMALLEST, LARGEST = 16, 8192
SUPERSAMPLED = 1600
"""Pictures are painted about this large, two to four times as large as wanted, and scaled down for smooth edges."""
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}
BASELINE = 0.35
"""How far the baseline of a label lies below its middle, as a share of the label's size."""
BOLD = 0.022
"""How much wider the strokes of a bold letter are on either side, as a share of the label's size."""


def pixels(scene: Scene, size: int = 480, theme: str = "light") -> NDArray[np.uint8]:
    """Draw a scene as an array.

    Args:
        scene: What to draw.
        size: Pixels of the longer side, 16 to 8192.
        theme: A name in `THEMES`.

    Returns:
        (H, W, 3) uint8, in the proportions of the scene's box.

    Raises:
        ImportError: If Pillow is missing.
        ValueError: If there is no such size or theme.
    """
    return np.array(_painted(scene, size, theme))


def save_png(path: str | Path, frame: NDArray[np.uint8]) -> None:
    """Write an (H, W, 3) uint8 frame as a PNG."""
    image, _, _ = pillow()
    image.fromarray(frame).save(path, format="PNG", optimize=True)


def check_size(name: str, size: int) -> None:
    """Raise ValueError, naming the argument `name`, unless a picture can be `size` pixels long."""
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)) or not SMALLEST <= size <= LARGEST:
        raise ValueError(f"{name} is {size!r}: expected an integer from {SMALLEST} to {LARGEST}, in pixels")


def frame_shape(scene: Scene, size: int) -> tuple[int, int]:
    """Return (H, W), the shape of the frame that `pixels` would draw."""
    check_size("size", size)
    _, _, width, height = scene.box
    longer = max(width, height)
    return max(1, round(size * height / longer)), max(1, round(size * width / longer))


def pillow() -> tuple[Any, Any, Any]:
    """Import Pillow's modules Image, ImageDraw and ImageFont; ImportError with the extra to install."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise ImportError("pictures in pixels need Pillow: pip install 'pbm-envs[render]'") from None
    return Image, ImageDraw, ImageFont


def _painted(scene: Scene, size: int, theme: str) -> Image.Image:
    colours = theme_named(theme)
    rows, cols = frame_shape(scene, size)
    image, draw, _ = pillow()
    fine = max(2, min(4, SUPERSAMPLED // max(rows, cols)))
    canvas = image.new("RGB", (cols * fine, rows * fine), colours["paper"])
    left, top, width, _ = scene.box
    brush = _Brush(draw.Draw(canvas), (left, top), cols * fine / width, colours)
    for shape in scene.shapes:
        if shape.opacity == 1:
            brush.paint(shape)
        else:
            _fade(image, draw, canvas, brush, shape)
    return canvas.resize((cols, rows), image.Resampling.BOX)


def _fade(image: Any, draw: Any, canvas: Image.Image, brush: _Brush, shape: Shape) -> None:
    """Paint a transparent shape."""
    box = brush.extent(shape, canvas.size)
    if box[0] >= box[2] or box[1] >= box[3]:
        return
    before = canvas.crop(box)
    after = before.copy()
    corner = brush.corner[0] + box[0] / brush.scale, brush.corner[1] + box[1] / brush.scale
    _Brush(draw.Draw(after), corner, brush.scale, brush.colours).paint(shape)
    canvas.paste(image.blend(before, after, shape.opacity), box[:2])


class _Brush:
    """Paints shapes on an image whose upper left corner shows `corner` of the scene."""

    def __init__(self, draw: ImageDraw.ImageDraw, corner: Point, scale: float, colours: Mapping[str, str]) -> None:
        self._draw = draw
        self.corner = corner
        self.scale = scale
        self.colours = colours

    def paint(self, shape: Shape) -> None:
        if isinstance(shape, Label):
            self._write(shape)
        elif isinstance(shape, Circle):
            self._circle(shape)
        elif isinstance(shape, Line):
            self._line([self._at(point) for point in shape.points], shape.line, shape.width)
        else:
            points = [self._at(point) for point in shape.points]
            if shape.fill is not None:
                self._draw.polygon(points, fill=self.colours[shape.fill])
            if shape.line is not None:
                self._line([*points, points[0]], shape.line, shape.width)

    def extent(self, shape: Shape, size: tuple[int, int]) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom of a box around a shape, clipped to an image of `size`."""
        if isinstance(shape, Label):
            half = shape.size * (1 + len(shape.text))
            points: tuple[Point, ...] = ((shape.x - half, shape.y - shape.size), (shape.x + half, shape.y + shape.size))
            width = 0.0
        elif isinstance(shape, Circle):
            points = (
                (shape.x - shape.radius, shape.y - shape.radius),
                (shape.x + shape.radius, shape.y + shape.radius),
            )
            width = shape.width
        else:
            points, width = shape.points, shape.width
        xs, ys = zip(*(self._at(point) for point in points), strict=True)
        margin = width * self.scale / 2 + 2
        return (
            max(0, floor(min(xs) - margin)),
            max(0, floor(min(ys) - margin)),
            min(size[0], ceil(max(xs) + margin)),
            min(size[1], ceil(max(ys) + margin)),
        )

    def _at(self, point: Point) -> Point:
        return (point[0] - self.corner[0]) * self.scale, (point[1] - self.corner[1]) * self.scale

    def _circle(self, shape: Circle) -> None:
        (x, y), half = self._at((shape.x, shape.y)), shape.width / 2
        outer = (shape.radius + (half if shape.line is not None else 0)) * self.scale
        box = (x - outer, y - outer, x + outer, y + outer)
        fill = None if shape.fill is None else self.colours[shape.fill]
        if shape.line is None:
            self._draw.ellipse(box, fill=fill)
        else:
            width = max(1, round(shape.width * self.scale))
            self._draw.ellipse(box, fill=fill, outline=self.colours[shape.line], width=width)

    def _line(self, points: list[Point], line: str, width: float) -> None:
        colour, thick = self.colours[line], max(1, round(width * self.scale))
        self._draw.line(points, fill=colour, width=thick)
        for x, y in points if thick > 2 else []:
            half = thick / 2
            self._draw.ellipse((x - half, y - half, x + half, y + half), fill=colour)

    def _write(self, shape: Label) -> None:
        size = shape.size * self.scale
        x, y = self._at((shape.x, shape.y + BASELINE * shape.size))
        stroke = round(BOLD * size) if shape.bold else 0
        font, anchor = _font(max(1.0, round(size, 1))), ANCHORS[shape.anchor]
        self._draw.text((x, y), shape.text, self.colours[shape.fill], font, anchor, stroke_width=stroke)


@cache
def _font(size: float) -> ImageFont.FreeTypeFont:
    """Return the font that comes with Pillow, in a size."""
    _, _, fonts = pillow()
    return fonts.load_default(size)
