"""What the pictures of exploitability share: one panel a rung of Curio's ladder."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def draw_level(panel: Any, level: float, name: str, style: str = ":") -> None:
    """A gray line across the panel, with its name at the right end."""
    panel.axhline(level, color="gray", linestyle=style, linewidth=1)
    panel.annotate(name, (0.98, level), xycoords=("axes fraction", "data"), ha="right", va="bottom")


def set_axes(panel: Any, rung: int, unit: str, **scales: str) -> None:
    """What the panel shows, on a logarithmic axis."""
    panel.set(yscale="log", title=f"curio-ladder-{rung}", xlabel=unit, **scales)
    panel.grid(alpha=0.3)


def save(figure: Any, panels: Any, path: Path) -> None:
    """The picture, with one legend."""
    panels[0].set_ylabel("exploitability (exact)")
    panels[0].legend()
    figure.savefig(path, dpi=110)
