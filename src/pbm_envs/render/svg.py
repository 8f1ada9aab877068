"""A scene as SVG: text without fonts, styles, scripts or ids of its own, so that many fit into one page."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from .pixels import check_size
from .scene import Cell, Circle, Label, Line, Points, Scene, Shape
from .themes import theme_named

UNIT = 100
"""Of the picture's coordinates, in a unit of the scene."""
FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
MIDDLE = 0.35
"""Of a label's size: how far its baseline lies below its middle."""


def svg(scene: Scene, size: int | None = 480, theme: str = "light") -> str:
    """The picture, `size` pixels on its longer side; as large as what it stands in, if None.

    Over each cell lies an invisible polygon with the attribute `data-cell`, its index; nothing else takes clicks.
    """
    colours = theme_named(theme)
    left, top, width, height = scene.box
    extent = ""
    if size is not None:
        check_size("size", size)
        longer = size / max(width, height)
        extent = f' width="{_number(width * longer)}" height="{_number(height * longer)}"'
    view = " ".join(_number(UNIT * side) for side in scene.box)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg"{extent} viewBox="{view}" role="img" '
        f'aria-label="{escape(scene.caption)}" font-family="{FONTS}">'
    )
    paper = (
        f'<rect x="{_number(UNIT * left)}" y="{_number(UNIT * top)}" width="{_number(UNIT * width)}" '
        f'height="{_number(UNIT * height)}" rx="{_number(0.02 * UNIT * width)}" fill="{colours["paper"]}"/>'
    )
    shapes = "".join(_drawn(shape, colours) for shape in scene.shapes)
    cells = "".join(_target(cell) for cell in scene.cells)
    return (
        f'{head}{paper}<g pointer-events="none" stroke-linejoin="round" stroke-linecap="round">{shapes}</g>'
        f'<g fill="transparent">{cells}</g></svg>'
    )


def _drawn(shape: Shape, colours: Mapping[str, str]) -> str:
    faded = "" if shape.opacity == 1 else f' opacity="{_number(shape.opacity)}"'
    if isinstance(shape, Label):
        weight = ' font-weight="700"' if shape.bold else ""
        return (
            f'<text x="{_number(UNIT * shape.x)}" y="{_number(UNIT * (shape.y + MIDDLE * shape.size))}" '
            f'font-size="{_number(UNIT * shape.size)}" text-anchor="{shape.anchor}"{weight} '
            f'fill="{colours[shape.fill]}"{faded}>{escape(shape.text)}</text>'
        )
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


def _target(cell: Cell) -> str:
    outline = f'data-cell="{cell.index}" points="{_points(cell.points)}"'
    return f"<polygon {outline}><title>{escape(cell.name)}</title></polygon>"


def _points(points: Points) -> str:
    return " ".join(f"{_number(UNIT * x)},{_number(UNIT * y)}" for x, y in points)


def _number(value: float) -> str:
    """To one place, or three below 1, without needless zeros."""
    return f"{round(value, 1 if abs(value) >= 1 else 3) + 0.0:.8g}"
