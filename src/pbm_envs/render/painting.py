"""Scenes drawn by Matplotlib (extra `render`), which turns them into pixels or into a PDF, without a display."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..core.scene import Circle, Label, Line, Scene, Shape
from . import letters
from .themes import theme_named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 72
"""At which a point, Matplotlib's unit, is one pixel."""


def figure(scene: Scene, rows: int, cols: int, theme: str, *, transparent: bool) -> Figure:
    """Return a figure of `rows` by `cols` points that shows the whole scene.

    Raises:
        ImportError: If Matplotlib is missing.
        ValueError: If there is no such theme.
    """
    colours = theme_named(theme)
    ground = "none" if transparent else colours["paper"]
    drawn = _figure_class()(figsize=(cols / DPI, rows / DPI), dpi=DPI, facecolor=ground)
    drawn.add_artist(_artist_class()(scene, rows, cols, colours))
    return drawn


def check_library() -> None:
    """Raise ImportError, with the extra to install, if Matplotlib is missing."""
    _figure_class()


def _figure_class() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("pictures in pixels and as PDF need Matplotlib: pip install 'pbm-envs[render]'") from None
    return Figure


@cache
def _artist_class() -> Any:
    """Return the class of what stands in a figure."""
    from matplotlib.artist import Artist

    class Painted(Artist):
        """The shapes of a scene, stretched over the whole figure."""

        def __init__(self, scene: Scene, rows: int, cols: int, colours: Mapping[str, str]) -> None:
            super().__init__()
            self._settings = scene, rows, cols, colours

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
    """Return a shape as a path, and what moves it to its place in the scene, or None."""
    from matplotlib.path import Path
    from matplotlib.transforms import Affine2D

    if isinstance(shape, Label):
        scale = shape.size / letters.EM
        x = shape.x + letters.left(shape.text, shape.bold, shape.anchor) * shape.size
        y = shape.y + letters.BASELINE * shape.size
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
