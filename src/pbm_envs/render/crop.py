"""Scenes without their coordinates or legend, no larger than what is left."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..core.scene import Circle, Label, Point, Scene, Shape
from . import letters

MARGIN = 0.12


def cropped(scene: Scene, *, legend: bool = True, coordinates: bool = True) -> Scene:
    """Return a scene without its legend or its coordinates; the scene itself if it keeps both.

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
    left, right, top, bottom = *_range(x for x, _ in points), *_range(y for _, y in points)
    return replace(kept, box=(left, top, right - left, bottom - top))


def _range(numbers: Iterable[float]) -> tuple[float, float]:
    members = list(numbers)
    return min(members) - MARGIN, max(members) + MARGIN


def _corners(shape: Shape) -> list[Point]:
    """Points of which the outermost are the shape's."""
    if isinstance(shape, Label):
        left = shape.x + letters.left(shape.text, shape.bold, shape.anchor) * shape.size
        half = shape.size / 2
        return [(left, shape.y - half), (left + letters.width(shape.text, shape.bold) * shape.size, shape.y + half)]
    half = shape.width / 2 if shape.line is not None else 0.0
    if isinstance(shape, Circle):
        half += shape.radius
        return [(shape.x - half, shape.y - half), (shape.x + half, shape.y + half)]
    return [(x + side * half, y + side * half) for x, y in shape.points for side in (-1, 1)]
