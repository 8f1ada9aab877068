"""Pictures for the page: a board without its legend, and the small ones beside it."""

from __future__ import annotations

from pbm_envs.authoring import Scene
from pbm_envs.render import cropped, svg
from pbm_envs.toolbox import Sample


def board_svg(scene: Scene, theme: str) -> str:
    """Return the board with its coordinates; seats, scores and captures stand beside it on the page."""
    return svg(cropped(scene, legend=False), None, theme, transparent=True)


def sample_svg(sample: Sample, theme: str) -> str:
    """Return a small picture."""
    return svg(sample.scene(), None, theme, transparent=True)
