"""Scenes as pixels or as a PDF, drawn by Matplotlib (extra `render`) without a display or the machine's fonts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.checks import check_range, import_extra
from ..core.scene import Circle, Label, Line, Scene, Shape
from . import letters
from .themes import theme_named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALLEST, LARGEST = 16, 8192
DPI = 72
"""The resolution at which a point, Matplotlib's unit, is one pixel."""


def pixels(scene: Scene, size: int = 480, theme: str = "light", *, transparent: bool = False) -> NDArray[np.uint8]:
    """Draw a scene as an array.

    Args:
        scene: What to draw.
        size: Pixels of the longer side, 16 to 8192.
        theme: A name in `THEMES`.
        transparent: Omit the background; the array then has an alpha channel.

    Returns:
        (H, W, 3) uint8, or (H, W, 4) if transparent, in the proportions of the scene's box.

    Raises:
        ImportError: If Matplotlib is missing.
        ValueError: If the size or theme is unknown.
    """
    drawn = _figure(scene, size, theme, transparent)
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(drawn)
    canvas.draw()
    return np.array(np.asarray(canvas.buffer_rgba())[:, :, : 4 if transparent else 3])


def pdf(scene: Scene, size: int = 480, theme: str = "light", *, transparent: bool = False) -> bytes:
    """Return a PDF of one page, `size` points (1/72 inch) on its longer side; the arguments are those of `pixels`."""
    drawn = _figure(scene, size, theme, transparent)
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    file = BytesIO()
    canvas: Any = FigureCanvasPdf(drawn)
    canvas.print_pdf(file, metadata={"CreationDate": None, "Title": scene.caption})
    return file.getvalue()


def png(frame: NDArray[np.uint8], *, small: bool = False) -> bytes:
    """Return a frame, (H, W, 3) or (H, W, 4) uint8, as the bytes of a PNG.

    `small` reduces the frame to 256 colours, without visible loss in our pictures, which halves the file; it is ignored
    with transparency.
    """
    image, file = pillow().fromarray(frame), BytesIO()
    if small and frame.shape[2] == 3:
        image = image.quantize(256, dither=0)
    image.save(file, format="PNG", optimize=True)
    return file.getvalue()


def save_png(path: str | Path, frame: NDArray[np.uint8], *, small: bool = False) -> None:
    """Write a frame as a PNG file (see `png`)."""
    Path(path).write_bytes(png(frame, small=small))


def check_size(name: str, size: int) -> None:
    """Raise ValueError, naming the argument `name`, unless `size` is a valid length of a picture in pixels."""
    check_range(name, size, SMALLEST, LARGEST, f"an integer from {SMALLEST} to {LARGEST}, in pixels")


def frame_shape(scene: Scene, size: int) -> tuple[int, int]:
    """Return (H, W), the shape of the frame that `pixels` would draw."""
    check_size("size", size)
    _, _, width, height = scene.box
    longer = max(width, height)
    return max(1, round(size * height / longer)), max(1, round(size * width / longer))


def pillow() -> Any:
    return import_extra("PIL.Image", "pictures in pixels need Pillow", "render")


def figure_class() -> Any:
    return import_extra("matplotlib.figure", "pictures in pixels and as PDF need Matplotlib", "render").Figure


def _figure(scene: Scene, size: int, theme: str, transparent: bool) -> Figure:
    """Return a figure that shows the whole scene, with one point per pixel."""
    rows, cols = frame_shape(scene, size)
    colours = theme_named(theme)
    ground = "none" if transparent else colours["paper"]
    drawn: Figure = figure_class()(figsize=(cols / DPI, rows / DPI), dpi=DPI, facecolor=ground)
    drawn.add_artist(_artist_class()(scene, rows, cols, colours))
    return drawn


@cache
def _artist_class() -> Any:
    """Return the class of the artist that paints a scene over a whole figure."""
    from matplotlib.artist import Artist

    class Painted(Artist):
        def __init__(self, *settings: Any) -> None:
            super().__init__()
            self._settings = settings

        def draw(self, renderer: Any) -> None:
            _paint(renderer, *self._settings)

    return Painted


def _paint(renderer: Any, scene: Scene, rows: int, cols: int, colours: Mapping[str, str]) -> None:
    from matplotlib.colors import to_rgb
    from matplotlib.transforms import Affine2D

    left, top, width, height = scene.box
    across, down = cols / width, rows / height
    place = Affine2D.from_values(across, 0, 0, -down, -left * across, rows + top * down)
    colour_of = {name: to_rgb(colour) for name, colour in colours.items()}
    context = renderer.new_gc()
    context.set_joinstyle("round")
    context.set_capstyle("round")
    context.set_snap(False)
    for shape in scene.painted:
        path, at = _path(shape)
        fill = None if isinstance(shape, Line) or shape.fill is None else colour_of[shape.fill]
        line = None if isinstance(shape, Label) else shape.line
        context.set_alpha(shape.opacity)
        context.set_linewidth(0 if line is None else max(shape.width * across, 0.2))  # type: ignore[union-attr]
        context.set_foreground(colour_of[line] if line is not None else fill)
        renderer.draw_path(context, path, at + place if at is not None else place, fill)
    context.restore()


def _path(shape: Shape) -> tuple[Any, Any]:
    """Return a shape as a path, and the transform that moves it to its place in the scene, or None."""
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    if isinstance(shape, Label):
        scale = shape.size / letters.EM
        x, y = letters.start(shape)
        return _text(shape.text, shape.bold), Affine2D.from_values(scale, 0, 0, scale, x, y)
    if isinstance(shape, Circle):
        return Path.unit_circle(), Affine2D.from_values(shape.radius, 0, 0, shape.radius, shape.x, shape.y)
    if isinstance(shape, Line):
        return Path(shape.points), None
    return Path([*shape.points, shape.points[0]], closed=True), None


@cache
def _text(text: str, bold: bool) -> Any:
    """Return the outline of a text as a path."""
    from matplotlib.path import Path

    codes = {"M": [Path.MOVETO], "L": [Path.LINETO], "Q": [Path.CURVE3] * 2, "C": [Path.CURVE4] * 3}
    points: list[tuple[int, int]] = []
    kinds: list[Any] = []
    for letter, numbers in letters.outline(text, bold):
        points += zip(numbers[::2], numbers[1::2], strict=True) if numbers else [(0, 0)]
        kinds += codes.get(letter, [Path.CLOSEPOLY])
    return Path(points or [(0, 0)], kinds or [Path.MOVETO])
