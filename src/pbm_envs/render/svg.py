"""Scenes as SVG, without fonts, styles, scripts or ids, so that many can stand in one page; letters are outlines."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from ..core.scene import Cell, Circle, Label, Line, Points, Scene, Shape
from . import letters
from .pixels import check_size
from .themes import theme_named

UNIT = 100
"""Coordinates of the SVG for one unit of the scene."""


def svg(scene: Scene, size: int | None = 480, theme: str = "light", *, transparent: bool = False) -> str:
    """Draw a scene as SVG.

    Each cell is covered by an invisible polygon whose attribute `data-cell` is the index of the cell; nothing else
    takes clicks.

    Args:
        scene: What to draw.
        size: Pixels of the longer side; None for as large as the element around it.
        theme: A name in `THEMES`.
        transparent: Without a ground.

    Raises:
        ValueError: If there is no such size or theme.
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
        f'aria-label="{escape(scene.caption)}">'
    )
    paper = (
        ""
        if transparent
        else (
            f'<rect x="{_number(UNIT * left)}" y="{_number(UNIT * top)}" width="{_number(UNIT * width)}" '
            f'height="{_number(UNIT * height)}" rx="{_number(0.02 * UNIT * width)}" fill="{colours["paper"]}"/>'
        )
    )
    shapes = "".join(_drawn(shape, colours) for shape in scene.painted)
    cells = "".join(_target(cell) for cell in scene.cells)
    return (
        f'{head}{paper}<g pointer-events="none" stroke-linejoin="round" stroke-linecap="round">{shapes}</g>'
        f'<g fill="transparent">{cells}</g></svg>'
    )


def _drawn(shape: Shape, colours: Mapping[str, str]) -> str:
    faded = "" if shape.opacity == 1 else f' opacity="{_number(shape.opacity)}"'
    if isinstance(shape, Label):
        left = UNIT * (shape.x + letters.left(shape.text, shape.bold, shape.anchor) * shape.size)
        base = UNIT * (shape.y + letters.BASELINE * shape.size)
        place = f"translate({_number(left)} {_number(base)}) scale({_number(UNIT * shape.size / letters.EM)})"
        return (
            f'<path transform="{place}" '
            f'd="{letters.svg_path(shape.text, shape.bold)}" fill="{colours[shape.fill]}"{faded}/>'
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
    """Write a number with one decimal, or with three below 1, without trailing zeros."""
    return f"{round(value, 1 if abs(value) >= 1 else 3) + 0.0:.8g}"
