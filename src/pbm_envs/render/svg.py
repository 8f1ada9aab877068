"""Scenes as SVG without fonts, styles, scripts or ids, so that a page can contain many; letters are outlines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from html import escape

from ..core.scene import Circle, Label, Line, Points, Scene, Shape
from . import letters
from .pixels import check_size
from .themes import theme_named

UNIT = 100
"""The number of SVG units in one unit of the scene."""


def svg(scene: Scene, size: int | None = 480, theme: str = "light", *, transparent: bool = False) -> str:
    """Draw a scene as SVG.

    Each cell is covered by an invisible polygon whose attribute `data-cell` is the index of the cell; no other element
    receives clicks.

    Args:
        scene: The scene to draw.
        size: Pixels of the longer side; None to fill the surrounding element.
        theme: A name in `THEMES`.
        transparent: Omit the background.

    Raises:
        ValueError: If the size or theme is unknown.
    """
    colours = theme_named(theme)
    left, top, width, height = (_number(UNIT * side) for side in scene.box)
    extent = paper = ""
    if size is not None:
        check_size("size", size)
        longer = size / max(scene.box[2:])
        extent = f' width="{_number(scene.box[2] * longer)}" height="{_number(scene.box[3] * longer)}"'
    if not transparent:
        place = f'x="{left}" y="{top}" width="{width}" height="{height}" rx="{_number(0.02 * UNIT * scene.box[2])}"'
        paper = f'<rect {place} fill="{colours["paper"]}"/>'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg"{extent} viewBox="{left} {top} {width} {height}" role="img" '
        f'aria-label="{escape(scene.caption)}">'
    )
    shapes = "".join(_drawn(shape, colours) for shape in scene.painted)
    cells = "".join(
        f'<polygon data-cell="{k.index}" points="{_points(k.points)}"><title>{escape(k.name)}</title></polygon>'
        for k in scene.cells
    )
    return (
        f'{head}{paper}<g pointer-events="none" stroke-linejoin="round" stroke-linecap="round">{shapes}</g>'
        f'<g fill="transparent">{cells}</g></svg>'
    )


def _drawn(shape: Shape, colours: Mapping[str, str]) -> str:
    faded = "" if shape.opacity == 1 else f' opacity="{_number(shape.opacity)}"'
    if isinstance(shape, Label):
        left, base = (_number(UNIT * number) for number in letters.start(shape))
        place = f"translate({left} {base}) scale({_number(UNIT * shape.size / letters.EM)})"
        path = letters.svg_path(shape.text, shape.bold)
        return f'<path transform="{place}" d="{path}" fill="{colours[shape.fill]}"{faded}/>'
    line = ""
    if shape.line is not None:
        line = f' stroke="{colours[shape.line]}" stroke-width="{_number(UNIT * shape.width)}"'
    if isinstance(shape, Line):
        return f'<polyline points="{_points(shape.points)}" fill="none"{line}{faded}/>'
    fill = f' fill="{colours[shape.fill]}"' if shape.fill is not None else ' fill="none"'
    if isinstance(shape, Circle):
        x, y, radius = (_number(UNIT * number) for number in (shape.x, shape.y, shape.radius))
        return f'<circle cx="{x}" cy="{y}" r="{radius}"{fill}{line}{faded}/>'
    return f'<polygon points="{_points(shape.points)}"{fill}{line}{faded}/>'


@lru_cache(4096)  # most pictures of a server are of the same boards
def _points(points: Points) -> str:
    return " ".join(f"{_number(UNIT * x)},{_number(UNIT * y)}" for x, y in points)


@lru_cache(4096)
def _number(value: float) -> str:
    """Write a number with one decimal, or with three below 1, without trailing zeros."""
    return f"{round(value, 1 if abs(value) >= 1 else 3) + 0.0:.8g}"
